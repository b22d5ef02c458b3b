//! What receives and sends wait for.

use super::traffic::WaitKind as Traffic;
use super::{Context, Need, Op, Own, Peer, Posted, Wait, peer};
use crate::job::{CommunicatorId, ProcIndex, Side};
use crate::matching::Outcome;
use model::{Call, OperationStatus, QueueKind, Remark};

pub(super) const NOT_COUNTED: &str =
    "this MPI library does not count messages, so one look cannot rule out that one is on its way";
const ON_ITS_WAY: &str = "the counters of the MPI library say that a message is on its way";
const HEADER_UNSEEN: &str = "the message was not seen at its receiver, which may just be taking it";
const QUEUE_UNREAD: &str = "the queue of posted operations could not be read";

impl<'a> Context<'a, '_> {
    /// MPI_Recv and what receives like it.
    pub(super) fn receive(&self, call: &'a Call) -> Wait<'a> {
        if peer(self.process, call.argument("source")) == Peer::Null {
            return Wait::only(Need::Nothing);
        }
        self.of_own(self.open.own(self.process, call, Posted::Receives), call, "source")
    }

    /// MPI_Send and what sends like it.
    pub(super) fn send(&self, call: &'a Call) -> Wait<'a> {
        if peer(self.process, call.argument("dest")) == Peer::Null {
            return Wait::only(Need::Nothing);
        }
        self.of_own(self.open.own(self.process, call, Posted::Sends), call, "dest")
    }

    /// MPI_Sendrecv: for both halves, of which one may be over. Then what is taken for it is of an earlier call.
    pub(super) fn exchange(&self, call: &'a Call) -> Wait<'a> {
        let halves = [(Posted::Receives, "source"), (Posted::Sends, "dest")].into_iter().filter_map(|(queue, name)| {
            let nobody = peer(self.process, call.argument(name)) == Peer::Null;
            let own = self.open.own(self.process, call, queue);
            (!nobody && !matches!(own, Own::None)).then_some((own, name))
        });
        let halves: Vec<(Own<'a>, &str)> = halves.collect();
        let join = if halves.iter().any(|(own, _)| matches!(own, Own::Perhaps(_))) { Need::Unclear } else { Need::All };
        if halves.is_empty() {
            return Wait::only(Need::Nothing);
        }
        Wait::joined(halves.into_iter().map(|(own, name)| self.of_own(own, call, name)).collect(), join)
    }

    fn of_own(&self, own: Own<'a>, call: &'a Call, name: &str) -> Wait<'a> {
        match own {
            Own::One(op) => self.operation(op),
            Own::Among(ops) | Own::Perhaps(ops) => {
                Wait::joined(ops.into_iter().map(|op| self.operation(op)).collect(), Need::Unclear)
            }
            Own::Doubtful(ops, why) => {
                Wait::joined(ops.into_iter().map(|op| self.operation(op)).collect(), Need::Unclear).doubted(why)
            }
            Own::None => Wait::only(Need::Nothing),
            Own::Hidden => self.by_arguments(call, name, QUEUE_UNREAD),
        }
    }

    /// What a call waits for by its arguments alone.
    pub(super) fn by_arguments(&self, call: &Call, name: &str, unsure: &'static str) -> Wait<'a> {
        let communicators = super::posted::communicators(self.process, call);
        let needs = communicators.iter().filter_map(|(place, _)| {
            let shared = self.job.communicator(self.proc.0, *place)?;
            let side = self.other_side(shared);
            match peer(self.process, call.argument(name)) {
                Peer::Rank(rank) if call.communicator.is_some() => {
                    self.job.communicators.get(shared.0)?.member(side, rank).map(Need::Proc)
                }
                Peer::Null => Some(Need::Nothing),
                _ => Some(Need::AnyOf(shared, side)),
            }
        });
        let needs: Vec<Need> = needs.collect();
        if needs.is_empty() {
            return Wait::only(Need::Unknown("neither the queues nor the arguments say what the call waits for"));
        }
        Wait { need: Need::Any(needs), in_flight: Some(unsure), operations: Vec::new() }
    }

    /// The group in which the peers of the application's operations are.
    pub(super) fn other_side(&self, shared: CommunicatorId) -> Side {
        let Some(shared) = self.job.communicators.get(shared.0) else { return Side::First };
        shared.view(self.proc).map_or(Side::First, |view| shared.peers(view.side))
    }

    /// What must happen before an operation completes.
    pub(super) fn operation(&self, op: Op<'a>) -> Wait<'a> {
        let (need, in_flight) = match (op.operation.status, op.queue) {
            (OperationStatus::Complete, _) => (Need::Nothing, None),
            (OperationStatus::Matched, _) => (self.moving(self.peer_of(&op)), None),
            (OperationStatus::Pending | OperationStatus::InTransit, _) => self.pending(&op),
        };
        Wait { need, in_flight, operations: vec![op] }
    }

    fn pending(&self, op: &Op<'a>) -> (Need, Option<&'static str>) {
        let unmatched = || match op.queue {
            Posted::Receives => self.pending_receive(op),
            Posted::Sends => self.pending_send(op),
        };
        let Some(entry) = self.matching.at(op.matched_at()) else { return unmatched() };
        match entry.outcome {
            Outcome::Over => (Need::Nothing, None),
            Outcome::Moving => (self.moving(self.peer_of(op)), None),
            Outcome::Pair(other) => {
                let other = self.matching.entry(other).map(|other| match other.place.queue {
                    // What has arrived has left its sender.
                    QueueKind::UnexpectedMessages => self.proc,
                    _ => other.place.proc,
                });
                (self.moving(other), None)
            }
            Outcome::Unmatched => unmatched(),
            Outcome::Contested | Outcome::Unclear(_) => {
                let (need, in_flight) = unmatched();
                (Need::Unclear(vec![Need::Nothing, need]), in_flight)
            }
        }
    }

    fn pending_receive(&self, op: &Op<'a>) -> (Need, Option<&'static str>) {
        let (need, wait_kind) = if op.operation.any_source {
            let need = Need::AnyOf(op.shared, self.other_side(op.shared));
            (need, self.traffic.to(op.shared, self.proc))
        } else {
            match self.peer_of(op) {
                Some(sender) => (Need::Proc(sender), self.traffic.between(self.job, op.shared, sender, self.proc)),
                None => return (Need::Unknown("which rank the call receives from is not known"), None),
            }
        };
        match wait_kind {
            Traffic::Quiet => (need, None),
            Traffic::Coming => (Need::Unclear(vec![Need::Nothing, need]), Some(ON_ITS_WAY)),
            Traffic::Unknown => (need, Some(NOT_COUNTED)),
        }
    }

    fn pending_send(&self, op: &Op<'a>) -> (Need, Option<&'static str>) {
        let Some(receiver) = self.peer_of(op) else {
            if op.operation.internal {
                return (Need::Unknown("which rank the call sends to is not known"), None);
            }
            // Whoever it is, it is a member.
            return (Need::AnyOf(op.shared, self.other_side(op.shared)), Some(HEADER_UNSEEN));
        };
        if op.operation.has(&Remark::WaitsForRoom) {
            return (self.moving(Some(receiver)), None);
        }
        // What was not seen at the receiver was perhaps just received, and the answer is on its way.
        let seen = self.matching.at(op.matched_at()).is_some_and(|entry| entry.same.is_some());
        (Need::Proc(receiver), (!seen).then_some(HEADER_UNSEEN))
    }

    /// Both sides are there: the data moves while both are in MPI.
    pub(super) fn moving(&self, other: Option<ProcIndex>) -> Need {
        match other {
            Some(other) if !self.inside.get(other.0).copied().unwrap_or(true) => Need::Proc(other),
            _ => Need::Nothing,
        }
    }

    /// The process at the other end.
    pub(super) fn peer_of(&self, op: &Op<'_>) -> Option<ProcIndex> {
        let operation = op.operation;
        if let Some(proc) = op.global_rank().and_then(|rank| self.job.proc(rank)) {
            return Some(proc);
        }
        if operation.internal {
            // Ranks may be those of a communicator below.
            return None;
        }
        let local = operation.actual_local_rank.or(operation.desired_local_rank)?;
        self.job.communicators.get(op.shared.0)?.member(self.other_side(op.shared), local)
    }
}
