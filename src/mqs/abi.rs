//! The C types of the mqs interface, with the names of its header without the prefix.
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

/// Value of `MQS_INTERFACE_COMPATIBILITY` without MPI-2 support.
pub const COMPATIBILITY_MPI1: c_int = 2;
/// Value of `MQS_INTERFACE_COMPATIBILITY` with MPI-2 support.
pub const COMPATIBILITY_MPI2: c_int = 3;

/// `mqs_ok`.
pub const OK: c_int = 0;
/// `mqs_no_information`.
pub const NO_INFORMATION: c_int = 1;
/// `mqs_end_of_list`.
pub const END_OF_LIST: c_int = 2;
/// `mqs_first_user_code`: codes of either side start here.
pub const FIRST_USER_CODE: c_int = 100;

/// `mqs_lang_c`.
pub const LANG_C: c_int = b'c' as c_int;

/// `MQS_INVALID_PROCESS`.
pub const INVALID_PROCESS: c_int = -1;

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

/// Whether the host can do without a function of a plug-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Every plug-in must have it.
    Required,
    /// May be missing; then something is not shown.
    Optional,
    /// A plug-in of compatibility 3 must have it.
    Mpi2,
    /// A plug-in of compatibility 3 may have it.
    Mpi2Optional,
}

macro_rules! functions {
    ($($variant:ident $field:ident $name:literal $need:ident fn($($arg:ty),*) $(-> $ret:ty)?;)*) => {
        /// The functions of a plug-in.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u32)]
        pub enum Function { $(#[doc = $name] $variant),* }

        impl Function {
            /// All functions, in the order of the interface.
            pub const ALL: &[Function] = &[$(Function::$variant),*];

            /// The name that a plug-in exports.
            pub const fn name(self) -> &'static str {
                match self { $(Function::$variant => $name),* }
            }

            /// Whether the host can do without it.
            pub const fn need(self) -> Need {
                match self { $(Function::$variant => Need::$need),* }
            }

            /// The function with this number.
            pub fn from_number(number: u32) -> Option<Self> {
                Self::ALL.get(number as usize).copied()
            }
        }

        /// Pointers to the functions of a loaded plug-in.
        #[derive(Clone, Copy)]
        pub struct Functions { $(pub $field: Option<unsafe extern "C" fn($($arg),*) $(-> $ret)?>),* }

        impl Functions {
            /// Looks up all functions; `find` returns the address of a name.
            ///
            /// # Safety
            /// What `find` returns for a name must be the function of that name of the mqs interface.
            #[allow(unsafe_code)]
            pub unsafe fn look_up(mut find: impl FnMut(Function) -> Option<unsafe extern "C" fn()>) -> Self {
                Self { $($field: {
                    let found = find(Function::$variant);
                    // SAFETY: the caller vouches that the address is that of the function of this name, whose
                    // prototype the interface fixes; both are function pointers of the same size.
                    unsafe {
                        std::mem::transmute::<Option<unsafe extern "C" fn()>,
                            Option<unsafe extern "C" fn($($arg),*) $(-> $ret)?>>(found)
                    }
                }),* }
            }
        }
    };
}

functions! {
    SetupBasicCallbacks setup_basic_callbacks "mqs_setup_basic_callbacks" Required fn(*const BasicCallbacks);
    VersionString version_string "mqs_version_string" Required fn() -> *mut c_char;
    VersionCompatibility version_compatibility "mqs_version_compatibility" Required fn() -> c_int;
    DllTaddrWidth dll_taddr_width "mqs_dll_taddr_width" Required fn() -> c_int;
    DllErrorString dll_error_string "mqs_dll_error_string" Required fn(c_int) -> *mut c_char;
    SetupImage setup_image "mqs_setup_image" Required fn(*mut Image, *const ImageCallbacks) -> c_int;
    ImageHasQueues image_has_queues "mqs_image_has_queues" Required fn(*mut Image, *mut *mut c_char) -> c_int;
    DestroyImageInfo destroy_image_info "mqs_destroy_image_info" Required fn(*mut c_void);
    SetupProcess setup_process "mqs_setup_process" Required fn(*mut Process, *const ProcessCallbacks) -> c_int;
    ProcessHasQueues process_has_queues "mqs_process_has_queues" Required fn(*mut Process, *mut *mut c_char) -> c_int;
    DestroyProcessInfo destroy_process_info "mqs_destroy_process_info" Required fn(*mut c_void);
    UpdateCommunicatorList update_communicator_list "mqs_update_communicator_list" Required fn(*mut Process) -> c_int;
    SetupCommunicatorIterator setup_communicator_iterator "mqs_setup_communicator_iterator" Required
        fn(*mut Process) -> c_int;
    GetCommunicator get_communicator "mqs_get_communicator" Required fn(*mut Process, *mut Communicator) -> c_int;
    GetCommGroup get_comm_group "mqs_get_comm_group" Optional fn(*mut Process, *mut c_int) -> c_int;
    NextCommunicator next_communicator "mqs_next_communicator" Required fn(*mut Process) -> c_int;
    SetupOperationIterator setup_operation_iterator "mqs_setup_operation_iterator" Required
        fn(*mut Process, c_int) -> c_int;
    NextOperation next_operation "mqs_next_operation" Required fn(*mut Process, *mut PendingOperation) -> c_int;
    SetupJob setup_job "mqs_setup_job" Mpi2 fn(*mut Job, *const JobCallbacks) -> c_int;
    DestroyJobInfo destroy_job_info "mqs_destroy_job_info" Mpi2 fn(*mut c_void) -> c_int;
    SetProcessIdentity set_process_identity "mqs_set_process_identity" Mpi2 fn(*mut Process, c_int) -> c_int;
    SetupNewProcessIterator setup_new_process_iterator "mqs_setup_new_process_iterator" Mpi2
        fn(*mut Process) -> c_int;
    NextNewProcess next_new_process "mqs_next_new_process" Mpi2 fn(*mut Process, *mut ProcessLocation) -> c_int;
    SpawnBreakpointName spawn_breakpoint_name "mqs_spawn_breakpoint_name" Mpi2Optional
        fn(*mut Process, *mut c_char, c_int) -> c_int;
}

/// The name that the document (not the header) gives to [`Function::NextNewProcess`].
pub const NEXT_NEW_PROCESS_ALIAS: &str = "next_new_process";
