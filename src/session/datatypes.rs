//! The datatypes of an MPICH process, for the host of its plug-in, which gives numbers of elements only.

use super::detection::{Detected, Family};
use crate::layouts::Layouts;
use crate::mqs::{Datatype, Datatypes};
use crate::readers::mpich::handle_value::{HandleValue, ObjectKind};
use crate::readers::mpich::pools::Pools;
use crate::target::{Target, printable};

/// The name of the type (`MPID_Datatype` up to 3.2).
const TYPES: [&str; 2] = ["MPIR_Datatype", "MPID_Datatype"];

/// Longest name in bytes (`MPI_MAX_OBJECT_NAME` is 128).
const MAX_NAME: usize = 128;

/// Datatypes that lie in the library's pools.
pub(super) struct PooledDatatypes<'a> {
    target: &'a dyn Target,
    layouts: &'a Layouts,
    pools: &'a Pools,
}

impl<'a> PooledDatatypes<'a> {
    /// Those of a process; `None` where it has no pools.
    pub(super) fn of(target: &'a dyn Target, detected: &'a Detected) -> Option<Self> {
        match &detected.family {
            Family::Mpich(process) => Some(Self { target, layouts: &detected.layouts, pools: &process.pools }),
            Family::OpenMpi => None,
        }
    }
}

impl Datatypes for PooledDatatypes<'_> {
    fn datatype(&self, handle: u64) -> Option<Datatype> {
        let value = HandleValue(u32::try_from(handle).ok()?);
        if value.kind() != Some(ObjectKind::Datatype) {
            return None;
        }
        let at = self.pools.address_of(self.target, value)?;
        let field = |name: &str| TYPES.iter().find_map(|of| self.layouts.field(of, name).ok());
        // An object that is not what its handle says has been freed, or is none.
        let own = field("handle")?;
        if self.target.read_uint(at.wrapping_add(own.offset), own.size).ok()? != handle {
            return None;
        }
        let bytes = field("size").and_then(|size| self.target.read_uint(at.wrapping_add(size.offset), size.size).ok());
        let name = field("name").and_then(|name| {
            let room = usize::try_from(name.size).unwrap_or(MAX_NAME).min(MAX_NAME);
            self.target.read_c_string(at.wrapping_add(name.offset), room).ok()
        });
        Some(Datatype { bytes, name: name.filter(|name| !name.is_empty()).map(|name| printable(&name).into()) })
    }
}
