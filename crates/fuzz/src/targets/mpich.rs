//! The built-in reader for MPICH on made-up processes whose memory the input changes: ch4 of two forms, and ch3 with what
//! lies in nemesis's cells.

use made_up::mpich::{Device, MPI_BYTE, MPI_INT, Mpich, WORLD_CONTEXT};
use made_up::nemesis::{EAGER, EAGER_SHORT, Packet, RENDEZVOUS};
use made_up::process::ABIS;
use target::address::TargetAddr;
use target::mock::MockTarget;

use crate::changed::{self, Changed, Kept, looked_at};

/// Devices and ABIs, in several ways.
const KINDS: u8 = 48;
const DEVICES: [Device; 3] = [Device::Ch4, Device::Ch4Status, Device::Ch3];

/// A process, and what is read of it.
struct Made {
    process: Mpich,
    target: MockTarget,
    looked_at: Vec<(u64, usize)>,
}

impl Made {
    fn new(first: u8) -> Self {
        let process = process(first);
        let target = process.target();
        let looked_at = looked_at(&target, |whole| {
            assert!(process.read_of(&whole).is_some());
        });
        Self { process, target, looked_at }
    }
}

fn process(first: u8) -> Mpich {
    let device = DEVICES[usize::from(first) % 3];
    let mut process = Mpich::new(ABIS[usize::from(first / 3) % 4], device, u64::from(first / 12));
    let world = process.world();
    let at: Vec<_> = (0..6).map(|tag| process.receive(world, [1, tag, WORLD_CONTEXT], 10, MPI_INT)).collect();
    process.list(0, &at);
    if device == Device::Ch3 {
        let arrived = process.receive(TargetAddr::NULL, [3, 55, WORLD_CONTEXT], 7, MPI_BYTE);
        process.list(3, &[arrived]);
        let mut made = process.nemesis(first & 0x10 != 0, first & 0x20 != 0);
        for (kind, tag, bytes) in [(EAGER, 1, 20), (EAGER_SHORT, 2, 16), (EAGER, 3, 190_000), (RENDEZVOUS, 4, 1 << 20)]
        {
            process.queue_packet(
                &mut made,
                0,
                Packet { kind, source: 0, tag, context: WORLD_CONTEXT, bytes, request: 0x70 },
            );
        }
    }
    process
}

pub fn run(data: &[u8]) {
    thread_local!(static ALL: Kept<u8, Made> = const { Kept::new() });
    let Some((first, rest)) = data.split_first() else { return };
    let first = first % KINDS;
    let made = ALL.with(|all| all.of(first, || Made::new(first)));
    let target = Changed::new(&made.target, &made.looked_at, rest);
    if let Some(report) = made.process.read_of(&target) {
        assert!(report.problems.len() <= 101 && report.communicators.len() <= 40 && report.notes.len() < 100);
    }
    assert!(target.reads() < 1 << 20, "{} reads", target.reads());
}

pub fn seeds() -> Vec<Vec<u8>> {
    changed::seeds((0..KINDS).map(|kind| vec![kind]))
}
