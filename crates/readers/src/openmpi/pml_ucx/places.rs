//! Which communicator an operation belongs to, by what UCX matches it by, and to which of its ranks a connection leads.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::tag;
use crate::openmpi::communicators::{Communicators, Found};
use crate::openmpi::groups::Groups;
use crate::record::Slot;
use crate::ucx::Workers;
use target::address::TargetAddr;
use target::{Target, zeroed};

/// A communicator, as far as it is needed.
struct Place {
    own_rank: Option<i64>,
    /// How many processes operations can name, where that is known.
    peers: Option<i64>,
    peer_group: TargetAddr,
    topology: bool,
}

/// All communicators of a process.
pub struct Places {
    all: Vec<Place>,
    by_context: HashMap<u64, usize>,
}

impl Places {
    /// Those that were found. Of several with one number, which no process has, the first counts.
    pub fn new(communicators: &Communicators) -> Self {
        let place = |found: &Found| Place {
            own_rank: found.facts.local_rank,
            peers: found.peers.as_ref().map(|peers| peers.len() as i64),
            peer_group: found.peer_group,
            topology: found.topology,
        };
        let mut by_context = HashMap::new();
        for (index, found) in communicators.found.iter().enumerate() {
            if let Some(context) = tag::context_of(found.facts.unique_id) {
                by_context.entry(context).or_insert(index);
            }
        }
        Self { all: communicators.found.iter().map(place).collect(), by_context }
    }

    /// Whether a communicator has that number.
    pub fn knows(&self, context: u64) -> bool {
        self.by_context.contains_key(&context)
    }

    /// Whether a communicator, by its place, has a topology.
    pub fn has_topology(&self, comm: usize) -> bool {
        self.all.get(comm).is_some_and(|place| place.topology)
    }

    fn of(&self, word: u64) -> Option<(usize, &Place)> {
        let index = *self.by_context.get(&tag::context(word))?;
        Some((index, self.all.get(index)?))
    }

    /// That of a message which this process gets, if everything fits.
    pub fn arrived(&self, word: u64) -> Option<usize> {
        let (index, place) = self.of(word)?;
        place.peers.is_none_or(|peers| tag::rank(word) < peers).then_some(index)
    }

    /// That of a receive, and what it leaves open, if everything fits.
    pub fn receives(&self, word: u64, mask: u64) -> Option<(usize, tag::Open)> {
        let open = tag::open(mask)?;
        let (index, place) = self.of(word)?;
        let source = open.any_source || place.peers.is_none_or(|peers| tag::rank(word) < peers);
        (source && (!open.any_tag || tag::tag(word) == 0)).then_some((index, open))
    }

    /// That of a message which this process sends, if everything fits.
    pub fn sends(&self, word: u64) -> Option<usize> {
        let (index, place) = self.of(word)?;
        place.own_rank.is_none_or(|own| own == tag::rank(word)).then_some(index)
    }
}

/// The ranks that connections lead to: each process has its own (`proc_endpoints`, open-mpi/ompi, ompi/proc/proc.h; which of them is
/// the pml's depends on the build, so it is known by its worker).
pub struct Endpoints<'a> {
    target: &'a dyn Target,
    slot: Slot,
    workers: &'a Workers,
    groups: &'a Groups<'a>,
    by_group: RefCell<HashMap<TargetAddr, Rc<HashMap<TargetAddr, i64>>>>,
}

impl<'a> Endpoints<'a> {
    /// None is read yet; `slot`: where a process has its connections.
    pub fn new(target: &'a dyn Target, slot: Slot, workers: &'a Workers, groups: &'a Groups<'a>) -> Self {
        Self { target, slot, workers, groups, by_group: RefCell::default() }
    }

    /// Whether a connection is one of the pml's worker.
    pub fn is_ours(&self, endpoint: TargetAddr) -> bool {
        let slot = self.workers.layout.endpoint.worker;
        let worker = || slot.read_pointer(self.target, endpoint);
        !endpoint.is_null() && worker().is_ok_and(|worker| self.workers.at.contains(&worker))
    }

    /// The rank among those that operations on a communicator name.
    pub fn rank(&self, places: &Places, comm: usize, endpoint: TargetAddr) -> Option<i64> {
        let group = places.all.get(comm)?.peer_group;
        let known = self.by_group.borrow().get(&group).cloned();
        let known = known.unwrap_or_else(|| {
            let read = Rc::new(self.read(group).unwrap_or_default());
            self.by_group.borrow_mut().insert(group, Rc::clone(&read));
            read
        });
        known.get(&endpoint).copied()
    }

    fn read(&self, group: TargetAddr) -> Option<HashMap<TargetAddr, i64>> {
        let mut ranks = HashMap::new();
        let width = usize::try_from(self.target.abi().pointer_width.bytes()).ok()?;
        let mut row = zeroed(self.slot.size).ok()?;
        for (rank, process) in (0..).zip(self.groups.processes(group).ok()?) {
            if process.is_null() || self.target.read(self.slot.address_in(process), &mut row).is_err() {
                continue;
            }
            for bytes in row.chunks_exact(width) {
                let endpoint = TargetAddr::new(self.target.abi().uint(bytes));
                if self.is_ours(endpoint) {
                    ranks.entry(endpoint).or_insert(rank);
                }
            }
        }
        Some(ranks)
    }
}
