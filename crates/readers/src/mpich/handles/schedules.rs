//! Schedules of collectives. MPICH has two schedulers: one keeps graphs, whose address stands in the request; the other keeps lists of
//! entries, on a list of all schedules that hangs on a variable of the library, which stock libraries do not name
//! (pmodels/mpich, src/mpi/coll/transports/gentran and src/mpid/common/sched/mpidu_sched.c, v4.0.2 to v5.0.1; of 3.4 only the
//! second says which request it is of).

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::super::communicators::Found;
use super::super::datatypes::Datatypes;
use super::super::handle_value::{HandleValue, ObjectKind};
use super::HandleReader;
use super::request::Request;
use crate::ReaderError;
use crate::planned::{self, Doing, Step};
use crate::record::{Record, Slot, shapes};
use model::{PossibleFunction, Schedule};
use target::address::TargetAddr;
use target::{Range, Target, TargetError, fit, is_zero, segments};

shapes! {
    /// A graph.
    Graph = ["MPII_Genutil_sched_t"] { count: "vtcs.i", vertices: "vtcs.d", request: "req" };
    /// A vertex of a graph.
    Vertex = ["MPII_Genutil_vtx_t"] {
        kind: "vtx_kind",
        sent: "u.isend.buf",
        sent_count: "u.isend.count",
        sent_type: "u.isend.dt",
        to: "u.isend.dest",
        sent_tag: "u.isend.tag",
        sent_on: "u.isend.comm",
        received: "u.irecv.buf",
        received_count: "u.irecv.count",
        from: "u.irecv.src",
        received_tag: "u.irecv.tag",
        received_on: "u.irecv.comm",
        reduced: "u.reduce_local.count",
    };
    /// A list of entries.
    List = ["MPIDU_Sched"] {
        capacity: "size",
        count: "num_entries",
        tag: "tag",
        request: "req",
        entries: "entries",
        next: "next",
        prev: "prev",
    } optional { kind: "kind" };
    /// An entry of a list.
    Entry = ["MPIDU_Sched_entry"] {
        kind: "type",
        sent: "u.send.buf",
        sent_count: "u.send.count",
        count_behind: "u.send.count_p",
        sent_type: "u.send.datatype",
        to: "u.send.dest",
        sent_on: "u.send.comm",
        received: "u.recv.buf",
        received_count: "u.recv.count",
        from: "u.recv.src",
        received_on: "u.recv.comm",
        reduced: "u.reduce.count",
    };
}

/// The `kind` of a list of a collective (`MPIR_SCHED_KIND_REGULAR`); constructors of communicators have another one.
const REGULAR: u64 = 0;

/// A schedule never has more steps than this (1 Mi).
const MAX_STEPS: u64 = 1 << 20;

/// More schedules than this are not under way.
const MAX_SCHEDULES: usize = 1 << 16;

/// Of more words of the library's memory it is not looked whether they are the address of a schedule.
const MAX_HEADS: usize = 100_000;

/// Bytes that are read together.
const CHUNK: u64 = 1 << 20;

/// Bytes that are left out at once where they are zero.
const LINE: usize = 64;

/// Reductions, the only collectives that apply an operator to data.
const REDUCTIONS: &[&str] =
    &["MPI_Ireduce", "MPI_Iallreduce", "MPI_Ireduce_scatter", "MPI_Ireduce_scatter_block", "MPI_Iscan", "MPI_Iexscan"];

/// What a schedule says.
pub struct Planned {
    /// The plan.
    pub schedule: Schedule,
    /// The number of the collective on its communicator.
    pub tag: Option<i64>,
}

/// The schedules that are lists, by their requests.
pub type Lists = HashMap<TargetAddr, TargetAddr>;

/// What is gathered from the steps of a schedule.
#[derive(Default)]
struct Steps {
    steps: Vec<Step>,
    /// Messages on other communicators, or of a sort whose peers are not known: who is told a message is not known then.
    elsewhere: bool,
    /// Whether an operator is applied to data.
    reduces: bool,
}

/// What the library has planned for a collective; `None` where no schedule of it is found.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, request: &Request) -> Result<Option<Planned>, ReaderError> {
    let (steps, tag) = match graph(reader, request)? {
        Some(found) => found,
        None => match reader.lists().get(&request.at) {
            Some(list) => entries(reader, request, *list)?,
            None => return Ok(None),
        },
    };
    let told = |messages: Option<_>| messages.filter(|_| !steps.elsewhere);
    let functions = if steps.reduces {
        let function = |name: &&str| PossibleFunction { function: (*name).to_owned(), roots: None };
        REDUCTIONS.iter().map(function).collect()
    } else {
        Vec::new()
    };
    let (sends, receives) = (told(planned::sends(&steps.steps)), told(planned::receives(&steps.steps)));
    Ok(Some(Planned { schedule: Schedule { functions, sends, receives }, tag }))
}

/// The steps of the graph that a request names, with its tag; `None` where it names none: what stands there is left from before.
fn graph(reader: &HandleReader<'_>, request: &Request) -> Result<Option<(Steps, Option<i64>)>, ReaderError> {
    let Ok(Some(slot)) = Slot::probe(reader.layouts, "MPIR_Request", "u.nbc.coll.sched") else { return Ok(None) };
    let Ok(shape) = Graph::resolve(reader.layouts) else { return Ok(None) };
    let vertex = Vertex::resolve(reader.layouts)?;
    let at = slot.read_pointer(reader.target, request.at)?;
    let Ok(record) = Record::owned(reader.target, at, shape.size) else { return Ok(None) };
    if record.pointer(shape.request) != request.at {
        return Ok(None);
    }
    let number = |name: &str| reader.layouts.constant(name);
    let (send, receive) = (number("MPII_GENUTIL_VTX_KIND__ISEND")?, number("MPII_GENUTIL_VTX_KIND__IRECV")?);
    let status = number("MPII_GENUTIL_VTX_KIND__IRECV_STATUS")?;
    let reduce = number("MPII_GENUTIL_VTX_KIND__REDUCE_LOCAL")?;
    let many = [number("MPII_GENUTIL_VTX_KIND__IMCAST")?, number("MPII_GENUTIL_VTX_KIND__SCHED")?];
    // Those that only 4.0 to 4.2 have.
    let synchronous = number("MPII_GENUTIL_VTX_KIND__ISSEND").ok();
    let last = number("MPII_GENUTIL_VTX_KIND__LAST")?;
    let mut tag = None;
    let same = same_members(reader, request.communicator);
    let mut steps = Steps::default();
    let mut datatypes = reader.sizes();
    each(reader, record.pointer(shape.vertices), record.uint(shape.count), vertex.size, |record| {
        let kind = record.int(vertex.kind);
        if kind == send {
            let bytes = datatypes.of(record.uint(vertex.sent_type) as u32).bytes;
            let what = (record.uint(vertex.sent_count), bytes, record.uint(vertex.sent));
            steps.message(Doing::Send(record.int(vertex.to)), what, same.contains(&record.pointer(vertex.sent_on)));
            tag = tag.or(Some(record.int(vertex.sent_tag)));
        } else if kind == receive || kind == status {
            // Some algorithms make receives as long as what may come at most.
            let what = (record.uint(vertex.received_count), None, record.uint(vertex.received));
            steps.message(
                Doing::Receive(record.int(vertex.from)),
                what,
                same.contains(&record.pointer(vertex.received_on)),
            );
            tag = tag.or(Some(record.int(vertex.received_tag)));
        } else if kind == reduce {
            steps.reduces |= record.int(vertex.reduced) > 0;
        } else if many.contains(&kind) || synchronous == Some(kind) || kind >= last {
            steps.elsewhere = true;
        }
    })?;
    Ok(Some((steps, tag)))
}

/// The steps of a list of entries, with its tag.
fn entries(reader: &HandleReader<'_>, request: &Request, at: TargetAddr) -> Result<(Steps, Option<i64>), ReaderError> {
    let (shape, entry) = (List::resolve(reader.layouts)?, Entry::resolve(reader.layouts)?);
    let number = |name: &str| reader.layouts.constant(name);
    let (send, receive) = (number("MPIDU_SCHED_ENTRY_SEND")?, number("MPIDU_SCHED_ENTRY_RECV")?);
    let reduce = number("MPIDU_SCHED_ENTRY_REDUCE")?;
    let others = ["MPIDU_SCHED_ENTRY_PT2PT_SEND", "MPIDU_SCHED_ENTRY_PT2PT_RECV"].map(|name| number(name).ok());
    let list = Record::owned(reader.target, at, shape.size)?;
    let same = same_members(reader, request.communicator);
    let mut steps = Steps::default();
    let mut datatypes = reader.sizes();
    each(reader, list.pointer(shape.entries), list.uint(shape.count), entry.size, |record| {
        let kind = record.int(entry.kind);
        if kind == send {
            let known = record.pointer(entry.count_behind).is_null();
            let bytes = datatypes.of(record.uint(entry.sent_type) as u32).bytes.filter(|_| known);
            let what = (record.uint(entry.sent_count), bytes, record.uint(entry.sent));
            steps.message(Doing::Send(record.int(entry.to)), what, same.contains(&record.pointer(entry.sent_on)));
        } else if kind == receive {
            let what = (record.uint(entry.received_count), None, record.uint(entry.received));
            steps.message(
                Doing::Receive(record.int(entry.from)),
                what,
                same.contains(&record.pointer(entry.received_on)),
            );
        } else if kind == reduce {
            steps.reduces |= record.int(entry.reduced) > 0;
        } else if others.contains(&Some(kind)) {
            steps.elsewhere = true;
        }
    })?;
    // A constructor of a communicator has its own reductions.
    steps.reduces &= shape.kind.is_some_and(|kind| list.uint(kind) == REGULAR);
    Ok((steps, Some(list.int(shape.tag))))
}

/// A communicator, and those that the library has made of all its members: where all are on one node, that of the node.
fn same_members(reader: &HandleReader<'_>, communicator: TargetAddr) -> HashSet<TargetAddr> {
    let mut same = HashSet::from([communicator]);
    let Ok(all) = reader.communicators() else { return same };
    let Some(own) = all.found.iter().find(|found| found.at == communicator && !found.inter) else { return same };
    let group = own.facts.group.as_deref().filter(|group| group.iter().all(Option::is_some));
    let is_same =
        |found: &&Found| found.internal && !found.inter && group.is_some() && found.facts.group.as_deref() == group;
    same.extend(all.found.iter().filter(is_same).map(|found| found.at));
    same
}

impl Steps {
    fn message(&mut self, doing: Doing, (count, bytes, buffer): (u64, Option<u64>, u64), here: bool) {
        self.elsewhere |= !here;
        let bytes = bytes.and_then(|bytes| bytes.checked_mul(count));
        self.steps.push(Step { doing, count, bytes, buffer, temporary: false });
    }
}

/// Each of `count` structures that lie one after another.
fn each(
    reader: &HandleReader<'_>,
    at: TargetAddr,
    count: u64,
    size: usize,
    mut look: impl FnMut(&Record<'_>),
) -> Result<(), ReaderError> {
    if count > MAX_STEPS {
        return Err(ReaderError::Damaged(format!("a schedule of {count} steps is absurdly long")));
    }
    let total = (count as usize).saturating_mul(size);
    let bytes = reader.target.read_bytes(at, total)?;
    for (place, bytes) in bytes.chunks_exact(size).enumerate() {
        look(&Record::new(at.wrapping_add((place * size) as u64), bytes, reader.target.abi()));
    }
    Ok(())
}

impl HandleReader<'_> {
    /// Sizes of datatypes.
    fn sizes(&self) -> Datatypes<'_> {
        Datatypes::new(self.target, &self.process.pools, &self.shapes.datatype)
    }

    /// The schedules that are lists, found once.
    fn lists(&self) -> Rc<Lists> {
        self.shared.lists(|| find(self).unwrap_or_default())
    }
}

/// Looks for the variables of the library that hold the first of the schedules.
fn find(reader: &HandleReader<'_>) -> Result<Lists, ReaderError> {
    let shape = List::resolve(reader.layouts)?;
    let target = reader.target;
    let abi = target.abi();
    let width = abi.pointer_width.bytes() as usize;
    let ranges = &reader.process.pools.ranges;
    // Schedules are made with malloc, and so do not lie in the library.
    let library: Vec<Range> = ranges.iter().copied().chain(code_and_constants(target, ranges)).collect();
    let mut found = Lists::new();
    let mut tried: HashSet<TargetAddr> = HashSet::new();
    let mut buffer = Vec::new();
    for range in ranges {
        for offset in (0..range.len).step_by(CHUNK as usize) {
            fit(&mut buffer, (range.len - offset).min(CHUNK) as usize)?;
            match target.read_once(range.start.wrapping_add(offset), &mut buffer) {
                Ok(()) => {}
                Err(TargetError::Gone) => return Err(TargetError::Gone.into()),
                Err(_) => continue,
            }
            for word in buffer.chunks(LINE).filter(|line| !is_zero(line)).flat_map(|line| line.chunks_exact(width)) {
                let first = TargetAddr::new(abi.uint(word));
                let possible = !first.is_null() && first.get().is_multiple_of(width as u64);
                if possible
                    && tried.len() < MAX_HEADS
                    && !library.iter().any(|own| own.holds(first, 1))
                    && tried.insert(first)
                {
                    walk(reader, &shape, first, &mut found);
                }
            }
        }
    }
    Ok(found)
}

/// The code and the constants of the library that has these variables; most of what its variables name lies there.
fn code_and_constants(target: &dyn Target, variables: &[Range]) -> Vec<Range> {
    let Some(first) = variables.first() else { return Vec::new() };
    let images = target.images().unwrap_or_default();
    let library = images.iter().filter(|image| image.bias <= first.start).max_by_key(|image| image.bias);
    let found = library.and_then(|image| segments(target, image).ok());
    found.map_or_else(Vec::new, |found| [found.constants, found.code].concat())
}

/// Adds the schedules of the list that begins at `first`, if it is one.
fn walk(reader: &HandleReader<'_>, shape: &List, first: TargetAddr, found: &mut Lists) {
    let mut of_list = Lists::new();
    let (mut at, mut last) = (first, TargetAddr::NULL);
    let mut end = TargetAddr::NULL;
    let mut seen = HashSet::new();
    while !at.is_null() {
        let Ok(record) = Record::owned(reader.target, at, shape.size) else { return };
        let (count, capacity) = (record.int(shape.count), record.uint(shape.capacity));
        let sane = count >= 0 && count as u64 <= capacity && capacity <= MAX_STEPS;
        let request = record.pointer(shape.request);
        if !sane || !seen.insert(at) || seen.len() > MAX_SCHEDULES || !is_request(reader, request) {
            return;
        }
        let prev = record.pointer(shape.prev);
        if last.is_null() {
            end = prev;
        } else if prev != last {
            return;
        }
        of_list.insert(request, at);
        last = at;
        at = record.pointer(shape.next);
    }
    // The first one names the last (DL_APPEND of utlist.h).
    if last == end {
        found.extend(of_list);
    }
}

/// Whether there is a request at `at`.
fn is_request(reader: &HandleReader<'_>, at: TargetAddr) -> bool {
    let handle = reader.target.read_uint(at, 4).ok().and_then(|value| u32::try_from(value).ok());
    handle.is_some_and(|value| {
        let value = HandleValue(value);
        value.kind() == Some(ObjectKind::Request) && reader.process.pools.address_of(reader.target, value) == Some(at)
    })
}
