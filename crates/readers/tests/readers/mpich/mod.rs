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
