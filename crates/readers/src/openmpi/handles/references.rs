//! Cross-references: which objects point to a given one.

use super::{Depth, HandleReader, file, kinds, window};
use crate::ReaderError;
use crate::record::Slot;
use crate::references::{self, Member, Pointing, Referrers, Refers};
use model::HandleKind;
use model::handle::Reference;
use target::address::TargetAddr;

/// The communicator of an intercommunicator's local group. In others the member is never set (`ompi_comm_construct` in
/// ompi/communicator/comm_init.c, v4.1.4).
pub const LOCAL_COMM: &str = "c_local_comm";

/// Stands for the communicator of a window, which no member of it holds but one of its component's part.
pub const WIN_COMM: Member = (HandleKind::Win, "communicator");

/// The same of a file, where its component has one.
pub const FILE_COMM: Member = (HandleKind::File, "duplicate");

impl HandleReader<'_> {
    /// A reference to another object; none for a null pointer.
    pub(super) fn reference(&self, kind: HandleKind, addr: TargetAddr) -> Option<Reference> {
        (!addr.is_null()).then(|| self.refer(kind, addr))
    }

    /// The communicator at `addr` as summaries name it.
    pub(super) fn on(&self, addr: TargetAddr) -> String {
        if addr.is_null() {
            return "on no communicator".to_owned();
        }
        references::on(&self.describe(HandleKind::Comm, addr.get(), Depth::Short), addr)
    }

    /// The objects of a kind with what their member points to.
    pub(super) fn pointers(&self, member: Member) -> Vec<(TargetAddr, TargetAddr)> {
        let known = self.pointing(member);
        let pairs = known.by_target.iter().flat_map(|(target, from)| from.iter().map(|addr| (*addr, *target)));
        let mut pairs: Vec<_> = pairs.collect();
        pairs.sort_unstable();
        pairs
    }

    /// The member of an object; without one, the communicator that the component of a window or file has.
    fn pointer(&self, kind: HandleKind, addr: TargetAddr, slot: Option<Slot>) -> Result<TargetAddr, ReaderError> {
        match slot {
            Some(slot) => Ok(slot.read_pointer(self.target, addr)?),
            None if kind == HandleKind::File => file::duplicate(self, addr),
            None => window::communicator(self, addr),
        }
    }

    fn is_inter(&self, comm: TargetAddr) -> bool {
        let Slot { offset, size, .. } = self.shapes.communicator.flags;
        let flags = self.target.read_uint(comm.wrapping_add(offset as u64), size as u64);
        flags.is_ok_and(|flags| flags & self.shapes.constants.comm_inter != 0)
    }
}

impl Refers for HandleReader<'_> {
    type Object = TargetAddr;

    fn looked_at(&self) -> &Referrers<TargetAddr> {
        &self.referrers
    }

    fn refer(&self, kind: HandleKind, addr: TargetAddr) -> Reference {
        Reference::to(self.of_library(|| self.describe(kind, addr.get(), Depth::Short)))
    }

    fn find_pointing(&self, (kind, member): Member) -> Pointing<TargetAddr> {
        let mut known = Pointing::default();
        let Some(place) = kinds::of(kind) else { return known };
        let of_component = [FILE_COMM, WIN_COMM].contains(&(kind, member));
        let probed = if of_component { Ok(None) } else { Slot::probe(self.layouts, place.type_name, member) };
        let slot = match probed {
            Ok(slot) if slot.is_some() || of_component => slot,
            // Members are probed, never versions: what this release lacks, none of its objects has.
            Ok(_) => return known,
            Err(error) => {
                known.reason = Some(error.to_string());
                return known;
            }
        };
        let (addresses, reason) = self.addresses(kind);
        known.reason = reason;
        for addr in addresses {
            if member == LOCAL_COMM && !self.is_inter(addr) {
                continue;
            }
            match self.pointer(kind, addr, slot) {
                Ok(pointer) => known.by_target.entry(pointer).or_default().push(addr),
                Err(error) => known.reason = Some(format!("the {} at {addr}: {error}", kind.noun())),
            }
        }
        known
    }
}
