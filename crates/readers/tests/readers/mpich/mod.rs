//! Tests of the built-in reader for MPICH on made-up processes: no layout is a real one.

mod damage;
mod in_transit;
mod lengths;
mod located;
mod nemesis;
mod network;
mod receives;
mod sends;

use made_up::mpich::{Device, Mpich};
use made_up::process::ABIS;
use model::{Operation, OperationStatus};

const DEVICES: [Device; 3] = [Device::Ch4, Device::Ch4Status, Device::Ch3];

/// Runs a test for every byte order, width and device.
fn everywhere(test: impl Fn(Mpich)) {
    for (number, abi) in (0..).zip(ABIS) {
        for device in DEVICES {
            test(Mpich::new(abi, device, number + 40));
        }
    }
}

/// Runs a test for both forms of ch4.
fn on_ch4(test: impl Fn(Mpich)) {
    everywhere(|process| {
        if process.device != Device::Ch3 {
            test(process);
        }
    });
}

/// What is in transit to MPI_COMM_WORLD, and the notes.
fn read(process: &Mpich) -> (Vec<Operation>, Vec<String>) {
    let mut report = process.read();
    assert_eq!(report.problems, Vec::<String>::new());
    let all = report.communicators.remove(0).unexpected_messages.into_owned().operations;
    (all.into_iter().filter(|one| one.status == OperationStatus::InTransit).collect(), report.notes)
}

/// The tags of these.
fn tags(process: &Mpich) -> Vec<Option<i64>> {
    let (found, notes) = read(process);
    assert_eq!(notes, Vec::<String>::new());
    found.iter().map(|one| one.desired_tag).collect()
}
