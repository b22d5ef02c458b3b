//! The plug-in for message queues that `MPI2DD_info` names.

use std::path::Path;

use drafts::mpi2dd::BY_INFO;
use plugins::host::candidate::Search;
use plugins::mqs::discovery::{BY_MPIR, candidates};
use target::TargetAbi;
use target::address::TargetAddr;
use target::mock::MockTarget;

#[test]
fn mpi2dd_info_names_a_plugin_for_each_width_and_mpir_goes_before_it() {
    let mut told = MockTarget::new(TargetAbi::LITTLE_64);
    let mut info = b"MPI2\x7f\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    info.extend([0x2100_u64, 0x2200].iter().flat_map(|address| address.to_le_bytes()));
    info.resize(128, 0);
    told.add_segment(TargetAddr::new(0x2000), info).add_symbol("MPI2DD_info", TargetAddr::new(0x2000), Some(128));
    told.add_segment(TargetAddr::new(0x2100), b"/a/32.so\0".to_vec());
    told.add_segment(TargetAddr::new(0x2200), b"/a/64.so\0".to_vec());
    let ours = if cfg!(target_pointer_width = "64") { "/a/64.so" } else { "/a/32.so" };
    let search = Search { others: Some(&drafts::OTHERS), ..Search::default() };
    let found = candidates(&told, &search);
    assert_eq!((found[0].path.as_path(), found[0].how), (Path::new(ours), BY_INFO));
    assert!(!found[0].usable());
    told.add_segment(TargetAddr::new(0x1000), b"/a/mpir.so\0".to_vec());
    told.add_symbol("MPIR_dll_name", TargetAddr::new(0x1000), Some(11));
    let found = candidates(&told, &search);
    assert_eq!((found[0].path.as_path(), found[0].how), (Path::new("/a/mpir.so"), BY_MPIR));
    assert!(found.iter().all(|one| one.how != BY_INFO));
}
