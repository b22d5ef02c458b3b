//! Cross-references: which objects point to a given one.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use serde_json::{Value, json};

use super::{Depth, HandleReader, file, kinds, window};
use crate::record::Slot;
use crate::{ReaderError, add_problem};
use model::{Handle, HandleKind, HandleState};
use target::address::TargetAddr;

/// At most this many references are listed in one fact.
const MAX_REFERENCES: usize = 1000;

/// The communicator of an intercommunicator's local group. In others the member is never set (`ompi_comm_construct` in
/// ompi/communicator/comm_init.c, v4.1.4).
pub const LOCAL_COMM: &str = "c_local_comm";

/// Stands for the communicator of a window, which no member of it holds but one of its component's part.
pub const WIN_COMM: (HandleKind, &str) = (HandleKind::Win, "communicator");

/// The same of a file, where its component has one.
pub const FILE_COMM: (HandleKind, &str) = (HandleKind::File, "duplicate");

/// Which objects point to which, each kind and member looked at once.
#[derive(Default)]
pub struct Referrers(RefCell<HashMap<(HandleKind, &'static str), Rc<Known>>>);

#[derive(Default)]
struct Known {
    by_target: HashMap<TargetAddr, Vec<TargetAddr>>,
    /// Why these are not all.
    reason: Option<String>,
}

impl HandleReader<'_> {
    /// A reference to another object, as a fact: its kind, its handle and its summary. Null for a null pointer.
    pub(super) fn reference(&self, kind: HandleKind, addr: TargetAddr) -> Value {
        if addr.is_null() {
            return Value::Null;
        }
        let handle = self.of_library(|| self.describe(kind, addr.get(), Depth::Short));
        json!({ "kind": kind.word(), "handle": handle.handle, "summary": handle.summary })
    }

    /// The communicator at `addr` as summaries name it: `on "halo"`, `on MPI_COMM_WORLD`.
    pub(super) fn on(&self, addr: TargetAddr) -> String {
        if addr.is_null() {
            return "on no communicator".to_owned();
        }
        let Handle { state, summary, .. } = self.describe(HandleKind::Comm, addr.get(), Depth::Short);
        // What is wrong with it has a line of its own.
        if !matches!(state, HandleState::Live | HandleState::Null) {
            return format!("on an unknown communicator ({addr})");
        }
        // What follows the name is this process's place in it.
        let place = summary.rfind(", rank ").or_else(|| summary.find(" others").and(summary.rfind(", ")));
        format!("on {}", &summary[..place.unwrap_or(summary.len())])
    }

    /// Adds the fact `name`: references to the objects of which a member points to `wanted`. Each member is named with
    /// its kind; a release that lacks one has no such objects.
    pub(super) fn referrers(
        &self,
        name: &str,
        members: &[(HandleKind, &'static str)],
        wanted: TargetAddr,
        handle: &mut Handle,
    ) {
        let mut found: Vec<(HandleKind, TargetAddr)> = Vec::new();
        let mut reasons = Vec::new();
        for &(kind, member) in members {
            let known = self.pointing(kind, member);
            let more = known.by_target.get(&wanted).into_iter().flatten().map(|addr| (kind, *addr));
            found.extend(more);
            reasons
                .extend(known.reason.iter().filter(|reason| !reasons.contains(*reason)).cloned().collect::<Vec<_>>());
        }
        let mut seen = HashSet::new();
        found.retain(|one| seen.insert(*one));
        found.sort_by_key(|(kind, _)| *kind);
        // What is not known is no empty list.
        if found.is_empty() && !reasons.is_empty() {
            handle.unknown(name, reasons.join("; "));
            return;
        }
        for reason in reasons {
            add_problem(&mut handle.problems, format!("there may be more {name}: {reason}"));
        }
        self.add_references(name, &found, handle);
    }

    /// Adds the fact `name`: references to these objects, of many to the first, with their number beside.
    pub(super) fn add_references(&self, name: &str, found: &[(HandleKind, TargetAddr)], handle: &mut Handle) {
        let shown = found.iter().take(MAX_REFERENCES);
        handle.fact(name, shown.map(|(kind, addr)| self.reference(*kind, *addr)).collect::<Vec<_>>());
        if found.len() > MAX_REFERENCES {
            handle.fact(&format!("{name}_total"), found.len());
        }
    }

    /// A reference to an object of which a member points to `wanted`, null where none is known.
    pub(super) fn first_referrer(&self, members: &[(HandleKind, &'static str)], wanted: TargetAddr) -> Value {
        let first = |(kind, member): &(HandleKind, &'static str)| {
            Some((*kind, *self.pointing(*kind, member).by_target.get(&wanted)?.first()?))
        };
        let found = members.iter().find_map(first);
        found.map_or(Value::Null, |(kind, addr)| self.reference(kind, addr))
    }

    /// The objects of a kind with what their member points to.
    pub(super) fn pointers(&self, kind: HandleKind, member: &'static str) -> Vec<(TargetAddr, TargetAddr)> {
        let known = self.pointing(kind, member);
        let pairs = known.by_target.iter().flat_map(|(target, from)| from.iter().map(|addr| (*addr, *target)));
        let mut pairs: Vec<_> = pairs.collect();
        pairs.sort_unstable();
        pairs
    }

    fn pointing(&self, kind: HandleKind, member: &'static str) -> Rc<Known> {
        if let Some(known) = self.referrers.0.borrow().get(&(kind, member)) {
            return Rc::clone(known);
        }
        let known = Rc::new(self.find_pointing(kind, member));
        self.referrers.0.borrow_mut().insert((kind, member), Rc::clone(&known));
        known
    }

    /// The member of an object; without one, the communicator that the component of a window or file has.
    fn pointer(&self, kind: HandleKind, addr: TargetAddr, slot: Option<Slot>) -> Result<TargetAddr, ReaderError> {
        match slot {
            Some(slot) => Ok(self.target.read_pointer(addr.wrapping_add(slot.offset as u64))?),
            None if kind == HandleKind::File => file::duplicate(self, addr),
            None => window::communicator(self, addr),
        }
    }

    fn is_inter(&self, comm: TargetAddr) -> bool {
        let Slot { offset, size, .. } = self.shapes.communicator.flags;
        let flags = self.target.read_uint(comm.wrapping_add(offset as u64), size as u64);
        flags.is_ok_and(|flags| flags & self.shapes.constants.comm_inter != 0)
    }

    fn find_pointing(&self, kind: HandleKind, member: &str) -> Known {
        let mut known = Known::default();
        let Some(place) = kinds::of(kind) else { return known };
        let slot = match Slot::probe(self.layouts, place.type_name, member) {
            Ok(Some(slot)) => Some(slot),
            Ok(None) if [FILE_COMM, WIN_COMM].contains(&(kind, member)) => None,
            // Members are probed, never versions: what this release lacks, none of its objects has.
            Ok(None) => return known,
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
