//! Our C structures against the header that Open MPI ships (package libopenmpi-dev), MPI-2 part off and on.

use std::collections::BTreeMap;
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::process::Command;

use plugins::mqs::abi;

type Facts = BTreeMap<String, i64>;

fn header() -> PathBuf {
    let list = Command::new("dpkg").args(["-L", "libopenmpi-dev"]).output();
    let list = list.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let found = list.lines().map(Path::new).find(|path| path.ends_with("debuggers/msgq_interface.h"));
    found.expect("msgq_interface.h of package libopenmpi-dev").to_owned()
}

/// Compiles tests/abi/mqs_abi.c with the header and runs it.
fn facts(mpi2: bool) -> Facts {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mqs-abi-{mpi2}-{:?}", std::thread::current().id()));
    std::fs::create_dir_all(&dir).expect("a directory");
    let text = std::fs::read_to_string(header()).expect("the header");
    let off = "#define FOR_MPI2 0";
    assert!(text.contains(off), "the header no longer switches its MPI-2 part off");
    let text = text.replace(off, if mpi2 { "#define FOR_MPI2 1" } else { off });
    std::fs::write(dir.join("msgq_interface.h"), text).expect("a copy of the header");
    // All that the header takes from Open MPI's configuration.
    let config = "#define BEGIN_C_DECLS\n#define END_C_DECLS\n#define OMPI_DECLSPEC\n";
    std::fs::write(dir.join("ompi_config.h"), config).expect("a configuration");
    let program = dir.join("abi");
    let source = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).join("tests/abi/mqs_abi.c");
    let status = Command::new("cc").arg("-I").arg(&dir).arg(source).arg("-o").arg(&program).status().expect("cc");
    assert!(status.success());
    let output = Command::new(program).output().expect("the program");
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn ours(mpi2: bool) -> Facts {
    let mut facts = Facts::new();
    let mut put = |name: &str, value: i64| {
        facts.insert(name.to_owned(), value);
    };
    macro_rules! offsets {
        ($c:literal $ours:ident: $($member:literal $field:ident),*) => {
            $(put(concat!($c, ".", $member), offset_of!(abi::$ours, $field) as i64);)*
        };
    }
    macro_rules! size {
        ($c:literal, $ours:ty) => {
            put(concat!("sizeof ", $c), size_of::<$ours>() as i64)
        };
    }
    let compatibility = if mpi2 { abi::COMPATIBILITY_MPI2 } else { abi::COMPATIBILITY_MPI1 };
    for (name, value) in [
        ("MQS_INTERFACE_COMPATIBILITY", compatibility),
        ("MQS_INVALID_PROCESS", abi::INVALID_PROCESS),
        ("mqs_ok", abi::OK),
        ("mqs_no_information", abi::NO_INFORMATION),
        ("mqs_end_of_list", abi::END_OF_LIST),
        ("mqs_first_user_code", abi::FIRST_USER_CODE),
        ("mqs_lang_c", abi::LANG_C),
        ("mqs_pending_sends", abi::OP_CLASSES[0]),
        ("mqs_pending_receives", abi::OP_CLASSES[1]),
        ("mqs_unexpected_messages", abi::OP_CLASSES[2]),
        ("mqs_st_pending", abi::STATUSES[0]),
        ("mqs_st_matched", abi::STATUSES[1]),
        ("mqs_st_complete", abi::STATUSES[2]),
    ] {
        put(name, i64::from(value));
    }
    size!("mqs_taddr_t", abi::TAddr);
    size!("mqs_tword_t", abi::TWord);
    size!("mqs_communicator", abi::Communicator);
    offsets!("mqs_communicator" Communicator:
        "unique_id" unique_id, "local_rank" local_rank, "size" size, "name" name);
    size!("mqs_pending_operation", abi::PendingOperation);
    offsets!("mqs_pending_operation" PendingOperation:
        "status" status, "desired_local_rank" desired_local_rank, "desired_global_rank" desired_global_rank,
        "tag_wild" tag_wild, "desired_tag" desired_tag, "desired_length" desired_length,
        "system_buffer" system_buffer, "buffer" buffer, "actual_local_rank" actual_local_rank,
        "actual_global_rank" actual_global_rank, "actual_tag" actual_tag, "actual_length" actual_length,
        "extra_text" extra_text);
    offsets!("mqs_target_type_sizes" TypeSizes:
        "short_size" short_size, "int_size" int_size, "long_size" long_size, "long_long_size" long_long_size,
        "pointer_size" pointer_size);
    offsets!("mqs_basic_callbacks" BasicCallbacks:
        "mqs_malloc_fp" malloc, "mqs_free_fp" free, "mqs_dprints_fp" dprints, "mqs_errorstring_fp" errorstring,
        "mqs_put_image_info_fp" put_image_info, "mqs_get_image_info_fp" get_image_info,
        "mqs_put_process_info_fp" put_process_info, "mqs_get_process_info_fp" get_process_info);
    offsets!("mqs_image_callbacks" ImageCallbacks:
        "mqs_get_type_sizes_fp" get_type_sizes, "mqs_find_function_fp" find_function,
        "mqs_find_symbol_fp" find_symbol, "mqs_find_type_fp" find_type, "mqs_field_offset_fp" field_offset,
        "mqs_sizeof_fp" sizeof_type);
    size!("mqs_image_callbacks", abi::ImageCallbacks);
    offsets!("mqs_process_callbacks" ProcessCallbacks:
        "mqs_get_global_rank_fp" get_global_rank, "mqs_get_image_fp" get_image, "mqs_fetch_data_fp" fetch_data,
        "mqs_target_to_host_fp" target_to_host);
    if mpi2 {
        offsets!("mqs_basic_callbacks" BasicCallbacks:
            "mqs_put_job_info_fp" put_job_info, "mqs_get_job_info_fp" get_job_info);
        offsets!("mqs_process_callbacks" ProcessCallbacks:
            "mqs_get_process_job_fp" get_process_job, "mqs_get_process_identity_fp" get_process_identity);
        offsets!("mqs_job_callbacks" JobCallbacks: "mqs_get_process_fp" get_process);
        size!("mqs_job_callbacks", abi::JobCallbacks);
        size!("mqs_process_location", abi::ProcessLocation);
        offsets!("mqs_process_location" ProcessLocation:
            "pid" pid, "image_name" image_name, "host_name" host_name);
        size!("mqs_basic_callbacks", abi::BasicCallbacks);
        size!("mqs_process_callbacks", abi::ProcessCallbacks);
    }
    facts
}

/// What must differ: we hand over longer tables, and write fewer sizes.
fn without_sizes_that_differ(mut facts: Facts, mpi2: bool) -> Facts {
    facts.remove("sizeof mqs_target_type_sizes");
    if !mpi2 {
        facts.remove("sizeof mqs_basic_callbacks");
        facts.remove("sizeof mqs_process_callbacks");
    }
    facts
}

#[test]
#[ignore = "needs the headers of Open MPI"]
fn our_structures_are_those_of_the_header() {
    for mpi2 in [false, true] {
        assert_eq!(ours(mpi2), without_sizes_that_differ(facts(mpi2), mpi2), "FOR_MPI2 {mpi2}");
    }
}

#[test]
#[ignore = "needs the headers of Open MPI"]
fn what_we_write_fits_the_shorter_type_sizes() {
    let theirs = facts(false);
    assert_eq!(theirs["sizeof mqs_target_type_sizes"], 7 * 4, "Open MPI's has two more");
    assert_eq!(size_of::<abi::TypeSizes>(), 5 * 4);
    for (mpi1, longer) in [
        (theirs["sizeof mqs_basic_callbacks"], size_of::<abi::BasicCallbacks>()),
        (theirs["sizeof mqs_process_callbacks"], size_of::<abi::ProcessCallbacks>()),
    ] {
        assert!(mpi1 as usize + 2 * size_of::<usize>() == longer);
    }
}
