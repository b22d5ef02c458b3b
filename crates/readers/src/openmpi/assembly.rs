//! The operations of a process on their way into the queues of their communicators, for every pml.
//!
//! A pml decodes each request once, where it meets it. The operations are counted and sorted by communicator, and put into its
//! queues when all of them are known, with what is to be said of these.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use super::communicators::{Communicators, Found};
use super::detect::required;
use super::groups::Groups;
use super::pool;
use super::queues::{adopt_strangers, append_all_internal, cut, fail, named};
use super::shapes::{PoolShapes, Shapes};
use crate::queues::{MAX_OPERATIONS, of_no_communicator};
use crate::record::Record;
use crate::{ReaderError, add_problem};
use model::{Operation, QueueKind};
use target::Target;
use target::address::TargetAddr;

/// The queues that requests are in.
pub const OF_REQUESTS: [QueueKind; 2] = [QueueKind::PendingSends, QueueKind::PendingReceives];

/// What a pml has in Open MPI's pools of requests.
pub trait Requests {
    /// What it makes of one.
    type Decoded;

    /// The least size of a request in the pool of a queue.
    fn size(&self, queue: QueueKind) -> usize;

    /// What a persistent request that is not active would start; `None` for any other.
    fn inactive(&mut self, record: &Record<'_>) -> Option<Self::Decoded>;

    /// What is going on; `None` for a request that is not in use.
    fn active(&mut self, queue: QueueKind, record: &Record<'_>) -> Option<Self::Decoded>;

    /// How many requests were in a state that does not exist since this was asked for the last time.
    fn take_impossible(&mut self) -> u64;
}

/// What was decoded of one communicator.
pub struct Operations<D> {
    /// Sends.
    pub sends: Vec<D>,
    /// Receives.
    pub receives: Vec<D>,
    /// Persistent ones that are not started.
    pub inactive: Vec<D>,
}

impl<D> Default for Operations<D> {
    fn default() -> Self {
        Self { sends: Vec::new(), receives: Vec::new(), inactive: Vec::new() }
    }
}

impl<D> Operations<D> {
    /// Those of a queue.
    pub fn of(&mut self, queue: QueueKind) -> &mut Vec<D> {
        if queue == QueueKind::PendingSends { &mut self.sends } else { &mut self.receives }
    }
}

/// All operations that were decoded.
pub struct Assembly<C, D> {
    /// How many more may be read.
    pub room: usize,
    /// What names the communicator of one.
    comm: fn(&D) -> C,
    by_comm: HashMap<C, Operations<D>>,
    /// Why there may be more.
    problems: HashMap<QueueKind, String>,
    /// How many are in no queue.
    dropped: HashMap<QueueKind, u64>,
}

impl<C: Eq + Hash, D> Assembly<C, D> {
    /// None yet; `comm` says what names the communicator of one.
    pub fn new(comm: fn(&D) -> C) -> Self {
        let (by_comm, problems, dropped) = Default::default();
        Self { room: MAX_OPERATIONS, comm, by_comm, problems, dropped }
    }

    /// Adds operations that were counted to one of the lists of their communicators.
    pub fn extend(&mut self, all: impl IntoIterator<Item = D>, list: impl Fn(&mut Operations<D>) -> &mut Vec<D>) {
        all.into_iter().for_each(|decoded| list(self.of(&decoded)).push(decoded));
    }

    /// Adds an operation to one of the lists of its communicator if there is room for it; false where there is none.
    pub fn keep(&mut self, decoded: Option<D>, list: impl FnOnce(&mut Operations<D>) -> &mut Vec<D>) -> bool {
        let Some(decoded) = decoded else { return true };
        if self.room == 0 {
            return false;
        }
        self.room -= 1;
        list(self.of(&decoded)).push(decoded);
        true
    }

    fn of(&mut self, decoded: &D) -> &mut Operations<D> {
        self.by_comm.entry((self.comm)(decoded)).or_default()
    }

    /// Says why queues may have more.
    pub fn lack(&mut self, queues: &[QueueKind], problem: &str) {
        for queue in queues {
            self.problems.entry(*queue).or_insert_with(|| problem.to_owned());
        }
    }

    /// Says it of the process, too.
    pub fn fail(&mut self, queues: &[QueueKind], problem: String, communicators: &mut Communicators) {
        self.lack(queues, &problem);
        add_problem(&mut communicators.problems, problem);
    }

    /// Notes that requests are in no queue.
    pub fn lose(&mut self, queues: &[QueueKind], count: u64) {
        for queue in queues {
            *self.dropped.entry(*queue).or_default() += count;
        }
    }

    /// Takes those of a communicator.
    pub fn take(&mut self, comm: C) -> Operations<D> {
        self.by_comm.remove(&comm).unwrap_or_default()
    }

    /// Puts the operations of a communicator into its queues. `operation` makes one of what was decoded, and is told whether it is
    /// a send that was started.
    pub fn fill(&self, found: &mut Found, all: Operations<D>, operation: impl Fn(D, &Found, bool) -> Operation) {
        let finish = |decoded: Vec<D>, found: &Found, sends: bool| -> Vec<Operation> {
            decoded.into_iter().map(|decoded| named(operation(decoded, found, sends), found)).collect()
        };
        let Operations { sends, receives, inactive } = all;
        for (kind, decoded) in OF_REQUESTS.into_iter().zip([sends, receives]) {
            let operations = finish(decoded, found, kind == QueueKind::PendingSends);
            let queue = kind.of_mut(&mut found.facts);
            (queue.operations, queue.dropped) = (operations, self.dropped.get(&kind).copied().unwrap_or_default());
            fail(queue, self.problems.get(&kind).map(String::as_str));
        }
        found.facts.inactive = finish(inactive, found, false).into();
    }

    /// Ends the queues of all communicators, which are filled.
    pub fn end(&self, communicators: &mut Communicators) {
        if self.room == 0 {
            cut(communicators);
        }
        append_all_internal(communicators);
    }
}

impl<D> Assembly<TargetAddr, D> {
    /// Reads Open MPI's pools of requests.
    ///
    /// # Errors
    /// Where the library has none; damage further on is told in the queues.
    pub fn read_pools(
        &mut self,
        target: &dyn Target,
        shapes: &Shapes,
        pools: &PoolShapes,
        requests: &mut impl Requests<Decoded = D>,
        communicators: &mut Communicators,
    ) -> Result<(), ReaderError> {
        for (queue, symbol) in OF_REQUESTS.into_iter().zip(["mca_pml_base_send_requests", "mca_pml_base_recv_requests"])
        {
            let at = required(target, symbol)?.addr;
            let walked = pool::walk(target, shapes, pools, at, requests.size(queue), |record| {
                self.keep(requests.inactive(&record), |all| &mut all.inactive)
                    && self.keep(requests.active(queue, &record), |all| all.of(queue))
            });
            let mut found = walked.unwrap_or_else(|error| vec![error.to_string()]);
            let impossible = requests.take_impossible();
            if impossible > 0 {
                found.push(format!("{impossible} requests are in a state that does not exist: memory is damaged"));
            }
            self.lose(&[queue], impossible);
            found.into_iter().for_each(|problem| self.fail(&[queue], problem, communicators));
        }
        Ok(())
    }

    /// Finds the communicators that requests name and the library's table does not. What is then of none is lost.
    pub fn adopt(
        &mut self,
        target: &dyn Target,
        shapes: &Shapes,
        groups: &Groups<'_>,
        communicators: &mut Communicators,
    ) {
        adopt_strangers(target, shapes, groups, communicators, self.by_comm.keys().copied());
        let known: HashSet<TargetAddr> = communicators.found.iter().map(|found| found.addr).collect();
        let (mut sends, mut receives) = (0, 0);
        for (_, lost) in self.by_comm.iter().filter(|(comm, _)| !known.contains(comm)) {
            sends += lost.sends.len() as u64;
            receives += lost.receives.len() as u64;
        }
        for (queue, lost) in OF_REQUESTS.into_iter().zip([sends, receives]).filter(|(_, lost)| *lost > 0) {
            self.lose(&[queue], lost);
            self.fail(&[queue], of_no_communicator(lost), communicators);
        }
    }
}
