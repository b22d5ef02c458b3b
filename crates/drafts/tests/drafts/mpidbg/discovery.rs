//! Where a plug-in for handles is looked for.

use std::path::{Path, PathBuf};

use drafts::mpidbg::discovery::{BY_LOCATIONS, candidates, locations};
use plugins::host::candidate::{How, Search};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{Reason, TargetAbi};

use super::toy::plugin;

/// A target whose `mpidbg_dll_locations` names these; the array is not ended where `ended` is false.
fn naming(names: &[&[u8]], ended: bool) -> MockTarget {
    let mut bytes = vec![0xff_u8; 0x4000];
    let mut text = 0x2000;
    let mut put = |at: usize, value: u64| bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
    put(0, 0x1_0100);
    for number in 0..names.len() {
        put(0x100 + 8 * number, 0x1_2000 + 0x100 * number as u64);
    }
    if ended {
        put(0x100 + 8 * names.len(), 0);
    }
    for name in names {
        bytes[text..text + name.len()].copy_from_slice(name);
        bytes[text + name.len()] = 0;
        text += 0x100;
    }
    let mut target = MockTarget::new(TargetAbi::LITTLE_64);
    target.add_segment(TargetAddr::new(0x1_0000), bytes);
    target.add_symbol("mpidbg_dll_locations", TargetAddr::new(0x1_0000), Some(8));
    target
}

#[test]
fn a_library_that_names_none_says_so() {
    let mut target = MockTarget::new(TargetAbi::LITTLE_64);
    assert_eq!(locations(&target), Err(Reason::new("the MPI library has no variable mpidbg_dll_locations")));
    target.add_symbol("mpidbg_dll_locations", TargetAddr::new(0x1000), Some(8));
    assert!(locations(&target).unwrap_err().to_string().contains("could not be read"));
    target.add_segment(TargetAddr::new(0x1000), vec![0; 8]);
    assert!(locations(&target).unwrap_err().to_string().contains("is NULL: it names no plug-in"));
    let (found, reason) = candidates(&target, &Search::default());
    assert_eq!(found.len(), 0);
    assert!(reason.is_some_and(|reason| reason.to_string().contains("is NULL")));
    assert!(locations(&naming(&[], true)).unwrap_err().to_string().contains("is empty"));
}

#[test]
fn names_are_read_with_bounds() {
    let found = locations(&naming(&[b"/a/b.so", b"", b"c.so"], true));
    assert_eq!(found, Ok(vec![PathBuf::from("/a/b.so"), PathBuf::from("c.so")]));
    // What follows in place of the end leads nowhere.
    assert!(locations(&naming(&[b"/a/b.so"], false)).unwrap_err().to_string().contains("could not be read"));
    let many = vec![&b"/a/b.so"[..]; 30];
    assert_eq!(locations(&naming(&many, true)).map(|found| found.len()), Ok(30));
}

#[test]
fn a_plugin_that_the_program_names_is_not_trusted_and_one_of_another_interface_is_passed_over() {
    let path = plugin("good");
    let name = path.to_str().expect("a text").as_bytes();
    let libc = b"/lib/x86_64-linux-gnu/libc.so.6";
    let (found, reason) = candidates(&naming(&[name, libc, b"/nonexistent/h.so"], true), &Search::default());
    assert_eq!(reason, None);
    let [own, gone] = &found[..] else { panic!("{found:?}") };
    assert_eq!((own.how, own.usable()), (BY_LOCATIONS, false));
    assert!(own.refusal.as_ref().is_some_and(|refusal| refusal.to_string().contains("mpi plugin load")), "{own:?}");
    assert!(gone.refusal.as_ref().is_some_and(|refusal| refusal.to_string().contains("there is no such file")));
}

#[test]
fn the_user_names_a_plugin_or_a_directory() {
    let path = plugin("good");
    let target = naming(&[], true);
    let search = Search { explicit: Some(&path), ..Search::default() };
    let (found, _) = candidates(&target, &search);
    assert!(found.len() == 1 && found[0].usable() && found[0].how == How::Explicit);
    let set = [path.clone(), PathBuf::from("/lib/x86_64-linux-gnu/libc.so.6")];
    let (found, _) = candidates(&target, &Search { set_paths: &set, ..Search::default() });
    assert_eq!(found.iter().map(|found| found.path.as_path()).collect::<Vec<_>>(), [path.as_path()]);
    assert!(found[0].usable());
    let explicit = Search { explicit: Some(Path::new("/nonexistent/h.so")), ..Search::default() };
    let (found, _) = candidates(&target, &explicit);
    assert!(!found[0].usable());
}
