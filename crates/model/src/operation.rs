//! One operation in a message queue, and the queue.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::common::{Common, Usual};
use crate::process::Communicator;
use crate::remark::Remark;
use crate::source_call::StartedBy;
use crate::text::Text;
use crate::unknown::Unknown;

/// How far an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OperationStatus {
    /// Not matched with a peer's operation yet.
    #[default]
    Pending,
    /// A message that was sent and lies in memory that both processes share; the receiver's library has not taken it out
    /// yet, which it does in its next call that looks for messages.
    InTransit,
    /// Matched, data still moving.
    Matched,
    /// Done; the application has not waited for it yet.
    Complete,
}

impl OperationStatus {
    /// For people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InTransit => "in transit",
            Self::Matched => "matched",
            Self::Complete => "complete",
        }
    }
}

/// One of the three queues of a communicator. The numbers and the order are those of `mqs_op_class`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum QueueKind {
    /// Sends that are not complete, or complete and not waited for.
    PendingSends = 0,
    /// Receives that are not complete, or complete and not waited for.
    PendingReceives = 1,
    /// Messages that have arrived and that no receive has taken, and after them those in transit.
    UnexpectedMessages = 2,
}

impl QueueKind {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::PendingSends, Self::PendingReceives, Self::UnexpectedMessages];

    /// For people.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PendingSends => "pending sends",
            Self::PendingReceives => "pending receives",
            Self::UnexpectedMessages => "unexpected messages",
        }
    }

    /// The queue of a communicator.
    pub fn of(self, communicator: &Communicator) -> &Queue {
        match self {
            Self::PendingSends => &communicator.pending_sends,
            Self::PendingReceives => &communicator.pending_receives,
            Self::UnexpectedMessages => &communicator.unexpected_messages,
        }
    }

    /// The same, to be changed.
    pub fn of_mut(self, communicator: &mut Communicator) -> &mut Queue {
        match self {
            Self::PendingSends => &mut communicator.pending_sends,
            Self::PendingReceives => &mut communicator.pending_receives,
            Self::UnexpectedMessages => &mut communicator.unexpected_messages,
        }
    }
}

/// What only readers ask for, and no JSON has: it makes no difference between two operations.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwritten<T>(pub T);

impl<T> PartialEq for Unwritten<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Unwritten<T> {}

/// A pending send, a pending receive or an unexpected message.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Operation {
    /// How far it is.
    pub status: OperationStatus,
    /// The peer's rank in the communicator; None for any source, or where it is not known.
    pub desired_local_rank: Option<i64>,
    /// The peer's rank in MPI_COMM_WORLD; None for any source, or where it is not known.
    pub desired_global_rank: Option<i64>,
    /// Whether a receive takes any source.
    pub any_source: bool,
    /// Whether a receive takes any tag.
    pub tag_wild: bool,
    /// The tag; None where it is wild or not known.
    pub desired_tag: Option<i64>,
    /// Length of the message, or of the buffer of a receive, in bytes.
    pub desired_length: Option<u64>,
    /// Whether the data lies in a buffer of the system: a buffered send's copy, an unexpected message.
    pub system_buffer: bool,
    /// Address of the data in the process.
    #[serde(with = "crate::hexadecimal::addresses")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub buffer: Option<u64>,
    /// Rank in the communicator of the peer that was matched (receives), or of the destination (sends).
    pub actual_local_rank: Option<i64>,
    /// The same peer's rank in MPI_COMM_WORLD.
    pub actual_global_rank: Option<i64>,
    /// The tag that was matched.
    pub actual_tag: Option<i64>,
    /// Length of the message that was matched, in bytes.
    pub actual_length: Option<u64>,
    /// Whether the MPI library posted it for itself, in a collective for instance.
    pub internal: bool,
    /// Whether it belongs to a persistent request.
    pub persistent: bool,
    /// The MPI function that made it, such as `MPI_Irecv`, where that is known.
    pub call: Option<Cow<'static, str>>,
    /// Name of the datatype, where it has one.
    pub datatype: Option<Text>,
    /// What the MPI library itself calls the datatype, for readers of its handles; not written down.
    #[serde(skip)]
    pub datatype_value: Unwritten<Option<u32>>,
    /// Number of elements of the datatype.
    pub count: Option<u64>,
    /// The C handle of the request; where handles are pointers the address of the MPI library's object.
    #[serde(with = "crate::hexadecimal::addresses")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub request: Option<u64>,
    /// Of a send that waits for its receiver: by which address or number the MPI library, or the network's below it, names the
    /// request in its messages; null where that is not known.
    #[serde(with = "crate::hexadecimal::addresses", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub library_request: Option<u64>,
    /// Of a message that has arrived and that its sender waits with: its sender's request, as `library_request` names it there;
    /// null where the message names none.
    #[serde(with = "crate::hexadecimal::addresses", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub sender_request: Option<u64>,
    /// As `CallRequest::started_by`; of an operation of a blocking call empty.
    #[serde(skip_serializing_if = "crate::process::is_none")]
    pub started_by: Common<Vec<StartedBy>>,
    /// Further facts; in words in the JSON.
    #[serde(deserialize_with = "crate::common::trimmed")]
    pub extra_text: Vec<Remark>,
    /// Why facts are None that this MPI or its transport does not keep, by their names.
    #[serde(skip_serializing_if = "Unknown::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, String>"))]
    pub unknown: Unknown,
    /// How the facts were found and checked, where they do not stand in a list of the library's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Cow<'static, str>>,
}

impl Operation {
    /// Whether that is remarked of it.
    pub fn has(&self, remark: &Remark) -> bool {
        self.extra_text.contains(remark)
    }

    /// The number of the non-blocking collective that the library posted it for (`CallRequest::sequence`), where it is known to
    /// be for one: Open MPI counts tags down from a negative one, MPICH up.
    pub fn sequence(&self) -> Option<i64> {
        let numbered =
            self.internal && self.extra_text.iter().any(|remark| matches!(remark, Remark::NumberedCollective(_)));
        self.actual_tag.or(self.desired_tag).filter(|_| numbered).map(i64::saturating_abs)
    }

    /// Notes why a fact is null. `fact` is the name of the field.
    pub fn not_known(&mut self, fact: &'static str, reason: impl Into<Cow<'static, str>>) {
        self.unknown.insert(Cow::Borrowed(fact), reason.into());
    }
}

/// Whether a queue could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum QueueState {
    /// It was read whole; an empty list means an empty queue.
    #[default]
    Ok,
    /// This MPI, transport or plug-in cannot tell; `detail` says why and what to do.
    NoInformation,
    /// Reading failed; what was read before is in the list, `detail` says what went wrong.
    Error,
}

/// One message queue of one communicator, in matching order, but for those that are `unordered`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Queue {
    /// Whether it could be read.
    pub state: QueueState,
    /// A sentence for any other state than ok.
    pub detail: Option<String>,
    /// What was read.
    #[serde(deserialize_with = "crate::common::trimmed")]
    pub operations: Vec<Operation>,
    /// How many of the operations stand in no known order among those of the same peer.
    #[serde(skip_serializing_if = "is_none_dropped")]
    pub unordered: u64,
    /// How many requests or entries were found of which it could not be told what they are, so that they are not among
    /// the operations. Such a queue is not whole, whatever its state says.
    #[serde(skip_serializing_if = "is_none_dropped")]
    pub dropped: u64,
}

/// For members of the JSON that are left out where they are zero.
fn is_none_dropped(number: &u64) -> bool {
    *number == 0
}

impl Usual for Queue {
    const USUAL: &'static Self =
        &Self { state: QueueState::Ok, detail: None, operations: Vec::new(), unordered: 0, dropped: 0 };
}

impl Queue {
    /// Whether all of it was read: only then does something follow from what is not in it.
    pub fn is_whole(&self) -> bool {
        self.state == QueueState::Ok && self.dropped == 0
    }

    /// A queue about which nothing is known, with the reason and the remedy.
    pub fn no_information(detail: impl Into<String>) -> Self {
        Self { state: QueueState::NoInformation, detail: Some(detail.into()), ..Self::default() }
    }
}
