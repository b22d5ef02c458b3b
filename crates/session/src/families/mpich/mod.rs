//! MPICH and what is made from it.

#[cfg(feature = "plugins")]
mod datatypes;
mod detection;
mod located;

use std::rc::Rc;

use super::{Family, Installed};
use crate::SessionError;
use crate::detection::{Detected, LayoutChoice};
use model::{Capability, QueueReport, QueueSource as _};
use readers::mpich::handle_value::ObjectKind;
use readers::mpich::handles::{HandleReader, SharedOperations};
use readers::mpich::pools::Pools;
use readers::mpich::{MpichProcess, MpichReader, capabilities};
use readers::wanted::MPICH;
use readers::{HandleSource, Lifetime, ReaderError};
use target::address::TargetAddr;
use target::{Target, TargetAbi};

/// The family.
pub(super) struct Mpich;

impl Family for Mpich {
    fn name(&self) -> &'static str {
        MPICH.name
    }

    fn detect(&self, target: &dyn Target, choice: &LayoutChoice) -> Result<Option<Detected>, SessionError> {
        detection::detect(target, choice)
    }
}

/// An MPICH whose layouts are known.
struct InProcess {
    process: MpichProcess,
    /// What the queues say of requests, until the process runs.
    operations: SharedOperations,
}

impl InProcess {
    fn new(process: MpichProcess) -> Self {
        Self { process, operations: SharedOperations::default() }
    }
}

impl Installed for InProcess {
    fn family(&self) -> &'static str {
        MPICH.name
    }

    /// Pools grow, and kinds that had no object may have one now.
    fn refresh(&self, target: &dyn Target, known: &Detected) -> Result<Detected, SessionError> {
        let pools = Pools::find(target, &self.process.pools.ranges)?;
        let lifetime = lifetime(target, &pools)?;
        let installed = Rc::new(Self::new(MpichProcess { pools, ..self.process.clone() }));
        Ok(Detected { lifetime, installed, ..known.clone() })
    }

    fn queues(&self, target: &dyn Target, known: &Detected, with_queues: bool) -> Result<QueueReport, ReaderError> {
        let mut reader = MpichReader::new(target, &known.layouts, &self.process);
        reader.with_queues = with_queues;
        reader.read_queues()
    }

    fn handles(
        &self,
        target: &dyn Target,
        known: &Detected,
        read: &mut dyn FnMut(&dyn HandleSource),
    ) -> Result<(), SessionError> {
        let reader = HandleReader::new(target, &known.layouts, &self.process)?;
        read(&reader.sharing(&self.operations));
        Ok(())
    }

    fn capabilities(&self, target: &dyn Target, known: &Detected) -> Vec<Capability> {
        capabilities::of(target, &self.process, &known.layouts)
    }

    fn handle_bytes(&self, abi: TargetAbi) -> u64 {
        handle_bytes(&self.process, abi)
    }

    /// Each request begins with its own handle.
    fn handle_of_request(&self, target: &dyn Target, address: u64) -> Option<u64> {
        if self.process.abi { None } else { target.read_uint(TargetAddr::new(address), 4).ok() }
    }

    #[cfg(feature = "plugins")]
    fn dialect(&self) -> &'static dyn plugins::mqs::Dialect {
        plugins::mqs::dialect::MPICH
    }

    #[cfg(feature = "plugins")]
    fn datatypes<'a>(
        &'a self,
        target: &'a dyn Target,
        known: &'a Detected,
    ) -> Option<Box<dyn plugins::mqs::Datatypes + 'a>> {
        Some(Box::new(datatypes::PooledDatatypes::of(target, &self.process, &known.layouts)?))
    }
}

/// Handles are integers, in the MPI-5 ABI pointers.
fn handle_bytes(process: &MpichProcess, abi: TargetAbi) -> u64 {
    if process.abi { abi.pointer_width.bytes() } else { 4 }
}

/// MPI_Finalize leaves the objects' memory as it is and marks the pools as unused (`MPIR_Handle_free`,
/// src/include/mpir_handlemem.h, v4.0.2).
fn lifetime(target: &dyn Target, pools: &Pools) -> Result<Lifetime, SessionError> {
    // Requests and datatypes are there before it, and MPI_Init waits for other ranks meanwhile.
    if !pools.has_world && pools.unread == 0 && !pools.has_session(target) {
        return Err(SessionError::NotInitialized);
    }
    if pools.pools.iter().any(|pool| pool.verified && pool.head.initialized && pool.head.kind != ObjectKind::Info) {
        return Ok(Lifetime::Active);
    }
    // Info objects may be used before MPI_Init and after MPI_Finalize.
    if pools.pools.iter().any(|pool| pool.verified && pool.head.kind != ObjectKind::Info) {
        return Err(SessionError::Finalized);
    }
    Err(SessionError::NotInitialized)
}
