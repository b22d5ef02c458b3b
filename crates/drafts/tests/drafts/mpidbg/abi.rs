//! Our C structures of the MPIDBG interface against a header that a C compiler lays out.

use std::collections::BTreeMap;
use std::mem::offset_of;
use std::path::Path;
use std::process::Command;

use drafts::mpidbg::abi;

type Facts = BTreeMap<String, i64>;

fn facts() -> Facts {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mpidbg_abi");
    let status = Command::new("cc")
        .arg("-I")
        .arg(root.join("tests/programs/plugins"))
        .arg(root.join("tests/abi/mpidbg_abi.c"))
        .arg("-o")
        .arg(&program)
        .status()
        .expect("cc");
    assert!(status.success());
    let output = Command::new(program).output().expect("the program");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn slot(name: &str) -> i64 {
    let number = abi::HANDLE_TYPES.iter().position(|found| *found == name).expect("a type");
    (number * size_of::<usize>()) as i64
}

#[test]
fn our_structures_are_those_of_the_header() {
    let mut ours = Facts::new();
    let mut put = |name: &str, value: i64| {
        ours.insert(name.to_owned(), value);
    };
    for (name, value) in [
        ("MPIDBG_INTERFACE_VERSION", i64::from(abi::INTERFACE_VERSION)),
        ("MPIDBG_MAX_OBJECT_NAME", abi::MAX_OBJECT_NAME as i64),
        ("MPIDBG_SUCCESS", i64::from(abi::SUCCESS)),
        ("MPIDBG_ERR_NOT_FOUND", i64::from(abi::NOT_FOUND)),
        ("MPIDBG_ERR_NOT_SUPPORTED", i64::from(abi::NOT_SUPPORTED)),
        ("MPIDBG_ERR_UNAVAILABLE", i64::from(abi::UNAVAILABLE)),
        ("MPIDBG_COMM_CAP_FILE_LIST", i64::from(abi::capability::FILE_LIST)),
        ("MPIDBG_ERRH_CAP_HANDLE_LIST", i64::from(abi::capability::HANDLE_LIST)),
        ("MPIDBG_COMM_INFO_DIST_GRAPH", i64::from(abi::comm::DIST_GRAPH)),
        ("MPIDBG_COMM_INFO_COMM_NULL", i64::from(abi::comm::COMM_NULL)),
        ("MPIDBG_ERRH_INFO_FREED_OBJECT", i64::from(abi::errhandler::FREED_OBJECT)),
        ("mpidbg_handle_info_t.hi_c_comm", slot("MPI_Comm")),
        ("mpidbg_handle_info_t.hi_c_request", slot("MPI_Request")),
        ("mpidbg_handle_info_t.hi_c_win", slot("MPI_Win")),
        ("mpidbg_handle_info_t.hi_cxx_comm", slot("MPI::Comm")),
        ("mpidbg_handle_info_t.hi_cxx_cartcomm", slot("MPI::Cartcomm")),
        ("mpidbg_handle_info_t.hi_cxx_grequest", slot("MPI::Grequest")),
        ("mpidbg_handle_info_t.hi_cxx_win", slot("MPI::Win")),
        ("sizeof mpidbg_handle_info_t", size_of::<abi::HandleTypes>() as i64),
        ("sizeof mpidbg_process_t", size_of::<i32>() as i64),
    ] {
        put(name, value);
    }
    macro_rules! structure {
        ($c:literal $ours:ident $prefix:literal: $($member:literal $field:ident),*) => {
            put(concat!("sizeof ", $c), size_of::<abi::$ours>() as i64);
            $(put(concat!($c, ".", $prefix, $member), offset_of!(abi::$ours, $field) as i64);)*
        };
    }
    structure!("mpidbg_name_map_t" NameMap "map_": "name" name, "handle" handle);
    structure!("mpidbg_attribute_pair_t" AttributePair "":
        "keyval" keyval, "keyval_name" keyval_name, "value" value);
    structure!("mpidbg_comm_info_t" CommInfo "comm_":
        "name" name, "bitflags" bitflags, "rank" rank, "size" size, "num_local_procs" num_local_procs,
        "local_procs" local_procs, "num_remote_procs" num_remote_procs, "remote_procs" remote_procs,
        "cart_num_dims" cart_num_dims, "cart_dims" cart_dims, "cart_periods" cart_periods,
        "graph_num_nodes" graph_num_nodes, "graph_index" graph_index, "graph_edges" graph_edges, "c_handle" c_handle,
        "fortran_handle" fortran_handle, "num_attrs" num_attrs, "attrs" attrs,
        "num_pending_requests" num_pending_requests, "pending_requests" pending_requests,
        "num_derived_windows" num_derived_windows, "derived_windows" derived_windows,
        "num_derived_files" num_derived_files, "derived_files" derived_files);
    structure!("mpidbg_request_info_t" RequestInfo "req_":
        "bitflags" bitflags, "c_handle" c_handle, "fortran_handle" fortran_handle);
    structure!("mpidbg_status_info_t" StatusInfo "status_": "bitflags" bitflags);
    structure!("mpidbg_errhandler_info_t" ErrhandlerInfo "eh_":
        "name" name, "bitflags" bitflags, "c_handle" c_handle, "fortran_handle" fortran_handle, "refcount" refcount,
        "handles" handles, "callback_func" callback_func);
    assert_eq!(ours, facts());
}
