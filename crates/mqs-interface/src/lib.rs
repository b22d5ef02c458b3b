//! The C types of the mqs interface, with the names of its header without the prefix: what its callbacks take and give, what
//! a plug-in answers. Debuggers (crate `plugins`) and plug-ins (crate `mqs-library`) share them; plug-ins for handles (MPIDBG)
//! are given the same callbacks.
//!
//! A callback may be missing: whoever fills in a table need not know all of them.
//!
//! The layout is that of the header for hosts with one pointer width (`mqs_taddr_t` is `unsigned long`); tests/abi
//! compares it with the header that Open MPI ships (open-mpi/ompi, ompi/debuggers/msgq_interface.h, the same file
//! in 4.1.4 and 5.0.7).
#![allow(missing_docs)]

pub mod mpidbg;

use std::ffi::{c_char, c_int, c_long, c_ulong, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};

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
    pub malloc: Option<unsafe extern "C" fn(usize) -> *mut c_void>,
    pub free: Option<unsafe extern "C" fn(*mut c_void)>,
    pub dprints: Option<unsafe extern "C" fn(*const c_char)>,
    pub errorstring: Option<unsafe extern "C" fn(c_int) -> *mut c_char>,
    pub put_image_info: Option<unsafe extern "C" fn(*mut Image, *mut c_void)>,
    pub get_image_info: Option<unsafe extern "C" fn(*mut Image) -> *mut c_void>,
    pub put_process_info: Option<unsafe extern "C" fn(*mut Process, *mut c_void)>,
    pub get_process_info: Option<unsafe extern "C" fn(*mut Process) -> *mut c_void>,
    pub put_job_info: Option<unsafe extern "C" fn(*mut Job, *mut c_void)>,
    pub get_job_info: Option<unsafe extern "C" fn(*mut Job) -> *mut c_void>,
}

/// `mqs_job_callbacks` (MPI-2).
#[repr(C)]
pub struct JobCallbacks {
    pub get_process: Option<unsafe extern "C" fn(*mut Job, c_int) -> *mut Process>,
}

/// `mqs_image_callbacks`.
#[repr(C)]
pub struct ImageCallbacks {
    pub get_type_sizes: Option<unsafe extern "C" fn(*mut Process, *mut TypeSizes)>,
    pub find_function: Option<unsafe extern "C" fn(*mut Image, *const c_char, c_int, *mut TAddr) -> c_int>,
    pub find_symbol: Option<unsafe extern "C" fn(*mut Image, *const c_char, *mut TAddr) -> c_int>,
    pub find_type: Option<unsafe extern "C" fn(*mut Image, *const c_char, c_int) -> *mut Type>,
    pub field_offset: Option<unsafe extern "C" fn(*mut Type, *const c_char) -> c_int>,
    pub sizeof_type: Option<unsafe extern "C" fn(*mut Type) -> c_int>,
}

/// `mqs_process_callbacks` with the members that MPI-2 adds at the end.
#[repr(C)]
pub struct ProcessCallbacks {
    pub get_global_rank: Option<unsafe extern "C" fn(*mut Process) -> c_int>,
    pub get_image: Option<unsafe extern "C" fn(*mut Process) -> *mut Image>,
    pub fetch_data: Option<unsafe extern "C" fn(*mut Process, TAddr, c_int, *mut c_void) -> c_int>,
    pub target_to_host: Option<unsafe extern "C" fn(*mut Process, *const c_void, *mut c_void, c_int)>,
    pub get_process_job: Option<unsafe extern "C" fn(*mut Process) -> *mut Job>,
    /// The header gives a job as the argument where it means a process; we take either.
    pub get_process_identity: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
}

/// Value of `MQS_INTERFACE_COMPATIBILITY` without MPI-2 support.
pub const COMPATIBILITY_MPI1: c_int = 2;
/// Value of `MQS_INTERFACE_COMPATIBILITY` with MPI-2 support.
pub const COMPATIBILITY_MPI2: c_int = 3;

/// `mqs_no_information`.
pub const NO_INFORMATION: c_int = 1;
/// `mqs_end_of_list`.
pub const END_OF_LIST: c_int = 2;

/// `mqs_pending_sends`, `mqs_pending_receives`, `mqs_unexpected_messages`.
pub const OP_CLASSES: [c_int; 3] = [0, 1, 2];

/// `mqs_st_pending`, `mqs_st_matched`, `mqs_st_complete`.
pub const STATUSES: [c_int; 3] = [0, 1, 2];

/// Length of a communicator's name and of a line of extra text.
pub const TEXT: usize = 64;
/// Lines of extra text.
pub const EXTRA_LINES: usize = 5;
/// `FILENAME_MAX` of the C library.
pub const FILENAME_MAX: usize = libc::FILENAME_MAX as usize;

/// `mqs_communicator`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Communicator {
    pub unique_id: TAddr,
    pub local_rank: TWord,
    pub size: TWord,
    pub name: [u8; TEXT],
}

/// `mqs_pending_operation`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct PendingOperation {
    pub status: c_int,
    pub desired_local_rank: TWord,
    pub desired_global_rank: TWord,
    pub tag_wild: c_int,
    pub desired_tag: TWord,
    pub desired_length: TWord,
    pub system_buffer: c_int,
    pub buffer: TAddr,
    pub actual_local_rank: TWord,
    pub actual_global_rank: TWord,
    pub actual_tag: TWord,
    pub actual_length: TWord,
    pub extra_text: [[u8; TEXT]; EXTRA_LINES],
}

/// `mqs_process_location` (MPI-2).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct ProcessLocation {
    pub pid: c_long,
    pub image_name: [u8; FILENAME_MAX],
    pub host_name: [u8; TEXT],
}

/// Runs the body of a function that C calls. A panic ends here, and the C caller gets `on_panic`: unwinding through C frames is
/// undefined.
pub fn barrier<T>(on_panic: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(on_panic)
}

/// What the lines of text of our own library are made of (crate `mqs-library`); our own host reads them again.
pub mod words {
    /// Before a request's handle.
    pub const REQUEST: &str = "request ";
    /// Between a number of elements and their datatype.
    pub const OF: &str = " x ";
    /// Behind a number of elements whose datatype is not known.
    pub const ELEMENTS: &str = " elements";
    /// Before a datatype of which it is not known how many elements there are.
    pub const ELEMENTS_OF: &str = "elements of ";
    /// Of a persistent request.
    pub const PERSISTENT: &str = "persistent";
    /// Before what is not known.
    pub const NOT_KNOWN: &str = "not known: ";
    /// Of a message in transit.
    pub const IN_TRANSIT: &str = "in transit: the receiver's library has not taken it out yet";
    /// At the first of a queue's operations, where others may lie on stacks.
    pub const SENDS_ON_STACKS: &str = "blocking sends may be missing: they lie on threads' stacks";
    /// So, among receives.
    pub const RECEIVES_ON_STACKS: &str = "matched receives may be missing: they lie on threads' stacks";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_ends_at_the_barrier() {
        assert_eq!(barrier(-1, || 3), 3);
        assert_eq!(barrier(-1, || std::panic::resume_unwind(Box::new("panic"))), -1);
    }
}
