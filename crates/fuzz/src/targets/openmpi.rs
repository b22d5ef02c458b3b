//! The built-in reader for Open MPI on made-up processes whose memory the input changes: over ob1, over UCX, over libfabric.

use layouts::Layouts;
use made_up::over_cm::OverCm;
use made_up::over_ucx::OverUcx;
use made_up::process::{ABIS, LITTLE_64, Process};
use made_up::rich::{queues, rich};
use model::{QueueReport, QueueSource};
use readers::openmpi::OpenMpiReader;
use readers::openmpi::pml::Pml;
use readers::ucx::UcxLayout;
use target::Target;
use target::mock::MockTarget;

use crate::changed::{self, Changed, Kept, looked_at};

/// A process, and what is read of it.
struct Made {
    target: MockTarget,
    layouts: Layouts,
    looked_at: Vec<(u64, usize)>,
}

impl Made {
    fn new(process: &Process, pml: Pml) -> Self {
        let (target, layouts) = (process.target(), process.layouts());
        let looked_at = looked_at(&target, |whole| {
            let report = OpenMpiReader::new(&whole, &layouts, pml).read_queues().unwrap();
            assert!(report.problems.is_empty() && queues(&report).any(|queue| !queue.operations.is_empty()));
        });
        Self { target, layouts, looked_at }
    }

    fn read(&self, data: &[u8], pml: Pml) {
        let target = Changed::new(&self.target, &self.looked_at, data);
        if let Ok(report) = OpenMpiReader::new(&target, &self.layouts, pml).read_queues() {
            bounded(&report);
        }
        let _ = target.abi();
        assert!(target.reads() < 1 << 20, "{} reads", target.reads());
    }
}

type All = Kept<(usize, u64), Made>;

pub fn run(data: &[u8]) {
    thread_local!(static ALL: All = const { Kept::new() });
    let Some((first, rest)) = data.split_first() else { return };
    let (abi, seed) = (usize::from(*first) % 4, u64::from(first / 4 % 8));
    ALL.with(|all| all.of((abi, seed), || Made::new(&rich(ABIS[abi], seed), Pml::Ob1))).read(rest, Pml::Ob1);
}

pub fn over_ucx(data: &[u8]) {
    thread_local!(static ALL: All = const { Kept::new() });
    let Some((first, rest)) = data.split_first() else { return };
    let mut layouts = UcxLayout::shipped(LITTLE_64);
    let (which, seed) = (usize::from(*first) % layouts.len(), u64::from(first / 64));
    let make = || Made::new(&OverUcx::rich(layouts.swap_remove(which), seed).0.process, Pml::Ucx);
    ALL.with(|all| all.of((which, seed), make)).read(rest, Pml::Ucx);
}

pub fn over_cm(data: &[u8]) {
    thread_local!(static ALL: All = const { Kept::new() });
    let Some((first, rest)) = data.split_first() else { return };
    let mut layouts = OverCm::layouts();
    let (which, seed) = (usize::from(*first) % layouts.len(), u64::from(first / 64));
    let make = || Made::new(&OverCm::rich(layouts.swap_remove(which), seed).0.process, Pml::Cm);
    ALL.with(|all| all.of((which, seed), make)).read(rest, Pml::Cm);
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
    changed::seeds((0..16).chain([64, 129, 194]).map(|head| vec![head]))
}
