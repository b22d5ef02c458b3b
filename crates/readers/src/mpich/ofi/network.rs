//! Where MPICH keeps libfabric's endpoints: `MPIDI_OFI_global`, found in the library's variables by what it says; and what the
//! endpoints have.

use std::collections::{HashMap, HashSet};

use super::addresses::Addresses;
use super::bits::Bits;
use crate::libfabric::{Fabric, Listed, Message, Provider, Receive, Send};
use crate::mpich::communicators::Communicators;
use crate::mpich::variables;
use crate::record::{Record, Slot, shapes};
use layouts::{LayoutError, Layouts};
use target::address::TargetAddr;
use target::{Range, Reason, Target, TargetError};

/// `MPIDI_OFI_global` (pmodels/mpich, src/mpid/ch4/netmod/ofi/ofi_types.h, v3.4 to v5.0), which is larger than what is read as one
/// record.
struct GlobalShape {
    fabric: Slot,
    contexts: Slot,
    interfaces: Slot,
    cards: Option<Slot>,
    context_bits: Slot,
    source_bits: Slot,
    tag_bits: Slot,
}

impl GlobalShape {
    fn resolve(layouts: &Layouts) -> Result<Self, LayoutError> {
        const TYPE: &str = "MPIDI_OFI_global_t";
        let slot = |field: &str| Slot::resolve(layouts, TYPE, field);
        Ok(Self {
            fabric: slot("fabric")?,
            contexts: slot("ctx")?,
            interfaces: Slot::first(layouts, TYPE, &["num_vcis", "num_vnis"])?,
            cards: Slot::probe(layouts, TYPE, "num_nics")?,
            context_bits: slot("settings.context_bits")?,
            source_bits: slot("settings.source_bits")?,
            tag_bits: slot("settings.tag_bits")?,
        })
    }
}

shapes! {
    /// What it has for each interface and network card.
    ContextShape = ["MPIDI_OFI_context_t"] { domain: "domain", endpoint: "ep", receives: "rx" };
}

// Classes of libfabric's objects (`FI_CLASS_*`, ofiwg/libfabric, include/rdma/fabric.h): each begins with its own.
const FABRIC: u64 = 1;
const DOMAIN: u64 = 2;
const ENDPOINT: u64 = 3;
const SCALABLE: u64 = 4;

/// No build has more (`MPIDI_CH4_MAX_VCIS`).
const MAX_INTERFACES: u64 = 64;

/// What libfabric has of this process.
#[derive(Debug, Default)]
pub struct Network {
    /// How words are packed; `None` where the variable was not found.
    pub bits: Option<Bits>,
    /// Receives that wait, by what MPICH gave for them, with their place among all.
    pub receives: HashMap<TargetAddr, (u64, Receive)>,
    /// Why there may be more.
    pub receives_problem: Option<Reason>,
    /// Sends that are not done, by what MPICH gave for them, with their place among all.
    pub sends: HashMap<TargetAddr, (u64, Send)>,
    /// Why there may be more.
    pub sends_problem: Option<Reason>,
    /// Whether messages name their sends by what MPICH gave for them.
    pub named_by_given: bool,
    /// Messages that nobody has asked for.
    pub messages: Vec<Message>,
    /// Why there may be more.
    pub messages_problem: Option<Reason>,
    /// Who is who.
    pub addresses: Addresses,
}

impl Network {
    /// Reads it. Where nothing is found, the reasons say so.
    ///
    /// # Errors
    /// Where the process is gone.
    pub fn read(
        target: &dyn Target,
        layouts: &Layouts,
        ranges: &[Range],
        communicators: &Communicators,
    ) -> Result<Self, TargetError> {
        let mut network = Self::default();
        let Some((endpoints, bits)) = find(target, layouts, ranges)? else {
            let reason = Reason::new("MPICH's variable for libfabric was not found");
            (network.receives_problem, network.messages_problem) = (Some(reason.clone()), Some(reason.clone()));
            network.sends_problem = Some(reason);
            return Ok(network);
        };
        network.bits = Some(bits);
        let fabric = Fabric::new(target);
        let mut receives = Listed::default();
        let mut messages = Listed::default();
        let mut sends = Listed::default();
        for endpoint in endpoints {
            match fabric.queues(endpoint) {
                Ok(queues) => {
                    receives.append(queues.receives);
                    messages.append(queues.messages);
                    sends.append(queues.sends);
                    network.named_by_given |= queues.named_by_given;
                }
                Err(reason) => {
                    receives.fail(reason.clone());
                    messages.fail(reason.clone());
                    sends.fail(reason);
                }
            }
        }
        network.receives =
            (0..).zip(receives.found).map(|(order, receive)| (receive.context, (order, receive))).collect();
        network.receives_problem = receives.problem;
        network.sends = (0..).zip(sends.found).map(|(order, send)| (send.context, (order, send))).collect();
        network.sends_problem = sends.problem;
        (network.messages, network.messages_problem) = (messages.found, messages.problem);
        network.addresses = Addresses::find(target, layouts, ranges, communicators.world_size())?;
        Ok(network)
    }
}

/// libfabric's provider, or why it is not known; `None` where MPI_Init has not started libfabric.
pub fn provider(target: &dyn Target, layouts: &Layouts, ranges: &[Range]) -> Option<Result<Provider, Reason>> {
    let (endpoints, _) = find(target, layouts, ranges).ok()??;
    let provider = endpoints.first().and_then(|endpoint| Fabric::new(target).provider_of(*endpoint));
    Some(provider.ok_or_else(|| "libfabric's provider was not recognised, or its release is not known".into()))
}

/// The endpoints and how words are packed.
fn find(
    target: &dyn Target,
    layouts: &Layouts,
    ranges: &[Range],
) -> Result<Option<(Vec<TargetAddr>, Bits)>, TargetError> {
    let (Ok(global), Ok(context)) = (GlobalShape::resolve(layouts), ContextShape::resolve(layouts)) else {
        return Ok(None);
    };
    // The variable is large; what tells it stands near its beginning, from the first word on that is never zero.
    let size = global.contexts.offset.saturating_add(context.size).saturating_sub(global.fabric.offset);
    variables::find(target, ranges, size, |record| endpoints(target, layouts, &global, &context, record))
}

/// The endpoints and how words are packed, if a record is a part of the variable, from `fabric` on.
fn endpoints(
    target: &dyn Target,
    layouts: &Layouts,
    global: &GlobalShape,
    context: &ContextShape,
    record: &Record<'_>,
) -> Option<(Vec<TargetAddr>, Bits)> {
    let is_address = |at: TargetAddr| at.get() > 4096 && at.get().is_multiple_of(8);
    let class = |at: TargetAddr| if is_address(at) { target.read_uint(at, 8).ok() } else { None };
    let here = |slot: Slot| Slot { offset: slot.offset.wrapping_sub(global.fabric.offset), ..slot };
    let first = |slot: Slot| here(Slot { offset: global.contexts.offset + slot.offset, ..slot });
    if !is_address(record.pointer(here(global.fabric))) || !is_address(record.pointer(first(context.domain))) {
        return None;
    }
    if class(record.pointer(here(global.fabric))) != Some(FABRIC)
        || class(record.pointer(first(context.domain))) != Some(DOMAIN)
    {
        return None;
    }
    let endpoint = class(record.pointer(first(context.endpoint)));
    if !matches!(endpoint, Some(ENDPOINT | SCALABLE)) {
        return None;
    }
    let number = |slot: Slot| target.read_uint(record.address_of(here(slot)), slot.size as u64).ok();
    let bits = Bits::new(layouts, number(global.context_bits)?, number(global.source_bits)?, number(global.tag_bits)?)?;
    let cards = global.cards.map_or(Some(1), number)?;
    if !(1..=MAX_INTERFACES).contains(&number(global.interfaces)?) || !(1..=MAX_INTERFACES).contains(&cards) {
        return None;
    }
    let bytes = target.read_bytes(record.address_of(here(global.contexts)), global.contexts.size).ok()?;
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    for bytes in bytes.chunks_exact(context.size) {
        let entry = Record::new(TargetAddr::NULL, bytes, target.abi());
        let receives = entry.pointer(context.receives);
        if is_address(entry.pointer(context.domain)) && is_address(receives) && seen.insert(receives) {
            found.push(receives);
        }
    }
    (!found.is_empty()).then_some((found, bits))
}
