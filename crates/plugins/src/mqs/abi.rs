//! The functions of a message-queue plug-in.

use std::ffi::{c_char, c_int, c_void};

use crate::functions;
pub use crate::host::functions::Need;
pub use mqs_interface::*;

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
