//! The built-in reader for Open MPI on made-up processes whose memory the input changes: over ob1, over UCX, over libfabric.

use made_up::over_cm::OverCm;
use made_up::over_ucx::OverUcx;
use made_up::process::{LITTLE_64, Process};
use made_up::rich::queues;
use model::{QueueReport, QueueSource};
use readers::openmpi::OpenMpiReader;
use readers::openmpi::pml::Pml;
use readers::ucx::UcxLayout;
use target::mock::MockTarget;

use crate::edits;

pub fn run(data: &[u8]) {
    let _ = made_up::rich::fuzz(data);
}

pub fn over_ucx(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let mut layouts = UcxLayout::shipped(LITTLE_64);
    let layout = layouts.swap_remove(usize::from(*first) % layouts.len());
    let (made, _) = OverUcx::rich(layout, u64::from(first / 16));
    read(&made.process, rest, Pml::Ucx);
}

pub fn over_cm(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let mut layouts = OverCm::layouts();
    let layout = layouts.swap_remove(usize::from(*first) % layouts.len());
    let (made, _) = OverCm::rich(layout, u64::from(first / 16));
    read(&made.process, rest, Pml::Cm);
}

fn read(process: &Process, data: &[u8], pml: Pml) {
    let mut memory = process.mem.clone();
    for piece in data.chunks_exact(17) {
        let number =
            |range: std::ops::Range<usize>| piece[range].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        made_up::rich::damage(process, &mut memory, piece[0], number(1..9), number(9..17));
    }
    let mut target: MockTarget = memory.target();
    for (name, at) in &process.symbols {
        target.add_symbol(name, *at, None);
    }
    if let Ok(report) = OpenMpiReader::new(&target, &process.layouts(), pml).read_queues() {
        bounded(&report);
    }
    edits::read_count(&target, 1 << 20);
}

/// What is told of it is printable and not more than there can be.
fn bounded(report: &QueueReport) {
    assert!(report.problems.len() <= 101 && report.notes.len() < 12);
    for text in report.problems.iter().chain(&report.notes) {
        assert!(text.len() < 2000 && !text.chars().any(char::is_control), "{text:?}");
    }
    assert!(queues(report).all(|queue| queue.operations.len() < 1000));
}

pub fn seeds() -> Vec<Vec<u8>> {
    (0..16).map(made_up::rich::damage_from_seed).chain((0..8).map(|which| vec![which])).collect()
}
