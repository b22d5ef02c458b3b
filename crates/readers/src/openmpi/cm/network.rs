//! What the mtl ofi and libfabric have: receives that wait, sends that are not done, answers that synchronous ones wait for,
//! messages that nobody has asked for, and who is who.

use std::collections::HashMap;

use super::bits::Bits;
use super::shapes::{Context, Module, OfiShapes};
use crate::libfabric::{Fabric, Listed, Message, Number, Provider, Receive, Send, Source};
use crate::openmpi::groups::Groups;
use crate::record::{Record, Slot};
use layouts::Layouts;
use target::address::TargetAddr;
use target::{Reason, Target};

/// No process has more endpoints than this.
const MAX_ENDPOINTS: u64 = 1 << 10;

/// A receive that waits, with the mtl's request that it was posted for.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    /// Its place among all.
    pub order: u64,
    /// What libfabric has of it.
    pub receive: Receive,
}

/// The answer that a synchronous send waits for.
#[derive(Debug, Clone, Copy)]
pub struct Answer {
    /// Who is to answer.
    pub source: Source,
    /// What it is matched by.
    pub word: u64,
}

/// A send that is not done, with the mtl's request that it was handed over for.
#[derive(Debug, Clone, Copy)]
pub struct Sent {
    /// Its place among all.
    pub order: u64,
    /// What libfabric has of it.
    pub send: Send,
}

/// `OMPI_MTL_OFI_PROBE` (ompi/mca/mtl/ofi/mtl_ofi_request.h, v4.1.4 and v5.0.10).
const PROBE: u64 = 3;

/// What the mtl keeps of a request.
#[derive(Debug, Clone, Copy)]
pub struct Kept {
    /// The request of the pml.
    pub request: TargetAddr,
    /// Its communicator; of receives alone.
    pub comm: TargetAddr,
    /// Bytes.
    pub length: u64,
    /// The data, where it had to be copied.
    pub copy: TargetAddr,
    /// What describes the data.
    pub convertor: TargetAddr,
    /// What a receive is matched by, but for what may differ.
    pub bits: u64,
    /// From whom it is.
    pub address: u64,
    /// Source and bytes of the message that nobody receives yet, of a matching probe that has its message.
    pub message: Option<(i64, u64)>,
}

/// The mtl ofi, where it is the one in use: its address.
fn module(target: &dyn Target) -> Result<TargetAddr, Reason> {
    let symbol = |name: &str| target.symbol(name).ok().flatten().map(|symbol| symbol.addr);
    let at = symbol("ompi_mtl_ofi").ok_or("the mtl is another one than ofi")?;
    let used = symbol("ompi_mtl").and_then(|mtl| target.read_pointer(mtl).ok());
    if used == Some(at) { Ok(at) } else { Err("the mtl in use is another one than ofi".into()) }
}

/// libfabric's provider; `None` where there is none, or it is not known.
pub fn provider(target: &dyn Target, layouts: &Layouts) -> Option<Provider> {
    let (module_shape, context) = (Module::resolve(layouts).ok()?, Context::resolve(layouts).ok()?);
    let at = module(target).ok()?;
    let contexts = module_shape.contexts.read_pointer(target, at).ok()?;
    let endpoint = context.receives.read_pointer(target, contexts).ok()?;
    Fabric::new(target).provider_of(endpoint)
}

/// The mtl ofi in a process.
pub struct Network {
    shapes: OfiShapes,
    /// How words are packed.
    pub bits: Bits,
    /// The address that stands for any process.
    any: u64,
    /// World ranks by address.
    ranks: HashMap<u64, i64>,
    /// Bits of an address that say which of a process's contexts it is.
    context_bits: u32,
    /// Receives by the mtl's requests.
    pub receives: HashMap<TargetAddr, Waiting>,
    /// Why there may be more.
    pub receives_problem: Option<Reason>,
    /// Answers by the mtl's requests of the sends.
    pub answers: HashMap<TargetAddr, Answer>,
    /// Sends by the mtl's requests.
    pub sends: HashMap<TargetAddr, Sent>,
    /// Why there may be more.
    pub sends_problem: Option<Reason>,
    /// Whether messages name their sends by what the mtl gave for them.
    named_by_given: bool,
    /// Messages that nobody has asked for, in matching order.
    pub messages: Vec<Message>,
    /// Why there may be more.
    pub messages_problem: Option<Reason>,
}

impl Network {
    /// Reads it.
    ///
    /// # Errors
    /// A sentence, where the mtl in use is another one, or it was not set up.
    pub fn read(target: &dyn Target, shapes: OfiShapes, groups: &Groups<'_>) -> Result<Self, Reason> {
        let at = module(target)?;
        let shape = &shapes.module;
        let module = Record::owned(target, at, shape.size)?;
        let bits = Bits::new(shape, &module.view()).ok_or("how the mtl ofi packs tags is not as its releases do")?;
        let mut receives = Listed::default();
        let mut messages = Listed::default();
        let (mut sends, mut named_by_given) = (Listed::default(), false);
        let (contexts, count) = (module.pointer(shape.contexts), module.uint(shape.used));
        if !(1..=MAX_ENDPOINTS).contains(&count) {
            return Err(Reason::new(format!("the mtl ofi has {count} contexts")));
        }
        let fabric = Fabric::new(target);
        for index in 0..count {
            let here = contexts.wrapping_add(index * shapes.context.size as u64);
            let endpoint = shapes.context.receives.read_pointer(target, here);
            match endpoint.map_err(Reason::of).and_then(|endpoint| fabric.queues(endpoint)) {
                Ok(queues) => {
                    receives.append(queues.receives);
                    messages.append(queues.messages);
                    sends.append(queues.sends);
                    named_by_given |= queues.named_by_given;
                }
                Err(reason) => {
                    receives.fail(reason.clone());
                    messages.fail(reason.clone());
                    sends.fail(reason);
                }
            }
        }
        let any = module.uint(shape.any);
        let context_bits = u32::try_from(module.uint(shape.context_bits)).unwrap_or(0).min(16);
        let given = shapes.request.given.offset as u64;
        let mut network = Self {
            shapes,
            bits,
            any,
            ranks: HashMap::new(),
            context_bits,
            receives: HashMap::new(),
            receives_problem: receives.problem,
            answers: HashMap::new(),
            sends: HashMap::new(),
            sends_problem: sends.problem,
            named_by_given,
            messages: messages.found,
            messages_problem: messages.problem,
        };
        for (order, receive) in (0..).zip(receives.found) {
            network.sort_in(target, order, receive);
        }
        let request = |send: &Send| TargetAddr::new(send.context.get().wrapping_sub(given));
        network.sends = (0..).zip(sends.found).map(|(order, send)| (request(&send), Sent { order, send })).collect();
        network.ranks = network.learn(target, at, groups);
        Ok(network)
    }

    /// What libfabric was given lies in the mtl's request (`TO_OFI_REQ`, mtl_ofi_request.h).
    fn sort_in(&mut self, target: &dyn Target, order: u64, receive: Receive) {
        let given = self.shapes.request.given;
        let at = given.structure_of(receive.context);
        if !self.bits.is_answer(receive.tag) {
            self.receives.insert(at, Waiting { order, receive });
            return;
        }
        let parent = self.shapes.request.parent.address_in(at);
        if let Ok(send) = target.read_pointer(parent) {
            self.answers.insert(send, Answer { source: receive.source, word: receive.tag });
        }
    }

    /// World ranks by address: each process object leads to the mtl's endpoint of that process, which leads back to the mtl.
    fn learn(&self, target: &dyn Target, module: TargetAddr, groups: &Groups<'_>) -> HashMap<u64, i64> {
        let width = target.abi().pointer_width.bytes();
        let Slot { offset, size, .. } = self.shapes.process.endpoints;
        let of = |process: TargetAddr| {
            let table = target.read_bytes(process.wrapping_add(offset as u64), size).ok()?;
            let words = table.chunks_exact(usize::try_from(width).unwrap_or(8));
            let mut endpoints = words.map(|word| TargetAddr::new(target.abi().uint(word)));
            endpoints.find_map(|endpoint| {
                let shape = &self.shapes.endpoint;
                if endpoint.is_null() {
                    return None;
                }
                let record = Record::owned(target, endpoint, shape.size).ok()?;
                (record.pointer(shape.module) == module).then(|| record.uint(shape.address))
            })
        };
        groups.world_processes().into_iter().filter_map(|(process, rank)| Some((of(process)?, rank))).collect()
    }

    /// The mtl's request that a receive was posted for.
    pub fn request_of(&self, waiting: &Waiting) -> TargetAddr {
        let given = self.shapes.request.given;
        given.structure_of(waiting.receive.context)
    }

    /// By what its message names the send that the mtl's request at `at` was handed over for, whatever libfabric has of it.
    pub fn number(&self, at: TargetAddr) -> Option<Number> {
        let given = self.shapes.request.given.address_in(at);
        self.named_by_given.then(|| Number::given(given))
    }

    /// The rank in MPI_COMM_WORLD of an address.
    pub fn rank(&self, address: u64) -> Option<i64> {
        let plain = if self.context_bits == 0 { address } else { address & (u64::MAX >> self.context_bits) };
        self.ranks.get(&plain).copied()
    }

    /// From whom a receive with this address is.
    pub fn source(&self, address: u64) -> Source {
        if address == self.any { Source::Any } else { Source::Address(address) }
    }

    /// What the mtl keeps in a request of its own.
    ///
    /// # Errors
    /// A sentence, where it cannot be read.
    pub fn kept(&self, target: &dyn Target, at: TargetAddr) -> Result<Kept, Reason> {
        let shape = &self.shapes.request;
        let record = Record::owned(target, at, shape.size)?;
        Ok(Kept {
            request: record.pointer(shape.request),
            comm: record.pointer(shape.comm),
            length: record.uint(shape.length),
            copy: record.pointer(shape.copy),
            convertor: record.pointer(shape.convertor),
            bits: record.uint(shape.bits),
            address: record.uint(shape.address),
            message: (record.uint(shape.kind) == PROBE && record.uint(shape.matched) != 0)
                .then(|| (record.int(shape.source), record.uint(shape.bytes))),
        })
    }

    /// The tag of a message that MPI_Mprobe matched, by the mtl's request for it and by its source and bytes; `None` where the
    /// request is not of it any more. Open MPI never takes the objects of messages back that were received, and then the
    /// request is a receive's, or freed (`ompi_mtl_ofi_imrecv`, `ompi_mtl_ofi_mrecv_callback`, ompi/mca/mtl/ofi/mtl_ofi.h,
    /// v4.1.4 and v5.0.10).
    ///
    /// # Errors
    /// A sentence, where the request cannot be read.
    pub fn tag_of_matched(
        &self,
        target: &dyn Target,
        at: TargetAddr,
        message: (i64, u64),
    ) -> Result<Option<i64>, Reason> {
        let kept = self.kept(target, at)?;
        Ok((kept.message == Some(message)).then(|| self.bits.tag(kept.bits)))
    }

    /// Datatype, buffer and count, as a convertor describes them.
    ///
    /// # Errors
    /// A sentence, where it cannot be read.
    pub fn data(&self, target: &dyn Target, at: TargetAddr) -> Result<(TargetAddr, TargetAddr, u64), Reason> {
        let shape = &self.shapes.convertor;
        let record = Record::owned(target, at, shape.size)?;
        Ok((record.pointer(shape.datatype), record.pointer(shape.buffer), record.uint(shape.count)))
    }
}
