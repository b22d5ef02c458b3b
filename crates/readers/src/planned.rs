//! Plans of non-blocking collectives, whatever the library: their steps, and the messages that they have for each member.

use std::collections::BTreeMap;

use model::{Handle, Known, PlannedMessages, Schedule};

/// Of messages for more members than this it is not told which they are.
const MOST_PEERS: usize = 32;

/// That many functions are named in a summary; of more it says nothing.
const NAMED: usize = 3;

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// A message to that rank; on an intercommunicator of the other group.
    Send(i64),
    /// A message from that rank; on an intercommunicator of the other group.
    Receive(i64),
    /// On an intercommunicator: a message to that rank of the own group.
    LocalSend(i64),
    /// On an intercommunicator: a message from that rank of the own group.
    LocalReceive(i64),
    /// An operator applied to two buffers.
    Reduce,
    /// Data copied.
    Copy,
    /// Data unpacked.
    Unpack,
}

impl Doing {
    /// Whether it is a message.
    pub const fn is_message(self) -> bool {
        matches!(self, Self::Send(_) | Self::Receive(_) | Self::LocalSend(_) | Self::LocalReceive(_))
    }
}

/// A step of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// What it does.
    pub doing: Doing,
    /// How many elements, of a message.
    pub count: u64,
    /// The bytes of all of these; `None`: not known.
    pub bytes: Option<u64>,
    /// The address of the data, or what the library has for it.
    pub buffer: u64,
    /// Whether the data are the library's own, on the way.
    pub temporary: bool,
}

/// The messages for each member that `peer` tells the member of; `None` where there are too many.
pub fn messages(steps: &[Step], peer: impl Fn(Doing) -> Option<i64>) -> Option<Vec<PlannedMessages>> {
    let mut found: BTreeMap<i64, PlannedMessages> = BTreeMap::new();
    for (step, peer) in steps.iter().filter_map(|step| Some((step, peer(step.doing)?))) {
        let new = PlannedMessages { peer, messages: 0, bytes: Some(0) };
        let one = found.entry(peer).or_insert(new);
        one.messages += 1;
        one.bytes = one.bytes.zip(step.bytes).and_then(|(sum, more)| sum.checked_add(more));
        if found.len() > MOST_PEERS {
            return None;
        }
    }
    Some(found.into_values().collect())
}

/// The messages that a plan sends, by peers.
pub fn sends(steps: &[Step]) -> Option<Vec<PlannedMessages>> {
    messages(steps, |doing| if let Doing::Send(peer) = doing { Some(peer) } else { None })
}

/// The messages that it receives, by peers.
pub fn receives(steps: &[Step]) -> Option<Vec<PlannedMessages>> {
    messages(steps, |doing| if let Doing::Receive(peer) = doing { Some(peer) } else { None })
}

/// Adds to a handle which function it is of, as far as that is known; what its summary begins with.
pub fn tell(planned: &Known<Schedule>, handle: &mut Handle) -> String {
    let not_kept = "the library does not keep which collective it is";
    let planned = match planned {
        Ok(planned) => planned,
        Err(reason) => {
            handle.unknown("call", format!("{not_kept}: {reason}"));
            return String::new();
        }
    };
    if !planned.functions.is_empty() {
        handle.fact("possible_calls", serde_json::to_value(&planned.functions).unwrap_or_default());
    }
    for (fact, messages) in [("planned_sends", &planned.sends), ("planned_receives", &planned.receives)] {
        match messages {
            Some(messages) => handle.fact(fact, serde_json::to_value(messages).unwrap_or_default()),
            None => handle.unknown(fact, "they are too many to list, or on a communicator of the library's own"),
        }
    }
    let names: Vec<&str> = planned.functions.iter().map(|one| one.function.as_str()).collect();
    match names.as_slice() {
        [] => handle.unknown("call", format!("{not_kept}, and its schedule does not give it")),
        [only] => handle.fact("call", *only),
        several => {
            handle.unknown("call", format!("{not_kept}; such a schedule is made by {}", several.join(", ")));
        }
    }
    let root = planned.root().map(|root| format!(" with root {root}")).unwrap_or_default();
    match names.split_last() {
        Some((last, [])) => format!("{last}{root}: "),
        Some((last, others)) if names.len() <= NAMED => format!("{} or {last}{root}: ", others.join(", ")),
        _ => String::new(),
    }
}
