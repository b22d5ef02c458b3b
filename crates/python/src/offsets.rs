//! What an interpreter since 3.13 says of its own structures: `_Py_DebugOffsets`, with which `_PyRuntime` begins.
//!
//! Sources: internal/pycore_runtime.h of CPython 3.13.5, internal/pycore_debug_offsets.h of 3.14.0 (Debian's libpython3.13-dev,
//! libpython3.14-dev). Every number is bounded by the size that the interpreter says the structure has.

use target::Target;
use target::address::TargetAddr;

use crate::error::{PythonError, unlike};
use crate::layout::{Entry, Innermost, Layout, Position, SINCE_3_11};

/// How `_PyRuntime` begins.
pub(crate) const COOKIE: &[u8; 8] = b"xdebugpy";

/// Places of numbers in `_Py_DebugOffsets`, each of 8 bytes.
struct Places {
    interpreters: u64,
    interpreter_size: u64,
    next_interpreter: u64,
    threads: u64,
    sysdict: u64,
    thread_size: u64,
    next_thread: u64,
    interp: u64,
    current_frame: u64,
    thread_id: u64,
    native_thread_id: u64,
    frame_size: u64,
    previous: u64,
    executable: u64,
    instr_ptr: u64,
    owner: u64,
    tlbc_index: Option<u64>,
    code_size: u64,
    filename: u64,
    name: u64,
    qualname: u64,
    linetable: u64,
    firstlineno: u64,
    code: u64,
    tlbc: Option<u64>,
    object_type: u64,
    type_size: u64,
    type_name: u64,
    type_flags: u64,
    bytes_size: u64,
    ob_size: u64,
    ob_sval: u64,
    text_size: u64,
    state: u64,
    length: u64,
    ascii: u64,
}

const IN_3_13: Places = Places {
    interpreters: 40,
    interpreter_size: 48,
    next_interpreter: 64,
    threads: 72,
    sysdict: 96,
    thread_size: 152,
    next_thread: 168,
    interp: 176,
    current_frame: 184,
    thread_id: 192,
    native_thread_id: 200,
    frame_size: 224,
    previous: 232,
    executable: 240,
    instr_ptr: 248,
    owner: 264,
    tlbc_index: None,
    code_size: 272,
    filename: 280,
    name: 288,
    qualname: 296,
    linetable: 304,
    firstlineno: 312,
    code: 344,
    tlbc: None,
    object_type: 360,
    type_size: 368,
    type_name: 376,
    type_flags: 392,
    bytes_size: 512,
    ob_size: 520,
    ob_sval: 528,
    text_size: 536,
    state: 544,
    length: 552,
    ascii: 560,
};

const IN_3_14: Places = Places {
    interpreters: 40,
    interpreter_size: 48,
    next_interpreter: 64,
    threads: 72,
    sysdict: 104,
    thread_size: 176,
    next_thread: 192,
    interp: 200,
    current_frame: 208,
    thread_id: 216,
    native_thread_id: 224,
    frame_size: 248,
    previous: 256,
    executable: 264,
    instr_ptr: 272,
    owner: 288,
    tlbc_index: Some(304),
    code_size: 312,
    filename: 320,
    name: 328,
    qualname: 336,
    linetable: 344,
    firstlineno: 352,
    code: 384,
    tlbc: Some(392),
    object_type: 408,
    type_size: 416,
    type_name: 424,
    type_flags: 440,
    bytes_size: 592,
    ob_size: 600,
    ob_sval: 608,
    text_size: 616,
    state: 624,
    length: 632,
    ascii: 640,
};

/// The largest structure is that of an interpreter, with some 380 KB in 3.12.
const MOST: u64 = 16 << 20;

/// The layout that the interpreter at `runtime` says it has, of the release 3.`minor`.
pub(crate) fn described(target: &dyn Target, runtime: TargetAddr, minor: u64) -> Result<Layout, PythonError> {
    let places = match minor {
        13 => IN_3_13,
        14 => IN_3_14,
        _ => return Err(PythonError::Release { major: 3, minor }),
    };
    let number = |place: u64| target.read_uint(runtime.wrapping_add(place), 8);
    let size = |place: u64| -> Result<u64, PythonError> {
        let size = number(place)?;
        if (8..=MOST).contains(&size) { Ok(size) } else { Err(unlike("its description of itself makes no sense")) }
    };
    // A field of `width` bytes inside of a structure.
    let field = |place: u64, within: u64, width: u64| -> Result<u64, PythonError> {
        let offset = number(place)?;
        let fits = offset.is_multiple_of(width) && offset.checked_add(width).is_some_and(|end| end <= within);
        if fits { Ok(offset) } else { Err(unlike("its description of itself makes no sense")) }
    };
    let (interpreter, thread) = (size(places.interpreter_size)?, size(places.thread_size)?);
    let (frame, code) = (size(places.frame_size)?, size(places.code_size)?);
    let (kind, bytes, text) = (size(places.type_size)?, size(places.bytes_size)?, size(places.text_size)?);
    let free_threaded = number(16)? != 0;
    let ascii = field(places.ascii, text, 8)?;
    let mut layout = Layout::self_described(minor);
    layout.interpreters = field(places.interpreters, MOST, 8)?;
    layout.next_interpreter = field(places.next_interpreter, interpreter, 8)?;
    layout.threads = field(places.threads, interpreter, 8)?;
    layout.sysdict = field(places.sysdict, interpreter, 8)?;
    layout.next_thread = field(places.next_thread, thread, 8)?;
    layout.interp = field(places.interp, thread, 8)?;
    layout.thread_id = field(places.thread_id, thread, 8)?;
    layout.native_thread_id = Some(field(places.native_thread_id, thread, 8)?);
    let current = field(places.current_frame, thread, 8)?;
    layout.innermost = Innermost::Here(current);
    layout.frame_code = field(places.executable, frame, 8)?;
    layout.frame_previous = field(places.previous, frame, 8)?;
    layout.position = Position::Pointer(field(places.instr_ptr, frame, 8)?);
    layout.entry = Entry::Owner(field(places.owner, frame, 1)?);
    layout.filename = field(places.filename, code, 8)?;
    layout.name = field(places.qualname, code, 8)?;
    layout.short_name = field(places.name, code, 8)?;
    layout.first_line = field(places.firstlineno, code, 4)?;
    layout.line_table = field(places.linetable, code, 8)?;
    layout.code = field(places.code, code, 1)?;
    layout.own_code = match (places.tlbc, places.tlbc_index) {
        (Some(tlbc), Some(index)) if free_threaded => Some((field(tlbc, code, 8)?, field(index, frame, 4)?)),
        _ => None,
    };
    layout.object_type = field(places.object_type, bytes, 8)?;
    layout.type_name = field(places.type_name, kind, 8)?;
    layout.type_flags = field(places.type_flags, kind, 8)?;
    layout.bytes_size = field(places.ob_size, bytes, 8)?;
    layout.bytes = field(places.ob_sval, bytes, 1)?;
    layout.text_state = field(places.state, text, 4)?;
    layout.text_length = field(places.length, text, 8)?;
    layout.ascii = ascii;
    // PyUnicodeObject adds a pointer to PyCompactUnicodeObject, and that two words to PyASCIIObject.
    layout.compact = ascii + 16;
    // Without the lock `interned` has a byte of its own since 3.14.
    layout.text_kind = if free_threaded && minor >= 14 { 8 } else { 2 };
    // What is not described: only where the thread state is as that of the headers.
    let usual = current == 72 && layout.thread_id == 152 && !free_threaded;
    layout.exceptions = usual.then_some(SINCE_3_11);
    Ok(layout)
}
