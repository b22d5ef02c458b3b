//! What one way of moving messages knows of requests.

use super::communicators::Communicators;
use super::datatypes::Datatypes;
use super::requests::Request;
use crate::ReaderError;
use model::{Operation, QueueKind};
use target::Target;

/// An operation and where it belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// The communicator, by its place in [`Communicators::found`].
    pub comm: usize,
    /// Which of its queues.
    pub queue: QueueKind,
    /// Operations of one queue are listed by this, ascending, those of equal order as they were found.
    pub order: u64,
    /// Its facts, without world ranks.
    pub operation: Operation,
}

/// What transports may ask.
pub struct Around<'a> {
    /// The process.
    pub target: &'a dyn Target,
    /// All communicators, to be found by context id or address.
    pub communicators: &'a Communicators,
    /// Names and sizes of datatypes.
    pub datatypes: Datatypes<'a>,
}

/// What a transport says of a queue that only it knows.
#[derive(Debug, Clone, Default)]
pub struct Unexpected {
    /// The messages, in matching order.
    pub messages: Vec<Decoded>,
    /// Why there may be more; `None` where these are all.
    pub incomplete: Option<String>,
    /// Why there may be more in transit.
    pub in_transit: Option<String>,
}

/// A network whose requests MPICH leaves to the network's library (`MPIDI_NM`, src/mpid/ch4/netmod).
pub trait Transport {
    /// What a request is that is not an active message's. `operation` has what every request tells: its address, whether it is
    /// complete. `None` where nothing at all can be said of it, not even the communicator.
    fn decode(&mut self, request: &Request<'_>, operation: Operation, around: &mut Around<'_>) -> Option<Decoded>;

    /// Whether a request of a matching probe is that of an attempt that has found no message yet: it is no operation.
    fn is_searching(&self, _request: &Request<'_>) -> bool {
        false
    }

    /// The context of a request that was not decoded because no communicator of this process has it: it was posted on one
    /// that has been freed since. `None` where the context is not known either.
    fn abandoned(&self, _request: &Request<'_>, _around: &Around<'_>) -> Option<u64> {
        None
    }

    /// The messages that have arrived and that only the network knows.
    ///
    /// # Errors
    /// Where the process is gone.
    fn unexpected(&mut self, around: &mut Around<'_>) -> Result<Unexpected, ReaderError>;
}

/// A network that is not read: its requests are listed with what MPICH's own part says.
#[derive(Debug)]
pub struct NotRead {
    /// Such as `UCX`.
    pub network: String,
}

impl Transport for NotRead {
    fn decode(&mut self, request: &Request<'_>, mut operation: Operation, _: &mut Around<'_>) -> Option<Decoded> {
        use super::requests::Kind;
        let queue = match request.kind {
            Kind::Send => QueueKind::PendingSends,
            Kind::Receive => QueueKind::PendingReceives,
            _ => return None,
        };
        let reason = format!("only {} knows it, which is not read", self.network);
        for fact in ["desired_local_rank", "desired_tag", "desired_length", "buffer", "datatype", "count"] {
            operation.not_known(fact, reason.clone());
        }
        Some(Decoded { comm: request.comm?, queue, order: u64::MAX, operation })
    }

    fn unexpected(&mut self, _: &mut Around<'_>) -> Result<Unexpected, ReaderError> {
        let incomplete = format!("messages that only {} knows are not read", self.network);
        Ok(Unexpected { incomplete: Some(incomplete), ..Unexpected::default() })
    }
}
