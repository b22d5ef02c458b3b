//! Tests of the built-in reader for Open MPI on made-up processes: no layout is a real one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod openmpi_communicators;
mod openmpi_damage;
mod openmpi_detect;
mod openmpi_messages;
mod openmpi_requests;
mod openmpi_traffic;
mod support;

use mpi_queues::target::TargetAbi;
use support::openmpi_types::Build;
use support::process::{ABIS, Comm, Process};

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
