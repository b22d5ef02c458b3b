//! Tests of the built-in reader for Open MPI on made-up processes: no layout is a real one.

mod classes;
mod communicators;
mod damage;
mod detect;
mod in_transit;
mod messages;
mod over;
mod over_cm;
mod over_ucx;
mod requests;
mod traffic;

use made_up::openmpi_types::Build;
use made_up::process::{ABIS, Comm, Process};
use target::TargetAbi;

/// Runs a test for every byte order and width, on two layouts each, with and without what 5.0 added.
fn everywhere(test: impl Fn(Process, Comm)) {
    for (number, abi) in ABIS.into_iter().enumerate() {
        for seed in [1, 2] {
            let build = Build { extended: seed == 2, ..Build::default() };
            let (process, world) = Process::new(abi, build, seed + 10 * number as u64);
            test(process, world);
        }
    }
}

/// A little-endian 64-bit process.
fn one() -> (Process, Comm) {
    Process::new(TargetAbi::LITTLE_64, Build::default(), 5)
}
