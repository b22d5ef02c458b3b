//! Messages that libfabric has and that nobody has asked for.

use super::Ofi;
use crate::libfabric::Message;
use crate::mpich::transport::{Around, Decoded};
use model::{Operation, QueueKind};
use target::Reason;

const OF_MESSAGE: &str =
    "on libfabric's list of messages that no receive has matched; its tag has the context of the communicator";

impl Ofi<'_> {
    /// A message that nobody has asked for, where it is one of the application's or of a collective.
    pub(super) fn arrived(
        &self,
        message: &Message,
        order: u64,
        around: &Around<'_>,
    ) -> Result<Option<Decoded>, Reason> {
        let Some((network, bits)) = self.network.as_ref().and_then(|network| Some((network, network.bits?))) else {
            return Ok(None);
        };
        if bits.is_own(message.tag) || message.claimed.is_some() {
            return Ok(None);
        }
        let context = bits.context(message.tag);
        let Some((comm, collective)) = around.communicators.receiving(context) else {
            let text = format!("a message has the context {context}, which no communicator here receives");
            return Err(Reason::new(text));
        };
        let Some(found) = around.communicators.found.get(comm) else { return Ok(None) };
        let by_address = || found.local_rank(network.addresses.of(message.source?)?);
        let rank = bits.sender(message.tag, message.data).or_else(by_address);
        let length = (!bits.is_announced(message.tag)).then_some(message.length);
        let tag = Some(bits.tag(message.tag));
        let mut operation = Operation {
            desired_local_rank: rank,
            desired_tag: tag,
            desired_length: length,
            actual_local_rank: rank,
            actual_tag: tag,
            actual_length: length,
            system_buffer: true,
            internal: collective,
            sender_request: message.number.and_then(|number| number.request(around.communicators.own_rank())),
            evidence: Some(OF_MESSAGE.into()),
            ..Operation::default()
        };
        operation.not_known("buffer", "it is in libfabric's own memory, perhaps not whole");
        if rank.is_none() {
            for fact in ["desired_local_rank", "desired_global_rank"] {
                operation.not_known(fact, "libfabric does not say which process sent it");
            }
        }
        if length.is_none() {
            operation.not_known("desired_length", "only the announcement of the message has come");
        }
        Ok(Some(Decoded { comm, queue: QueueKind::UnexpectedMessages, order, operation }))
    }
}
