//! MPICH, or what is made from it, in a build whose layouts nobody has: communicators only.

use std::rc::Rc;

use super::super::Installed;
use super::{handle_bytes, lifetime};
use crate::SessionError;
use crate::detection::{Detected, QUEUES};
use layouts::Verification;
use model::{Capability, QueueReport};
use readers::mpich::MpichProcess;
use readers::mpich::handle_value::ObjectKind;
use readers::mpich::library::INTEL_MPI;
use readers::mpich::located::{self, Offsets, locate};
use readers::mpich::pools::Pools;
use readers::wanted::MPICH;
use readers::{HandleSource, ReaderError};
use target::{Target, TargetAbi};

/// What the source of layouts is called where there are none.
const LOCATED: &str = "none";

/// An MPICH without layouts.
pub(super) struct Located {
    /// The library and its pools.
    process: MpichProcess,
    /// Where the members of communicators were found.
    offsets: Offsets,
    /// Why there are no layouts, and what to do.
    why: String,
}

impl Located {
    /// Finds communicators without layouts; `why` says why there are none, `all` at length.
    pub(super) fn find(
        target: &dyn Target,
        process: MpichProcess,
        why: String,
        all: &str,
    ) -> Result<Self, SessionError> {
        let world = process.pools.builtins(ObjectKind::Comm).map(|builtins| builtins.at);
        // MPI_Finalize gives up the last reference; not all libraries mark their pools as unused.
        if let Some(world) = world.filter(|_| process.library.implementation == INTEL_MPI)
            && target.read_uint(world.wrapping_add(4), 4)? == 0
        {
            return Err(SessionError::Finalized);
        }
        match locate(target, &process.pools)? {
            Ok(offsets) => Ok(Self { process, offsets, why }),
            Err(reason) => Err(SessionError::NoLayout(format!("{all}; without layouts: {reason}"))),
        }
    }

    /// Why there are no queues and handles, and what to do.
    fn reason(&self) -> String {
        if self.process.library.implementation == INTEL_MPI {
            return "Intel does not publish the structures of its library; run the program with the libmpi.so.12 of \
                MPICH, \
                    whose ABI is the same, to see its queues"
                .to_owned();
        }
        format!("{}; make one from its source or debug information: mpi-queues layouts make --help", self.why)
    }

    /// What was looked at in place of layouts.
    pub(super) fn verification() -> Verification {
        let checked = ["MPIR_Comm", "MPI_COMM_WORLD", "MPI_COMM_SELF"].map(ToOwned::to_owned).to_vec();
        Verification { profile: LOCATED.to_owned(), checked, ..Verification::default() }
    }
}

impl Installed for Located {
    fn family(&self) -> &'static str {
        MPICH.name
    }

    fn refresh(&self, target: &dyn Target, known: &Detected) -> Result<Detected, SessionError> {
        let pools = Pools::find(target, &self.process.pools.ranges)?;
        let lifetime = lifetime(target, &pools)?;
        let located = Self::find(target, MpichProcess { pools, ..self.process.clone() }, self.why.clone(), &self.why)?;
        Ok(Detected { lifetime, installed: Rc::new(located), ..known.clone() })
    }

    fn queues(&self, target: &dyn Target, _: &Detected, _: bool) -> Result<QueueReport, ReaderError> {
        located::read(target, &self.process.pools, &self.offsets, self.process.abi, &self.reason())
    }

    fn handles(&self, _: &dyn Target, _: &Detected, _: &mut dyn FnMut(&dyn HandleSource)) -> Result<(), SessionError> {
        Err(SessionError::NoLayout(format!("handles cannot be read: {}", self.reason())))
    }

    fn capabilities(&self, _: &dyn Target, _: &Detected) -> Vec<Capability> {
        let reason = self.reason();
        let mut all = vec![
            Capability::exact("communicators.name"),
            Capability::exact("communicators.rank"),
            Capability::exact("communicators.size"),
            Capability::partial(
                "communicators.group",
                "known of MPI_COMM_WORLD and MPI_COMM_SELF only: no layout fits",
            ),
        ];
        all.extend(QUEUES.map(|fact| Capability::not_available(fact, reason.clone())));
        all.push(Capability::not_available("handles", reason));
        all
    }

    fn verified(&self, _: &Detected) -> String {
        "no layouts: names, ranks and sizes of communicators were found by what MPI_COMM_WORLD and MPI_COMM_SELF \
         must say"
            .to_owned()
    }

    fn handle_bytes(&self, abi: TargetAbi) -> u64 {
        handle_bytes(&self.process, abi)
    }
}
