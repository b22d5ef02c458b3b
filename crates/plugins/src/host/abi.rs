//! The C types that every plug-in shares: what the callbacks of the mqs interface take and give, with the names of its
//! header without the prefix. Plug-ins for handles (MPIDBG) are given the same callbacks.
//!
//! The layout is that of the header for hosts with one pointer width (`mqs_taddr_t` is `unsigned long`); tests/abi
//! compares it with the header that Open MPI ships (open-mpi/ompi, ompi/debuggers/msgq_interface.h, the same file
//! in 4.1.4 and 5.0.7).

use std::ffi::{c_char, c_int, c_long, c_ulong, c_void};

/// `mqs_taddr_t`: long enough for a target address.
pub type TAddr = c_ulong;
/// `mqs_tword_t`: long enough for a target word.
pub type TWord = c_long;

/// `mqs_dll_taddr_width` must say this.
pub const TADDR_WIDTH: usize = size_of::<TAddr>();

/// `mqs_ok`.
pub const OK: c_int = 0;
/// `mqs_first_user_code`: codes of either side start here.
pub const FIRST_USER_CODE: c_int = 100;

/// `mqs_lang_c`.
pub const LANG_C: c_int = b'c' as c_int;

/// `MQS_INVALID_PROCESS`.
pub const INVALID_PROCESS: c_int = -1;

macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident)*) => { $(
        $(#[$doc])*
        #[repr(C)]
        pub struct $name {
            _private: [u8; 0],
        }
    )* };
}

opaque! {
    /// `mqs_image`: ours, the plug-in only passes pointers.
    Image
    /// `mqs_process`: ours.
    Process
    /// `mqs_job`: ours.
    Job
    /// `mqs_type`: ours.
    Type
}

/// The part of `mqs_target_type_sizes` that every header has.
///
/// Open MPI's header has seven ints, MPICH's five; writing seven would overflow MPICH's, and Open MPI's plug-in
/// fetches the last two from the target itself.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct TypeSizes {
    pub short_size: c_int,
    pub int_size: c_int,
    pub long_size: c_int,
    pub long_long_size: c_int,
    pub pointer_size: c_int,
}

/// `mqs_basic_callbacks` with the members that MPI-2 adds at the end: an MPI-1 plug-in never looks at them.
#[repr(C)]
pub struct BasicCallbacks {
    pub malloc: extern "C" fn(usize) -> *mut c_void,
    pub free: extern "C" fn(*mut c_void),
    pub dprints: extern "C" fn(*const c_char),
    pub errorstring: extern "C" fn(c_int) -> *mut c_char,
    pub put_image_info: extern "C" fn(*mut Image, *mut c_void),
    pub get_image_info: extern "C" fn(*mut Image) -> *mut c_void,
    pub put_process_info: extern "C" fn(*mut Process, *mut c_void),
    pub get_process_info: extern "C" fn(*mut Process) -> *mut c_void,
    pub put_job_info: extern "C" fn(*mut Job, *mut c_void),
    pub get_job_info: extern "C" fn(*mut Job) -> *mut c_void,
}

/// `mqs_job_callbacks` (MPI-2).
#[repr(C)]
pub struct JobCallbacks {
    pub get_process: extern "C" fn(*mut Job, c_int) -> *mut Process,
}

/// `mqs_image_callbacks`.
#[repr(C)]
pub struct ImageCallbacks {
    pub get_type_sizes: extern "C" fn(*mut Process, *mut TypeSizes),
    pub find_function: extern "C" fn(*mut Image, *const c_char, c_int, *mut TAddr) -> c_int,
    pub find_symbol: extern "C" fn(*mut Image, *const c_char, *mut TAddr) -> c_int,
    pub find_type: extern "C" fn(*mut Image, *const c_char, c_int) -> *mut Type,
    pub field_offset: extern "C" fn(*mut Type, *const c_char) -> c_int,
    pub sizeof_type: extern "C" fn(*mut Type) -> c_int,
}

/// `mqs_process_callbacks` with the members that MPI-2 adds at the end.
#[repr(C)]
pub struct ProcessCallbacks {
    pub get_global_rank: extern "C" fn(*mut Process) -> c_int,
    pub get_image: extern "C" fn(*mut Process) -> *mut Image,
    pub fetch_data: extern "C" fn(*mut Process, TAddr, c_int, *mut c_void) -> c_int,
    pub target_to_host: extern "C" fn(*mut Process, *const c_void, *mut c_void, c_int),
    pub get_process_job: extern "C" fn(*mut Process) -> *mut Job,
    /// The header gives a job as the argument where it means a process; we take either.
    pub get_process_identity: extern "C" fn(*mut c_void) -> c_int,
}
