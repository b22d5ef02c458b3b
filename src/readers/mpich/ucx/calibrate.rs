//! What some of a process's requests say of which layout of UCX fits, and of how MPICH packs tags for it.

use super::native;
use super::tag::Sample;
use super::worker::Workers;
use crate::readers::mpich::communicators::Communicators;
use crate::readers::mpich::pools::Pools;
use crate::readers::mpich::requests::{self, Kind, Kinds, RequestShape};
use crate::readers::record::Slot;
use crate::target::{Target, TargetError};

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

impl Calibration<'_> {
    /// Chooses among the layouts that fit the workers. `behind`: where MPICH's request has the address of UCX's.
    ///
    /// # Errors
    /// Where the process is gone.
    pub fn choose(&self, behind: Slot, candidates: Vec<Workers>) -> Result<Calibrated, TargetError> {
        let mut best = Calibrated { workers: None, fits_requests: false, samples: Vec::new() };
        let mut seen = 0;
        for workers in candidates {
            let (all, samples) = self.samples(behind, &workers)?;
            seen = seen.max(all);
            if best.workers.is_none() || samples.len() > best.samples.len() {
                best = Calibrated { workers: Some(workers), fits_requests: !samples.is_empty(), samples };
            }
        }
        best.fits_requests |= seen == 0;
        Ok(best)
    }

    /// How many requests were looked at, and what UCX matches those by that belong to the workers.
    fn samples(&self, behind: Slot, workers: &Workers) -> Result<(usize, Vec<Sample>), TargetError> {
        let (mut all, mut samples) = (0, Vec::new());
        let Self { target, shape, kinds, pools, next_offset, communicators } = *self;
        requests::walk(target, shape, kinds, pools, next_offset, communicators, |request| {
            let pending = !request.complete() && matches!(request.kind, Kind::Send | Kind::Receive);
            if pending && request.partner().is_none() && !request.record.pointer(behind).is_null() {
                all += 1;
                let (receive, behind) = (request.kind == Kind::Receive, request.record.pointer(behind));
                let found = native::by_layout(target, &workers.layout, request.at, receive, behind);
                samples.extend(found.filter(|native| workers.own(target, native)).map(|native| native.sample));
            }
            samples.len() < SAMPLES && all < MOST_LOOKED_AT
        })?;
        Ok((all, samples))
    }
}
