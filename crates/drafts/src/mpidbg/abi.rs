//! The functions of a plug-in for handles, and the C types of the MPIDBG interface, which our own library shares.

use std::ffi::{c_char, c_int, c_void};

pub use mqs_interface::mpidbg::*;
use plugins::functions;
pub use plugins::host::abi::{BasicCallbacks, Image, ImageCallbacks, Process, ProcessCallbacks, TADDR_WIDTH, TAddr};
pub use plugins::host::functions::Need;

functions! {
    InitOnce init_once "mpidbg_init_once" Required fn(*const BasicCallbacks) -> c_int;
    InterfaceVersion interface_version "mpidbg_interface_version_compatibility" Required fn() -> c_int;
    VersionString version_string "mpidbg_version_string" Required fn() -> *mut c_char;
    DllTaddrWidth dll_taddr_width "mpidbg_dll_taddr_width" Required fn() -> c_int;
    InitPerImage init_per_image "mpidbg_init_per_image" Required
        fn(*mut Image, *const ImageCallbacks, *mut HandleTypes) -> c_int;
    FinalizePerImage finalize_per_image "mpidbg_finalize_per_image" Required fn(*mut Image, *mut c_void);
    InitPerProcess init_per_process "mpidbg_init_per_process" Required
        fn(*mut Process, *const ProcessCallbacks, *mut HandleTypes) -> c_int;
    FinalizePerProcess finalize_per_process "mpidbg_finalize_per_process" Required fn(*mut Process, *mut c_void);
    CommQuery comm_query "mpidbg_comm_query" Optional
        fn(*mut Image, *mut c_void, *mut Process, *mut c_void, TAddr, *mut usize) -> c_int;
    CommF2c comm_f2c "mpidbg_comm_f2c" Optional
        fn(*mut Image, *mut c_void, *mut Process, *mut c_void, TAddr, *mut TAddr) -> c_int;
    CommCxx2c comm_cxx2c "mpidbg_comm_cxx2c" Optional
        fn(*mut Image, *mut c_void, *mut Process, *mut c_void, TAddr, u32, *mut TAddr) -> c_int;
    ErrhandlerQuery errhandler_query "mpidbg_errhandler_query" Optional
        fn(*mut Image, *mut c_void, *mut Process, *mut c_void, TAddr, *mut usize) -> c_int;
    ErrhandlerF2c errhandler_f2c "mpidbg_errhandler_f2c" Optional
        fn(*mut Image, *mut c_void, *mut Process, *mut c_void, TAddr, *mut TAddr) -> c_int;
    ErrhandlerCxx2c errhandler_cxx2c "mpidbg_errhandler_cxx2c" Optional
        fn(*mut Image, *mut c_void, *mut Process, *mut c_void, TAddr, *mut TAddr) -> c_int;
    RequestQuery request_query "mpidbg_request_query" Optional
        fn(*mut Image, *mut c_void, *mut Process, *mut c_void, TAddr, *mut usize) -> c_int;
    RequestF2c request_f2c "mpidbg_request_f2c" Optional
        fn(*mut Image, *mut c_void, *mut Process, *mut c_void, TAddr, *mut TAddr) -> c_int;
    RequestCxx2c request_cxx2c "mpidbg_request_cxx2c" Optional
        fn(*mut Image, *mut c_void, *mut Process, *mut c_void, TAddr, u32, *mut TAddr) -> c_int;
    StatusQuery status_query "mpidbg_status_query" Optional
        fn(*mut Image, *mut c_void, *mut Process, *mut c_void, TAddr, *mut usize) -> c_int;
    StatusF2c status_f2c "mpidbg_status_f2c" Optional
        fn(*mut Image, *mut c_void, *mut Process, *mut c_void, TAddr, *mut TAddr) -> c_int;
    StatusCxx2c status_cxx2c "mpidbg_status_cxx2c" Optional
        fn(*mut Image, *mut c_void, *mut Process, *mut c_void, TAddr, *mut TAddr) -> c_int;
}

/// The kinds of handles that the interface has, with the names of what a plug-in says of each in variables of its own.
/// Those of requests and statuses are not in the header; Open MPI's own draft of a plug-in has them (open-mpi/ompi,
/// ompi/debuggers/ompi_mpihandles_dll.c, main).
pub const VARIABLES: [(model::HandleKind, &str, &str); 4] = {
    use model::HandleKind;
    [
        (HandleKind::Comm, "mpidbg_comm_capabilities", "mpidbg_comm_name_map"),
        (HandleKind::Errhandler, "mpidbg_errhandler_capabilities", "mpidbg_errhandler_name_map"),
        (HandleKind::Request, "mpidbg_request_capabilities", "mpidbg_request_name_map"),
        (HandleKind::Status, "mpidbg_status_capabilities", "mpidbg_status_name_map"),
    ]
};
