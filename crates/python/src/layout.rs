//! Where the fields of CPython's structures lie.
//!
//! Sources: CPython's headers (github:python/cpython, Include/ and Include/internal/) of the releases named at each table. The
//! tables of 3.9 and 3.11 were made with the headers of Debian's libpython3.9-dev 3.9.2 and libpython3.11-dev 3.11.2; those of
//! 3.8, 3.10 and 3.12 with what bindgen made of the headers of 3.8.0, 3.10.0 and 3.12.0 (github:benfred/py-spy,
//! src/python_bindings). All fields are in front of what depends on how a release was built, and what is found is verified.

/// Where a thread state has its innermost frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Innermost {
    /// A pointer in the thread state.
    Here(u64),
    /// A pointer in what the thread state's `cframe` points to.
    Cframe {
        /// `PyThreadState.cframe`.
        cframe: u64,
        /// `_PyCFrame.current_frame`.
        current: u64,
    },
}

/// How far a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// A number of instructions, each of so many bytes; a C int.
    Index {
        /// `PyFrameObject.f_lasti`.
        offset: u64,
        /// Bytes of one.
        unit: i64,
    },
    /// An address in the code: `prev_instr`, `instr_ptr`.
    Pointer(u64),
}

/// Which frames one C function runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Each is run by a C function of its own.
    Each,
    /// All up to one with a mark (`_PyInterpreterFrame.is_entry`).
    Marked(u64),
    /// All up to one without code that the C function itself has: its `owner` is 3 or more. (FRAME_OWNED_BY_CSTACK in 3.12 and
    /// 3.13, FRAME_OWNED_BY_INTERPRETER and FRAME_OWNED_BY_CSTACK in 3.14: pycore_frame.h, pycore_interpframe_structs.h.)
    Owner(u64),
}

/// The first `owner` that is no frame of Python code.
pub(crate) const OWNED_BY_C: u64 = 3;

/// How lines are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// `co_lnotab` (Objects/lnotab_notes.txt of 3.9).
    Lnotab,
    /// `co_linetable` of PEP 626 (Objects/lnotab_notes.txt of 3.10).
    Ranges,
    /// The location table of PEP 657 (Objects/locations.md of 3.11).
    Locations,
}

/// Where an exception that was handled is, and what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exceptions {
    /// `PyThreadState.exc_info`.
    pub info: u64,
    /// `_PyErr_StackItem.exc_value`.
    pub value: u64,
    /// `_PyErr_StackItem.previous_item`.
    pub previous: u64,
    /// `PyBaseExceptionObject.traceback`.
    pub traceback: u64,
    /// `PyTracebackObject.tb_next`.
    pub next: u64,
    /// `PyTracebackObject.tb_frame`.
    pub frame: u64,
    /// `PyTracebackObject.tb_lasti`.
    pub lasti: u64,
    /// Where a frame object leads to what has the code: itself, or `PyFrameObject.f_frame`.
    pub inner: Option<u64>,
}

/// Of 3.11, 3.13 and 3.14 (cpython/pystate.h, cpython/pyerrors.h, cpython/traceback.h, internal/pycore_frame.h, since 3.14
/// internal/pycore_interpframe_structs.h).
pub(crate) const SINCE_3_11: Exceptions =
    Exceptions { info: 120, value: 0, previous: 8, traceback: 40, next: 16, frame: 24, lasti: 32, inner: Some(24) };

/// Offsets in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Minor version.
    pub minor: u64,
    /// `_PyRuntimeState.interpreters.head`.
    pub interpreters: u64,
    /// `PyInterpreterState.next`.
    pub next_interpreter: u64,
    /// `PyInterpreterState.tstate_head`, `.threads.head`.
    pub threads: u64,
    /// `PyInterpreterState.sysdict`.
    pub sysdict: u64,
    /// `PyThreadState.next`.
    pub next_thread: u64,
    /// `PyThreadState.interp`.
    pub interp: u64,
    /// `PyThreadState.thread_id`: what pthread_self told.
    pub thread_id: u64,
    /// `PyThreadState.native_thread_id`, since 3.11: the kernel's number.
    pub native_thread_id: Option<u64>,
    /// The innermost frame.
    pub innermost: Innermost,
    /// `f_code`, `f_executable`.
    pub frame_code: u64,
    /// `f_back`, `previous`.
    pub frame_previous: u64,
    /// How far it is.
    pub position: Position,
    /// Which frames one C function runs.
    pub entry: Entry,
    /// `PyCodeObject.co_filename`.
    pub filename: u64,
    /// `PyCodeObject.co_qualname`, before 3.11 `co_name`.
    pub name: u64,
    /// `PyCodeObject.co_name`.
    pub short_name: u64,
    /// `PyCodeObject.co_firstlineno`.
    pub first_line: u64,
    /// `co_lnotab`, `co_linetable`.
    pub line_table: u64,
    /// How that is written.
    pub lines: Lines,
    /// `PyCodeObject.co_code_adaptive`; 0 where positions are numbers.
    pub code: u64,
    /// `PyCodeObject.co_tlbc` and `_PyInterpreterFrame.tlbc_index`: of a build without the lock each thread may have code of
    /// its own.
    pub own_code: Option<(u64, u64)>,
    /// `PyObject.ob_type`.
    pub object_type: u64,
    /// `PyTypeObject.tp_name`.
    pub type_name: u64,
    /// `PyTypeObject.tp_flags`.
    pub type_flags: u64,
    /// `PyBytesObject.ob_base.ob_size`.
    pub bytes_size: u64,
    /// `PyBytesObject.ob_sval`.
    pub bytes: u64,
    /// `PyASCIIObject.length`.
    pub text_length: u64,
    /// `PyASCIIObject.state`.
    pub text_state: u64,
    /// The first bit of `state.kind`.
    pub text_kind: u32,
    /// Size of PyASCIIObject: what follows is the text where it is ASCII.
    pub ascii: u64,
    /// Size of PyCompactUnicodeObject: what follows is any other text.
    pub compact: u64,
    /// Exceptions; `None` where that is not known.
    pub exceptions: Option<Exceptions>,
}

/// 3.8 (headers of 3.8.0: cpython/pystate.h, internal/pycore_pystate.h, frameobject.h, code.h, cpython/unicodeobject.h).
const RELEASE_3_8: Layout = Layout {
    minor: 8,
    interpreters: 32,
    next_interpreter: 0,
    threads: 8,
    sysdict: 72,
    next_thread: 8,
    interp: 16,
    thread_id: 176,
    native_thread_id: None,
    innermost: Innermost::Here(24),
    frame_code: 32,
    frame_previous: 24,
    position: Position::Index { offset: 104, unit: 1 },
    entry: Entry::Each,
    filename: 104,
    name: 112,
    short_name: 112,
    first_line: 40,
    line_table: 120,
    lines: Lines::Lnotab,
    code: 0,
    own_code: None,
    object_type: 8,
    type_name: 24,
    type_flags: 168,
    bytes_size: 16,
    bytes: 32,
    text_length: 16,
    text_state: 32,
    text_kind: 2,
    ascii: 48,
    compact: 72,
    exceptions: Some(Exceptions { info: 144, value: 8, previous: 24, traceback: 32, inner: None, ..SINCE_3_11 }),
};

/// 3.9 (internal/pycore_interp.h, cpython/frameobject.h, cpython/code.h of 3.9.2).
const RELEASE_3_9: Layout = Layout { minor: 9, sysdict: 872, ..RELEASE_3_8 };

/// 3.10 (the same of 3.10.0).
const RELEASE_3_10: Layout =
    Layout { minor: 10, position: Position::Index { offset: 96, unit: 2 }, lines: Lines::Ranges, ..RELEASE_3_9 };

/// 3.11 (internal/pycore_frame.h, internal/pycore_runtime.h, cpython/code.h of 3.11.2).
const RELEASE_3_11: Layout = Layout {
    minor: 11,
    interpreters: 40,
    threads: 16,
    sysdict: 904,
    thread_id: 152,
    native_thread_id: Some(160),
    innermost: Innermost::Cframe { cframe: 56, current: 8 },
    frame_code: 32,
    frame_previous: 48,
    position: Position::Pointer(56),
    entry: Entry::Marked(68),
    filename: 112,
    name: 128,
    short_name: 120,
    first_line: 72,
    line_table: 136,
    lines: Lines::Locations,
    code: 184,
    exceptions: Some(SINCE_3_11),
    ..RELEASE_3_10
};

/// 3.12 (the same of 3.12.0).
const RELEASE_3_12: Layout = Layout {
    minor: 12,
    threads: 72,
    sysdict: 352,
    thread_id: 136,
    native_thread_id: Some(144),
    innermost: Innermost::Cframe { cframe: 56, current: 0 },
    frame_code: 0,
    frame_previous: 8,
    entry: Entry::Owner(70),
    first_line: 68,
    code: 192,
    ascii: 40,
    compact: 56,
    exceptions: Some(Exceptions { info: 104, ..SINCE_3_11 }),
    ..RELEASE_3_11
};

impl Layout {
    /// That of a release that does not describe itself.
    pub fn of_release(minor: u64) -> Option<Self> {
        match minor {
            8 => Some(RELEASE_3_8),
            9 => Some(RELEASE_3_9),
            10 => Some(RELEASE_3_10),
            11 => Some(RELEASE_3_11),
            12 => Some(RELEASE_3_12),
            _ => None,
        }
    }

    /// What releases that describe themselves have in common and do not tell; everything else is to be filled in.
    pub fn self_described(minor: u64) -> Self {
        Self { minor, ..RELEASE_3_12 }
    }
}
