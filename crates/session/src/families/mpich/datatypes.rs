//! The datatypes of an MPICH process, for the host of its plug-in, which gives numbers of elements only.

use layouts::Layouts;
use plugins::mqs::{Datatype, Datatypes};
use readers::mpich::MpichProcess;
use readers::mpich::datatypes::Datatypes as Reader;
use readers::mpich::pools::Pools;
use readers::mpich::shapes;
use target::Target;

/// Datatypes that lie in the library's pools.
pub(super) struct PooledDatatypes<'a> {
    target: &'a dyn Target,
    shape: shapes::Datatype,
    pools: &'a Pools,
}

impl<'a> PooledDatatypes<'a> {
    /// Those of a process; `None` where their layout is not known.
    pub(super) fn of(target: &'a dyn Target, process: &'a MpichProcess, layouts: &Layouts) -> Option<Self> {
        let shape = shapes::Datatype::resolve(layouts).ok()?;
        Some(Self { target, shape, pools: &process.pools })
    }
}

impl Datatypes for PooledDatatypes<'_> {
    fn datatype(&self, handle: u64) -> Option<Datatype> {
        let known = Reader::new(self.target, self.pools, &self.shape).of(u32::try_from(handle).ok()?);
        Some(Datatype { bytes: known.bytes, name: known.name })
    }
}
