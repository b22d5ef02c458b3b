//! The datatypes of an MPICH process, for the host of its plug-in, which gives numbers of elements only.

use super::detection::{Detected, Family};
use crate::mqs::{Datatype, Datatypes};
use crate::readers::mpich::datatypes::Datatypes as Reader;
use crate::readers::mpich::pools::Pools;
use crate::readers::mpich::shapes;
use crate::target::Target;

/// Datatypes that lie in the library's pools.
pub(super) struct PooledDatatypes<'a> {
    target: &'a dyn Target,
    shape: shapes::Datatype,
    pools: &'a Pools,
}

impl<'a> PooledDatatypes<'a> {
    /// Those of a process; `None` where it has no pools, or their layout is not known.
    pub(super) fn of(target: &'a dyn Target, detected: &'a Detected) -> Option<Self> {
        let Family::Mpich(process) = &detected.family else { return None };
        let shape = shapes::Datatype::resolve(&detected.layouts).ok()?;
        Some(Self { target, shape, pools: &process.pools })
    }
}

impl Datatypes for PooledDatatypes<'_> {
    fn datatype(&self, handle: u64) -> Option<Datatype> {
        let known = Reader::new(self.target, self.pools, &self.shape).of(u32::try_from(handle).ok()?);
        Some(Datatype { bytes: known.bytes, name: known.name })
    }
}
