//! The built-in reader for MPICH on made-up processes whose memory the input changes: ch4 of two forms, and ch3 with what
//! lies in nemesis's cells.

use made_up::mpich::{Device, MPI_BYTE, MPI_INT, Mpich, WORLD_CONTEXT};
use made_up::nemesis::{EAGER, EAGER_SHORT, Packet, RENDEZVOUS};
use made_up::process::ABIS;
use target::address::TargetAddr;

use crate::edits;

const DEVICES: [Device; 3] = [Device::Ch4, Device::Ch4Status, Device::Ch3];

pub fn run(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let device = DEVICES[usize::from(*first) % 3];
    let mut process = Mpich::new(ABIS[usize::from(first / 3) % 4], device, u64::from(first / 12));
    let world = process.world();
    let at: Vec<_> = (0..6).map(|tag| process.receive(world, [1, tag, WORLD_CONTEXT], 10, MPI_INT)).collect();
    process.list(0, &at);
    if device == Device::Ch3 {
        let arrived = process.receive(TargetAddr::NULL, [3, 55, WORLD_CONTEXT], 7, MPI_BYTE);
        process.list(3, &[arrived]);
        let mut made = process.nemesis(first & 0x40 != 0, first & 0x80 != 0);
        for (kind, tag, bytes) in [(EAGER, 1, 20), (EAGER_SHORT, 2, 16), (EAGER, 3, 190_000), (RENDEZVOUS, 4, 1 << 20)]
        {
            process.queue_packet(
                &mut made,
                0,
                Packet { kind, source: 0, tag, context: WORLD_CONTEXT, bytes, request: 0x70 },
            );
        }
    }
    let mut target = process.target();
    edits::apply_to(&mut target, rest);
    if let Some(report) = process.read_of(&target) {
        assert!(report.problems.len() <= 101 && report.communicators.len() <= 40 && report.notes.len() < 100);
    }
    edits::read_count(&target, 1 << 20);
}

pub fn seeds() -> Vec<Vec<u8>> {
    let heads = (0..24_u8).map(|number| number.wrapping_mul(37));
    heads.zip(edits::seeds(24)).map(|(head, change)| [&[head][..], &change].concat()).collect()
}
