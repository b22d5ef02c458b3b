//! Hosts that fail, lie, and do what no document allows; damaged memory. Nothing ends the debugger.

use std::ptr::null_mut;

use made_up::rng::Rng;
use mpi_queues_mqs as library;
use mqs_interface::OK;
use target::address::TargetAddr;
use target::{Image, Symbol, Target, TargetAbi, TargetError};

use crate::corpus::{Debuggable, each};
use crate::host::{Host, Manners, alone, text};

/// Runs against two processes of each MPI.
fn over_recordings(mut run: impl FnMut(&dyn Target, &str)) {
    for mpi in ["openmpi", "mpich"] {
        each(mpi, 2, |place, replay| run(&Debuggable::new(replay), place));
    }
}

#[test]
fn reads_that_fail_are_an_error_or_not_known() {
    over_recordings(|target, place| {
        for every in [1, 2, 3, 7, 50, 333] {
            let host = Host::new(target, Manners { fails: Some(every), ..Manners::default() });
            let result = host.run();
            assert!(every > 1 || result.is_err(), "{place}");
        }
    });
}

#[test]
fn reads_that_lie_end_nothing() {
    over_recordings(|target, _| {
        for every in [1, 2, 3, 5, 11, 60] {
            let _ = Host::new(target, Manners { lies: Some(every), ..Manners::default() }).run();
        }
    });
}

/// Memory in which some words are others, always the same ones.
struct Damaged<'a> {
    whole: &'a dyn Target,
    seed: u64,
    /// One word of so many is another.
    rare: u64,
}

impl Target for Damaged<'_> {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.whole.read(addr, buf)?;
        for (place, byte) in buf.iter_mut().enumerate() {
            let at = addr.get().wrapping_add(place as u64);
            let mut rng = Rng::new(self.seed ^ (at / 8).wrapping_mul(0x9e37_79b9_7f4a_7c15));
            if rng.below(self.rare) == 0 {
                let word = [0, u64::MAX, 1 + rng.below(300), rng.next(), addr.get(), 1 << 40][rng.index(6)];
                *byte = word.to_le_bytes()[(at % 8) as usize];
            }
        }
        Ok(())
    }
    fn abi(&self) -> TargetAbi {
        self.whole.abi()
    }
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        self.whole.symbol(name)
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.whole.images()
    }
}

/// How many ended with something to show.
fn over_damage(runs: u64) -> u64 {
    let mut shown = 0;
    over_recordings(|target, _| {
        for seed in 0..runs {
            let damaged = Damaged { whole: target, seed, rare: [20, 300, 4000, 60_000][seed as usize % 4] };
            shown += u64::from(Host::new(&damaged, Manners::default()).run().is_ok_and(|all| !all.is_empty()));
        }
    });
    shown
}

#[test]
fn damaged_memory_ends_nothing() {
    assert!(over_damage(8) > 0);
}

#[test]
#[ignore = "takes long"]
fn damaged_memory_ends_nothing_two_thousand_times() {
    assert!(over_damage(500) > 100);
}

#[test]
fn a_debugger_that_knows_every_name_is_not_believed() {
    over_recordings(|target, _| {
        for at in [1, 0x1000, 0x7fff_ff00_0000, u64::MAX, 1 << 63] {
            assert!(Host::new(target, Manners { anything_at: Some(at), ..Manners::default() }).run().is_err());
        }
    });
}

#[test]
fn one_that_forgets_what_hangs_on_its_objects_is_served_all_the_same() {
    over_recordings(|target, place| {
        let usual = Host::new(target, Manners::default()).run().map(|all| all.len());
        let host = Host::new(target, Manners { forgets: true, ..Manners::default() });
        assert_eq!(host.run().map(|all| all.len()), usual, "{place}");
    });
}

#[test]
fn one_without_memory_is_told_so() {
    over_recordings(|target, _| {
        let full = Host::new(target, Manners { is_full: true, ..Manners::default() }).run();
        assert_eq!(full.unwrap_err().1, "the debugger has no memory");
    });
}

#[test]
fn a_call_within_a_callback_does_not_wait() {
    over_recordings(|target, place| {
        let host = Host::new(target, Manners { calls_back: true, ..Manners::default() });
        assert!(host.run().is_ok(), "{place}");
        let code = host.called_back.get().unwrap();
        assert_eq!(text(code), "it is at work already");
    });
}

#[test]
fn a_width_that_there_is_not_is_refused() {
    over_recordings(|target, _| {
        for pointer in [0, 1, 3, 16, -8, i32::MAX] {
            let host = Host::new(target, Manners { pointer: Some(pointer), ..Manners::default() });
            assert!(host.run().is_err());
        }
    });
}

#[test]
fn nothing_is_where_something_should_be() {
    let _alone = alone();
    library::mqs_setup_basic_callbacks(std::ptr::null());
    assert_ne!(library::mqs_setup_image(null_mut(), std::ptr::null()), OK);
    assert_ne!(library::mqs_setup_process(null_mut(), std::ptr::null()), OK);
    // SAFETY: NULL is allowed.
    unsafe {
        assert_ne!(library::mqs_image_has_queues(null_mut(), null_mut()), OK);
        assert_ne!(library::mqs_process_has_queues(null_mut(), null_mut()), OK);
        assert_ne!(library::mqs_get_communicator(null_mut(), null_mut()), OK);
        assert_ne!(library::mqs_next_operation(null_mut(), null_mut()), OK);
        assert_ne!(library::mqs_get_comm_group(null_mut(), null_mut()), OK);
    }
    for class in [-1, 0, 3, i32::MAX] {
        assert_ne!(library::mqs_setup_operation_iterator(null_mut(), class), OK);
    }
    library::mqs_destroy_process_info(null_mut());
    library::mqs_destroy_image_info(std::ptr::dangling_mut());
    library::mqs_destroy_job_info(null_mut());
}
