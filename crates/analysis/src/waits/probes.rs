//! What MPI_Probe and MPI_Mprobe wait for.

use super::point_to_point::NOT_COUNTED;
use super::traffic::WaitKind as Traffic;
use super::{Context, Need, Own, Peer, Posted, Wait, peer};
use model::{Call, Operation};

impl<'a> Context<'a, '_> {
    /// A probe that is still there, as an operation (Open MPI) or by its arguments (MPICH polls, and posts nothing).
    pub(super) fn probe(&self, call: &'a Call) -> Wait<'a> {
        if peer(self.process, call.argument("source")) == Peer::Null {
            return Wait::only(Need::Nothing);
        }
        let c_name = call.c_name();
        let posted = self.open.receives.iter().any(|op| op.operation.call.as_deref() == Some(&*c_name));
        if posted && let Own::One(op) = self.open.own(self.process, call, Posted::Receives) {
            return self.operation(op);
        }
        if self.message_is_there(call) {
            return Wait::only(Need::Nothing);
        }
        let quiet = super::posted::communicators(self.process, call).iter().all(|(place, _)| {
            let shared = self.job.communicator(self.proc.0, *place);
            shared.is_some_and(|shared| self.traffic.to(shared, self.proc) == Traffic::Quiet)
        });
        let mut wait = self.by_arguments(call, "source", NOT_COUNTED);
        if quiet {
            wait.in_flight = None;
        }
        wait
    }

    /// Whether a message that the probe may be after has arrived.
    fn message_is_there(&self, call: &Call) -> bool {
        let source = peer(self.process, call.argument("source"));
        let tag = call.argument("tag").and_then(|tag| tag.value).filter(|tag| *tag >= 0);
        let fits = |message: &Operation| {
            let rank = message.actual_local_rank.or(message.desired_local_rank);
            let sent = message.actual_tag.or(message.desired_tag);
            let from = match source {
                Peer::Rank(wanted) => rank.is_none_or(|rank| rank == wanted),
                _ => true,
            };
            !message.internal && from && tag.is_none_or(|tag| sent.is_none_or(|sent| sent == tag))
        };
        super::posted::communicators(self.process, call)
            .iter()
            .any(|(_, communicator)| communicator.unexpected_messages.operations.iter().any(fits))
    }
}
