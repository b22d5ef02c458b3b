//! What some of a process's requests say of which layout of UCX fits, and of how MPICH packs tags for it.

use super::native;
use crate::mpich::communicators::Communicators;
use crate::mpich::pools::Pools;
use crate::mpich::requests::{self, Kind, Kinds, RequestShape};
use crate::record::Slot;
use crate::ucx::{Sample, Workers};
use target::address::TargetAddr;
use target::{Target, TargetError};

/// As many requests are enough to tell.
pub const SAMPLES: usize = 256;

/// No more requests than this are looked at: those of active messages may stand before.
const MOST_LOOKED_AT: usize = 1 << 16;

/// Where requests are and how they are read.
pub struct Calibration<'a> {
    /// The process.
    pub target: &'a dyn Target,
    /// MPICH's requests.
    pub shape: &'a RequestShape,
    /// Their kinds.
    pub kinds: &'a Kinds,
    /// Where they lie.
    pub pools: &'a Pools,
    /// Where a free object has the address of the next one.
    pub next_offset: u64,
    /// All communicators.
    pub communicators: &'a Communicators,
}

/// What the requests say.
#[derive(Debug)]
pub struct Calibrated {
    /// The workers by the layout that most requests agree with; `None` where there are none.
    pub workers: Option<Workers>,
    /// Whether the requests agree: where none does, only lists of the workers are read by the layout.
    pub fits_requests: bool,
    /// What UCX matches the requests by.
    pub samples: Vec<Sample>,
}

impl Calibrated {
    /// Where no request is UCX's: any layout that fits the workers is as good.
    pub fn by_workers(candidates: Vec<Workers>) -> Self {
        Self { workers: candidates.into_iter().next(), fits_requests: true, samples: Vec::new() }
    }
}

impl Calibration<'_> {
    /// Chooses among the layouts that fit the workers. `behind`: where MPICH's request has the address of UCX's; `first`: the
    /// first request that is UCX's.
    ///
    /// # Errors
    /// Where the process is gone.
    pub fn choose(&self, behind: Slot, first: TargetAddr, candidates: Vec<Workers>) -> Result<Calibrated, TargetError> {
        let Self { target, shape, kinds, pools, next_offset, communicators } = *self;
        let mut all: Vec<(Workers, Vec<Sample>)> =
            candidates.into_iter().map(|workers| (workers, Vec::new())).collect();
        let (mut started, mut seen) = (false, 0);
        requests::walk(target, shape, kinds, pools, next_offset, communicators, |request| {
            started |= request.at == first;
            let pending = !request.complete() && matches!(request.kind, Kind::Send | Kind::Receive);
            let (receive, behind) = (request.kind == Kind::Receive, request.record.pointer(behind));
            if !started || !pending || request.partner().is_some() || behind.is_null() {
                return true;
            }
            seen += 1;
            for (workers, samples) in &mut all {
                let found = native::by_layout(target, &workers.layout, request.at, receive, behind);
                samples.extend(found.filter(|native| workers.own(target, native)).map(|native| native.sample));
            }
            all.iter().all(|(_, samples)| samples.len() < SAMPLES) && seen < MOST_LOOKED_AT
        })?;
        let mut best = Calibrated { workers: None, fits_requests: seen == 0, samples: Vec::new() };
        for (workers, samples) in all {
            if best.workers.is_none() || samples.len() > best.samples.len() {
                best.fits_requests |= !samples.is_empty();
                (best.workers, best.samples) = (Some(workers), samples);
            }
        }
        Ok(best)
    }
}
