//! What a request of UCX is of.

use super::decoder::Decoder;
use crate::record::Record;
use crate::ucx::Flags;

/// Operations of messages by the protocols of newer releases: the lowest bits of what the protocol was chosen for
/// (UCP_OP_ID_TAG_SEND, UCP_OP_ID_TAG_SEND_SYNC; src/ucp/core/ucp_types.h, src/ucp/proto/proto_select.h, v1.13 to v1.20).
const OPERATION: u64 = 0xf;
const TAG_SEND: u64 = 0;
const TAG_SEND_SYNC: u64 = 1;

/// What a request is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// A receive.
    Receive,
    /// A send, and whether it is a synchronous one.
    Send(bool),
}

impl Decoder<'_> {
    /// What a request is of; `None` for one that UCX made for itself, or of no message.
    pub fn role(&mut self, flags: Flags, record: &Record<'_>) -> Option<Role> {
        if flags.receives() {
            return Some(Role::Receive);
        }
        if flags.sends() {
            return Some(Role::Send(flags.synchronous()));
        }
        if !flags.by_protocol() {
            return None;
        }
        let layout = &self.workers.layout;
        let at = record.pointer(layout.request.protocol?);
        let slot = layout.protocol.as_ref()?.operation;
        let target = self.target;
        let read = || slot.read_uint(target, at).ok();
        match *self.protocols.entry(at).or_insert_with(read) {
            Some(operation) if operation & OPERATION == TAG_SEND => Some(Role::Send(false)),
            Some(operation) if operation & OPERATION == TAG_SEND_SYNC => Some(Role::Send(true)),
            _ => None,
        }
    }
}
