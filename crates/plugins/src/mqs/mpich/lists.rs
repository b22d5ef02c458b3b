//! The lists that the plug-in reads, read once more.
//!
//! Which ones depends on the plug-in, and what it asked for tells which it is (src/mpi/debugger/dll_mpich.c):
//! from 4.0.3 on `MPIR_Debugq` for all queues; before that `MPIR_Sendq` for sends and, for the others, the device's own
//! lists of requests, which ch4 has for each communicator in 3.4.

use model::QueueKind;
use std::collections::HashSet;

use super::block::{Block, optional};
use super::communicators::Object;
use super::requests::Fields as RequestFields;
use crate::mqs::dialect::Evidence;
use layouts::{Field, Layouts};
use target::address::TargetAddr;
use target::{Reason, Target};

/// No list is longer than this.
const MAX_ENTRIES: usize = 1_000_000;

/// One operation as its list has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Address of the request.
    pub request: u64,
    /// The peer; -2 for any source (`MPI_ANY_SOURCE`).
    pub rank: i64,
    /// The tag; negative for any.
    pub tag: i64,
    /// The context id.
    pub context: u64,
    /// Where the data lies, and the number of elements; not in `MPIR_Sendq`.
    pub data: Option<(u64, i64)>,
}

/// All lists of a process.
pub struct Lists {
    /// Where the facts of a request lie.
    pub requests: RequestFields,
    /// Whether sends and receives are those of `MPIR_Debugq`, which has an operation until its request is freed and
    /// notes the context id of receives, without the bit for collectives, for sends too.
    pub noted_apart: bool,
    sends: Vec<Entry>,
    /// The other two, or for each communicator its own two.
    others: Others,
}

enum Others {
    Shared([Vec<Entry>; 2]),
    Own(Vec<[Vec<Entry>; 2]>),
}

impl Lists {
    /// Reads them. An error says why they cannot be read.
    pub fn read(evidence: &Evidence<'_>, objects: &[Option<Object>]) -> Result<Self, Reason> {
        let (layouts, target) = (evidence.layouts, evidence.target);
        let requests = RequestFields::resolve(layouts)?;
        let asked = |name: &str| evidence.asked.contains(name);
        if asked("MPIR_Debugq") {
            let node = Node::noted(layouts, "MPIR_Debugq", "req")?;
            let [sends, receives, unexpected] = ["MPIR_Sendq_head", "MPIR_Recvq_head", "MPIR_Unexpq_head"]
                .map(|symbol| node.walk(target, address_of(target, symbol)?));
            let others = Others::Shared([receives?, unexpected?]);
            return Ok(Self { requests, noted_apart: true, sends: sends?, others });
        }
        let sends = match target.symbol("MPIR_Sendq_head").ok().flatten() {
            Some(symbol) => Node::noted(layouts, "MPIR_Sendq", "sreq")?.walk(target, symbol.addr)?,
            // It is optional, and the plug-in says so of its queue.
            None => Vec::new(),
        };
        let others = if asked("MPIDIG_rreq_t") {
            Others::Own(Node::own_lists(evidence, objects, requests.type_name())?)
        } else {
            let node = Node::requests(layouts, requests.type_name())?;
            let [receives, unexpected] =
                ["MPID_Recvq_posted_head_ptr", "MPID_Recvq_unexpected_head_ptr"].map(|symbol| {
                    let head = target.read_pointer(address_of(target, symbol)?)?;
                    node.walk(target, head)
                });
            Others::Shared([receives?, unexpected?])
        };
        Ok(Self { requests, noted_apart: false, sends, others })
    }

    /// The entries of a class, for the communicator with this number in the report.
    pub fn of(&self, class: QueueKind, communicator: usize) -> &[Entry] {
        let which = usize::from(class == QueueKind::UnexpectedMessages);
        match (class, &self.others) {
            (QueueKind::PendingSends, _) => &self.sends,
            (_, Others::Shared(lists)) => &lists[which],
            (_, Others::Own(lists)) => lists.get(communicator).map_or(&[], |lists| &lists[which]),
        }
    }

    /// Whether the newest entry of a list stands first (`DL_PREPEND`, src/mpi/debugger/dbginit.c).
    pub fn is_backwards(&self, class: QueueKind) -> bool {
        self.noted_apart || class == QueueKind::PendingSends
    }

    /// What these lists never have, in sentences for the user.
    pub fn notes(&self) -> Option<String> {
        // src/binding/c/pt2pt_api.txt, v4.0.2, has no others. A receive leaves the device's list when it is matched.
        let incomplete = "this plug-in lists the sends of MPI_Isend, MPI_Issend, MPI_Irsend, MPI_Send_init and \
                          MPI_Bsend_init only, so not that of a rank that is blocked in MPI_Send, and no receive that \
                          has been matched (the built-in reader: --source builtin)";
        (!self.noted_apart).then(|| incomplete.to_owned())
    }
}

fn address_of(target: &dyn Target, symbol: &str) -> Result<TargetAddr, Reason> {
    match target.symbol(symbol) {
        Ok(Some(found)) => Ok(found.addr),
        Ok(None) => Err(Reason::new(format!("the symbol {symbol} is not known"))),
        Err(error) => Err(Reason::new(format!("the symbol {symbol} could not be looked up: {error}"))),
    }
}

/// Where the facts of an operation lie in what a list consists of.
struct Node {
    type_name: String,
    size: u64,
    next: Field,
    /// Where the request is found; `None`: the element is the request.
    request: Option<Field>,
    facts: Facts,
}

struct Facts {
    rank: Field,
    tag: Field,
    context: Field,
    data: Option<(Field, Field)>,
    /// Of elements that point to the request, whether it has the facts; its size then.
    in_request: Option<u64>,
}

impl Node {
    /// The lists that debugger support adds.
    fn noted(layouts: &Layouts, type_name: &str, request: &str) -> Result<Self, Reason> {
        let field = |name: &str| layouts.field(type_name, name).map_err(Reason::of);
        Ok(Self {
            type_name: type_name.to_owned(),
            size: layouts.size_of(type_name)?,
            next: field("next")?,
            request: Some(field(request)?),
            facts: Facts {
                rank: field("rank")?,
                tag: field("tag")?,
                context: field("context_id")?,
                data: field("buf").ok().zip(field("count").ok()),
                in_request: None,
            },
        })
    }

    /// Lists of requests: of ch3, or of ch4's active messages.
    fn requests(layouts: &Layouts, type_name: &str) -> Result<Self, Reason> {
        Ok(Self {
            type_name: type_name.to_owned(),
            size: layouts.size_of(type_name)?,
            // Up to 3.x it belongs to the device.
            next: one_of(layouts, type_name, &["next", "dev.next"])?,
            request: None,
            facts: Facts::in_request(layouts, type_name)?,
        })
    }

    /// The lists that ch4 has for each communicator in 3.4.
    fn own_lists(
        evidence: &Evidence<'_>,
        objects: &[Option<Object>],
        request: &str,
    ) -> Result<Vec<[Vec<Entry>; 2]>, Reason> {
        const ELEMENT: &str = "MPIDIG_rreq_t";
        let (layouts, target) = (evidence.layouts, evidence.target);
        let field = |name: &str| layouts.field(ELEMENT, name).map_err(Reason::of);
        let in_request = layouts.size_of(request)?;
        let node = Self {
            type_name: ELEMENT.to_owned(),
            size: layouts.size_of(ELEMENT)?,
            next: field("next")?,
            request: Some(field("request")?),
            facts: Facts { in_request: Some(in_request), ..Facts::in_request(layouts, request)? },
        };
        let heads = ["posted_head_ptr", "unexp_head_ptr"]
            .map(|name| one_of(layouts, "MPIR_Comm", &[&format!("dev.ch4.am.{name}"), &format!("dev.ch4u.{name}")]));
        let [posted, unexpected] = heads;
        let heads = [posted?, unexpected?];
        let read = |object: &Object| -> Result<[Vec<Entry>; 2], Reason> {
            let [posted, unexpected] = heads.each_ref().map(|head| {
                let at = TargetAddr::new(object.address).wrapping_add(head.offset);
                let list = target.read_pointer(at)?;
                if list.is_null() { Ok(Vec::new()) } else { node.walk(target, list) }
            });
            Ok([posted?, unexpected?])
        };
        objects.iter().map(|object| object.as_ref().map_or_else(|| Ok(Default::default()), read)).collect()
    }

    /// The entries of the list whose first element the pointer at `head` names.
    fn walk(&self, target: &dyn Target, head: TargetAddr) -> Result<Vec<Entry>, Reason> {
        let mut entries = Vec::new();
        let mut seen = HashSet::new();
        let mut at = target.read_pointer(head)?.get();
        while at != 0 {
            if !seen.insert(at) || entries.len() >= MAX_ENTRIES {
                return Err(Reason::new(format!("the list of {} at {head} does not end", self.type_name)));
            }
            let block = Block::read(target, at, self.size)?;
            let odd = || format!("a {} at {at:#x} has fields of an odd size", self.type_name);
            let request = match &self.request {
                Some(field) => block.uint(field).ok_or_else(odd)?,
                None => at,
            };
            let entry = match self.facts.in_request {
                Some(size) => self.facts.entry(&Block::read(target, request, size)?, request),
                None => self.facts.entry(&block, request),
            };
            entries.push(entry.ok_or_else(odd)?);
            at = block.uint(&self.next).ok_or_else(odd)?;
        }
        Ok(entries)
    }
}

impl Facts {
    fn in_request(layouts: &Layouts, type_name: &str) -> Result<Self, Reason> {
        let of = |names: &[&str]| one_of(layouts, type_name, names);
        Ok(Self {
            rank: of(&["dev.match.parts.rank", "dev.ch4.am.u.recv.source", "dev.ch4.am.rank"])?,
            tag: of(&["dev.match.parts.tag", "dev.ch4.am.u.recv.tag", "dev.ch4.am.tag"])?,
            context: of(&["dev.match.parts.context_id", "dev.ch4.am.u.recv.context_id", "dev.ch4.am.context_id"])?,
            data: Some((of(&["dev.user_buf", "dev.ch4.am.buffer"])?, of(&["dev.user_count", "dev.ch4.am.count"])?)),
            in_request: None,
        })
    }

    fn entry(&self, block: &Block, request: u64) -> Option<Entry> {
        let data = match &self.data {
            Some((buffer, count)) => Some((block.uint(buffer)?, block.int(count)?)),
            None => None,
        };
        // A context id is a 16-bit number or an int; it is never negative.
        let context = block.uint(&self.context)?;
        Some(Entry { request, rank: block.int(&self.rank)?, tag: block.int(&self.tag)?, context, data })
    }
}

fn one_of(layouts: &Layouts, type_name: &str, names: &[&str]) -> Result<Field, Reason> {
    let none = || Reason::new(format!("no layout source has {} of {type_name}", names.join(" or ")));
    optional(layouts, type_name, names).ok_or_else(none)
}
