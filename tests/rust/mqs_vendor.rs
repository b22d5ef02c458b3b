//! Debian's real plug-in of Open MPI.

use std::path::{Path, PathBuf};

use mpi_queues::address::TargetAddr;
use mpi_queues::layouts::Layouts;
use mpi_queues::mqs::discovery::{How, Search, candidates};
use mpi_queues::mqs::{PluginError, inspect_plugin, read_with_plugin, trust};
use mpi_queues::target::mock::MockTarget;
use mpi_queues::target::{Image, TargetAbi};

use crate::mqs_toy::request;

/// The plug-in of the installed Open MPI: `MPIR_dll_name` names this place.
fn plugin() -> PathBuf {
    let lib = Path::new("/usr/lib/x86_64-linux-gnu/openmpi/lib");
    let directories = lib.read_dir().expect("Open MPI (package openmpi-bin) is installed").flatten();
    let found = directories.map(|entry| entry.path().join("libompi_dbg_msgq.so")).find(|path| path.is_file());
    found.expect("libompi_dbg_msgq.so of package libopenmpi3 or later")
}

fn image() -> Image {
    Image {
        path: "/usr/lib/x86_64-linux-gnu/openmpi/lib/libmpi.so.40".to_owned(),
        bias: TargetAddr::NULL,
        build_id: None,
        is_executable: false,
    }
}

#[test]
fn it_loads_and_tells_its_version() {
    let info = inspect_plugin(&plugin()).expect("Debian's plug-in");
    assert!(info.version.as_deref().is_some_and(|version| version.contains("Open MPI")), "{info:?}");
    assert_eq!((info.compatibility, info.width, info.has_mpi2), (Some(2), Some(8), false));
    // 18 functions; the nineteenth mqs_ symbol is a variable.
    assert_eq!(info.functions.len(), 18, "{:?}", info.functions);
    assert!(info.missing.iter().all(|name| inspect_is_mpi2(name)), "{:?}", info.missing);
}

fn inspect_is_mpi2(name: &str) -> bool {
    name.contains("job") || name.contains("new_process") || name.contains("identity") || name.contains("spawn")
}

#[test]
fn a_target_without_its_types_is_refused_by_name() {
    let mut target = MockTarget::new(TargetAbi::LITTLE_64);
    target.add_image(image());
    let outcome = read_with_plugin(&target, &Layouts::new(Vec::new()), &image(), &request(&plugin(), 20.0));
    let Some(PluginError::MissingLayouts { missing, .. }) = &outcome.failure else { panic!("{outcome:?}") };
    assert_eq!(missing, &["the type opal_list_item_t"]);
    assert!(outcome.messages.iter().any(|line| line.contains("WARNING") && line.contains("opal_list_item_t")));
    assert_eq!(outcome.report.communicators.len(), 0);
}

#[test]
fn it_is_trusted_and_found_beside_the_library() {
    let mut target = MockTarget::new(TargetAbi::LITTLE_64);
    target.add_image(image());
    let found = candidates(&target, &Search::default());
    let one = found.iter().find(|candidate| candidate.path.ends_with("libompi_dbg_msgq.so")).expect("a candidate");
    assert!(one.usable() && one.how == How::DefaultName, "{one:?}");
    assert!(trust::check(&plugin(), &[]).is_ok());
}
