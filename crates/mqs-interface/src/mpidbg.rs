//! The C types of the MPIDBG interface (draft, version 1), with the names of its header without the prefix.
//!
//! The layout is that of open-mpi/ompi, ompi/debuggers/mpihandles_interface.h, main; no release has the header. Its
//! `MPIDBG_MAX_OBJECT_NAME` is the MPI's own `MPI_MAX_OBJECT_NAME`, 64 in Open MPI. Members that point to something are
//! numbers here. tests/abi compares all this with the header of our test plug-ins.
#![allow(unsafe_code)]

use std::ffi::c_int;

use crate::TAddr;

/// `MPIDBG_INTERFACE_VERSION`.
pub const INTERFACE_VERSION: c_int = 1;
/// `MPIDBG_MAX_OBJECT_NAME`, as Open MPI has it.
pub const MAX_OBJECT_NAME: usize = 64;

/// `MPIDBG_SUCCESS`.
pub const SUCCESS: c_int = 0;
/// `MPIDBG_ERR_NOT_FOUND`.
pub const NOT_FOUND: c_int = 1;
/// `MPIDBG_ERR_NOT_SUPPORTED`. It also stands in place of a number of entries, and of a Fortran integer.
pub const NOT_SUPPORTED: c_int = 2;
/// `MPIDBG_ERR_UNAVAILABLE`. It also stands in place of a Fortran integer.
pub const UNAVAILABLE: c_int = 4;

/// `MPIDBG_ERR_NO_MEM`.
pub const NO_MEMORY: c_int = 5;

/// What the interface's return codes mean, by their number.
pub const CODES: [&str; 6] = ["success", "not found", "not supported", "out of range", "not available", "no memory"];

/// The handle types of `mpidbg_handle_info_t`, in the order of its members.
pub const HANDLE_TYPES: [&str; 30] = [
    "MPI_Aint",
    "MPI_Comm",
    "MPI_Datatype",
    "MPI_Errhandler",
    "MPI_File",
    "MPI_Group",
    "MPI_Info",
    "MPI_Offset",
    "MPI_Op",
    "MPI_Request",
    "MPI_Status",
    "MPI_Win",
    "MPI::Aint",
    "MPI::Comm",
    "MPI::Intracomm",
    "MPI::Intercomm",
    "MPI::Graphcomm",
    "MPI::Cartcomm",
    "MPI::Datatype",
    "MPI::Errhandler",
    "MPI::File",
    "MPI::Group",
    "MPI::Info",
    "MPI::Offset",
    "MPI::Op",
    "MPI::Request",
    "MPI::Prequest",
    "MPI::Grequest",
    "MPI::Status",
    "MPI::Win",
];

/// `mpidbg_handle_info_t`: a type for each of [`HANDLE_TYPES`].
pub type HandleTypes = [usize; HANDLE_TYPES.len()];

/// `MPIDBG_COMM_CAP_*`; `BASIC`, `STRING_NAMES` and the two of freeing are those of error handlers, too.
pub mod capability {
    pub const BASIC: u32 = 0x01;
    pub const STRING_NAMES: u32 = 0x02;
    pub const FREED_HANDLE: u32 = 0x04;
    pub const FREED_OBJECT: u32 = 0x08;
    pub const REQUEST_LIST: u32 = 0x10;
    pub const WINDOW_LIST: u32 = 0x20;
    pub const FILE_LIST: u32 = 0x40;
    /// `MPIDBG_ERRH_CAP_HANDLE_LIST`.
    pub const HANDLE_LIST: u32 = 0x10;
}

/// `MPIDBG_COMM_INFO_*`.
pub mod comm {
    pub const PREDEFINED: u32 = 0x01;
    pub const CARTESIAN: u32 = 0x02;
    pub const GRAPH: u32 = 0x04;
    pub const TOPO_REORDERED: u32 = 0x08;
    pub const INTERCOMM: u32 = 0x10;
    pub const FREED_HANDLE: u32 = 0x20;
    pub const FREED_OBJECT: u32 = 0x40;
    pub const COMM_NULL: u32 = 0x80;
    pub const DIST_GRAPH: u32 = 0x400;
}

/// `MPIDBG_ERRH_INFO_*`.
pub mod errhandler {
    pub const PREDEFINED: u32 = 0x01;
    pub const COMMUNICATOR: u32 = 0x02;
    pub const FILE: u32 = 0x04;
    pub const WINDOW: u32 = 0x08;
    pub const C_CALLBACK: u32 = 0x10;
    pub const FREED_HANDLE: u32 = 0x20;
    pub const FREED_OBJECT: u32 = 0x40;
}

/// `MPIDBG_REQUEST_INFO_PREDEFINED` and `MPIDBG_STATUS_INFO_PREDEFINED`.
pub const PREDEFINED: u32 = 0x01;

/// `mpidbg_name_map_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct NameMap {
    pub name: usize,
    pub handle: TAddr,
}

/// `mpidbg_attribute_pair_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct AttributePair {
    pub keyval: c_int,
    pub keyval_name: usize,
    pub value: usize,
}

/// `mpidbg_comm_info_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct CommInfo {
    pub name: [u8; MAX_OBJECT_NAME],
    pub bitflags: u32,
    pub rank: c_int,
    pub size: c_int,
    pub num_local_procs: c_int,
    pub local_procs: usize,
    pub num_remote_procs: c_int,
    pub remote_procs: usize,
    pub cart_num_dims: c_int,
    pub cart_dims: usize,
    pub cart_periods: usize,
    pub graph_num_nodes: c_int,
    pub graph_index: usize,
    pub graph_edges: usize,
    pub c_handle: TAddr,
    pub fortran_handle: c_int,
    pub num_attrs: c_int,
    pub attrs: usize,
    pub num_pending_requests: c_int,
    pub pending_requests: usize,
    pub num_derived_windows: c_int,
    pub derived_windows: usize,
    pub num_derived_files: c_int,
    pub derived_files: usize,
}

/// `mpidbg_request_info_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct RequestInfo {
    pub bitflags: u32,
    pub c_handle: TAddr,
    pub fortran_handle: c_int,
}

/// `mpidbg_status_info_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct StatusInfo {
    pub bitflags: u32,
}

/// `mpidbg_errhandler_info_t`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ErrhandlerInfo {
    pub name: [u8; MAX_OBJECT_NAME],
    pub bitflags: u32,
    pub c_handle: TAddr,
    pub fortran_handle: c_int,
    pub refcount: i16,
    pub handles: usize,
    pub callback_func: TAddr,
}

/// Structures that are numbers only, so that any bytes are a valid one.
///
/// # Safety
/// The type must be `repr(C)` and all its members integers or arrays of them.
pub unsafe trait Plain: Copy {
    /// The structure with these bytes; `None` where they are too few.
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        // SAFETY: as many bytes as the type has are there, and any bytes are valid.
        (bytes.len() >= size_of::<Self>()).then(|| unsafe { bytes.as_ptr().cast::<Self>().read_unaligned() })
    }
}

// SAFETY: `repr(C)`, integers and arrays of bytes only.
unsafe impl Plain for NameMap {}
// SAFETY: as above.
unsafe impl Plain for AttributePair {}
// SAFETY: as above.
unsafe impl Plain for CommInfo {}
// SAFETY: as above.
unsafe impl Plain for RequestInfo {}
// SAFETY: as above.
unsafe impl Plain for StatusInfo {}
// SAFETY: as above.
unsafe impl Plain for ErrhandlerInfo {}
// SAFETY: a number.
unsafe impl Plain for c_int {}
// SAFETY: a number.
unsafe impl Plain for i8 {}
// SAFETY: a number.
unsafe impl Plain for TAddr {}
