//! What calls wait for that were given requests.

use super::point_to_point::NOT_COUNTED;
use super::{Context, Need, Op, Posted, Wait};
use functions::{WaitKind, wait_kind};
use model::{Call, CallRequest, Communicator, Remark, RequestSort, RequestState, SourceKind};

const NO_REQUEST: &str = "the request of the call was not found among the pending ones";
const FREED: &str = "a request that the call waits for was freed";
pub(super) const REUSED: &str = "the library may use the memory of a freed request for another one";
const INCOMPLETE: &str = "which requests the call waits for is not known";

impl<'a> Context<'a, '_> {
    /// MPI_Wait, MPI_Waitall (`all`), MPI_Waitany, MPI_Waitsome.
    pub(super) fn wait(&self, call: &'a Call, all: bool) -> Wait<'a> {
        if call.requests.is_empty() {
            return self.wait_for_something(all);
        }
        let states = || call.requests.iter().map(|request| request.state);
        if !all && states().any(|state| state == RequestState::Complete) {
            return Wait::only(Need::Nothing);
        }
        let mut parts = Vec::new();
        for request in &call.requests {
            match request.state {
                RequestState::Open => {
                    let op = request.handle.and_then(|handle| self.open.request(handle.0));
                    parts.push(op.map_or_else(|| self.without_operation(call, request), |op| self.operation(op)));
                }
                RequestState::Freed => {
                    let never = Need::Never(FREED);
                    parts.push(Wait::only(Need::Doubted(Box::new(never), REUSED)));
                }
                RequestState::Unknown | RequestState::Invalid => parts.push(Wait::only(Need::Unknown(INCOMPLETE))),
                RequestState::Complete | RequestState::Inactive | RequestState::Null => {}
            }
        }
        if parts.is_empty() {
            return Wait::only(Need::Nothing);
        }
        Wait::joined(parts, if all { Need::All } else { Need::Any })
    }

    /// An open request that is no send and no receive: that of a non-blocking collective, perhaps.
    fn without_operation(&self, call: &Call, request: &CallRequest) -> Wait<'a> {
        let place = request.communicator.and_then(|id| self.job.by_unique_id(self.proc.0, id));
        let numbered = |op: &Op<'a>| request.sequence.is_none() || op.operation.sequence() == request.sequence;
        let here = |op: &&Op<'a>| non_blocking(op) && place.is_none_or(|(_, place)| op.place == place) && numbered(op);
        let parts: Vec<Wait<'a>> = self.open.internal.iter().filter(here).map(|op| self.operation(*op)).collect();
        if !parts.is_empty() {
            // All messages of one collective must get through; of which one they are is not known without a number.
            return Wait::joined(parts, if request.sequence.is_some() { Need::All } else { Need::Unclear });
        }
        match place {
            // Nothing of it is pending here; without another member it goes no further.
            Some((shared, _)) if request.collective.is_some() => Wait {
                need: Need::AnyOf(shared, self.other_side(shared)),
                in_flight: Some(NOT_COUNTED),
                operations: Vec::new(),
            },
            // The queues do not hold it; the other side, whoever that is, or another thread of this one must go on.
            _ if request.sort == Some(RequestSort::Partitioned) => self.by_arguments(call, "", NOT_COUNTED),
            _ => Wait::only(Need::Unknown(NO_REQUEST)),
        }
    }

    /// Which requests it was given is not known: any of those that are open.
    fn wait_for_something(&self, all: bool) -> Wait<'a> {
        if !self.open.receives_whole || !self.open.sends_whole {
            return Wait::only(Need::Unknown(INCOMPLETE));
        }
        // A blocking call of another thread has posted what is named after it.
        let own = |op: &&Op<'a>| {
            let made = op.operation.call.as_deref();
            op.operation.persistent || made.is_none_or(|made| wait_kind(made) == WaitKind::Local)
        };
        let posted = self.open.receives.iter().chain(&self.open.sends).filter(own);
        let internal = self.open.internal.iter().filter(|op| non_blocking(op));
        let parts: Vec<Wait<'a>> = posted.chain(internal).map(|op| self.operation(*op)).collect();
        if parts.is_empty() {
            return Wait::only(Need::Unknown(INCOMPLETE));
        }
        let wait = Wait::joined(parts, if all { Need::Unclear } else { Need::Any });
        if self.shows_collectives() {
            return wait;
        }
        wait.doubted(INCOMPLETE)
    }

    /// Whether a non-blocking collective that has begun would be seen: a plug-in need not show any, nor a library that does not
    /// number them.
    fn shows_collectives(&self) -> bool {
        let is_plugin = self.process.source.as_ref().is_some_and(|source| source.kind == SourceKind::Plugin);
        let numbers = |one: &Communicator| one.next_sequence.is_some() || one.size == Some(1);
        !is_plugin && self.process.communicators.iter().all(numbers)
    }

    /// MPI_Buffer_detach: all messages in the buffer.
    pub(super) fn buffered(&self) -> Wait<'a> {
        let buffered = self.open.sends.iter().filter(|op| op.operation.system_buffer && op.queue == Posted::Sends);
        let parts: Vec<Wait<'a>> = buffered.map(|op| self.operation(*op)).collect();
        if parts.is_empty() { Wait::only(Need::Nothing) } else { Wait::joined(parts, Need::All) }
    }
}

/// Whether an internal operation may be one of a non-blocking collective: not where the library names a blocking one.
pub(super) fn non_blocking(op: &Op<'_>) -> bool {
    !op.operation.extra_text.iter().any(|remark| matches!(remark, Remark::Collective(Some(_))))
}
