//! The lists that an MPICH configured with --enable-debuginfo keeps for debuggers.
//!
//! They hold what was asked for, which some requests do not: the tag of a send, what a matched receive wanted. Everything
//! else is in the requests that they name (pmodels/mpich, src/mpi/debugger/dbginit.c: `MPIR_Sendq` until v4.0,
//! `MPIR_Debugq` since; entries are removed when a request is freed). The context ids in them are not read: they are
//! those of receives even for sends, without the offset of collectives.

use std::collections::HashMap;

use crate::record::{Record, Slot, size_of};
use layouts::Layouts;
use model::Operation;
use target::address::TargetAddr;
use target::{Reason, Target};

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The peer, or MPI_ANY_SOURCE.
    pub rank: i64,
    /// The tag, or MPI_ANY_TAG.
    pub tag: i64,
    /// The buffer and the number of elements, where the release notes them.
    pub data: Option<(u64, u64)>,
    /// Greater ones were made later.
    pub age: u64,
}

/// The entries of both lists by their request.
#[derive(Debug, Default)]
pub struct DebugLists {
    /// Sends.
    pub sends: HashMap<TargetAddr, Entry>,
    /// Receives, since 4.1.
    pub receives: HashMap<TargetAddr, Entry>,
    /// What could not be read.
    pub problems: Vec<String>,
}

struct Shape {
    size: usize,
    request: Slot,
    rank: Slot,
    tag: Slot,
    next: Slot,
    data: Option<(Slot, Slot)>,
}

impl Shape {
    fn resolve(layouts: &Layouts) -> Option<Self> {
        let (name, request) = [("MPIR_Debugq", "req"), ("MPIR_Sendq", "sreq")]
            .into_iter()
            .find(|(name, request)| layouts.has_field(name, request))?;
        let slot = |field: &str| Slot::resolve(layouts, name, field).ok();
        Some(Self {
            size: size_of(layouts, name).ok()?,
            request: slot(request)?,
            rank: slot("rank")?,
            tag: slot("tag")?,
            next: slot("next")?,
            data: slot("buf").zip(slot("count")),
        })
    }
}

impl DebugLists {
    /// Reads them where the library has them; at most `limit` entries of each.
    pub fn read(target: &dyn Target, layouts: &Layouts, limit: usize) -> Self {
        let mut found = Self::default();
        let Some(shape) = Shape::resolve(layouts) else { return found };
        for (name, sends) in [("MPIR_Sendq_head", true), ("MPIR_Recvq_head", false)] {
            let Ok(Some(symbol)) = target.symbol(name) else { continue };
            match entries(target, &shape, symbol.addr, limit) {
                Ok(entries) if sends => found.sends = entries,
                Ok(entries) => found.receives = entries,
                Err(problem) => found.problems.push(format!("the library's list {name}: {problem}")),
            }
        }
        found
    }

    /// Adds what a list says of an operation.
    pub fn complete(entry: &Entry, operation: &mut Operation, send: bool, wildcards: (i64, i64)) {
        let (any_source, any_tag) = wildcards;
        operation.any_source = !send && entry.rank == any_source;
        operation.tag_wild = !send && entry.tag == any_tag;
        operation.desired_local_rank = (!operation.any_source).then_some(entry.rank);
        operation.desired_tag = (!operation.tag_wild).then_some(entry.tag);
        for fact in ["desired_local_rank", "desired_tag"] {
            operation.unknown.remove(fact);
        }
        if send {
            operation.actual_local_rank = operation.desired_local_rank;
            operation.actual_tag = operation.desired_tag;
        }
        if let Some((buffer, count)) = entry.data {
            operation.buffer = Some(buffer);
            operation.count = Some(count);
            operation.unknown.remove("buffer");
        }
        let evidence = operation.evidence.take().unwrap_or_default();
        operation.evidence = Some(format!("{evidence}; on the library's list for debuggers").into());
    }
}

fn entries(
    target: &dyn Target,
    shape: &Shape,
    head: TargetAddr,
    limit: usize,
) -> Result<HashMap<TargetAddr, Entry>, Reason> {
    let mut found = HashMap::new();
    let mut at = target.read_pointer(head)?;
    let mut buffer = Vec::new();
    let mut age = u64::MAX;
    while !at.is_null() {
        let record = Record::read(target, at, shape.size, &mut buffer)?;
        let data = shape.data.map(|(buffer, count)| (record.uint(buffer), record.uint(count)));
        let entry = Entry { rank: record.int(shape.rank), tag: record.int(shape.tag), data, age };
        // Newer entries come first; a request that is there twice was recycled.
        if found.insert(record.pointer(shape.request), entry).is_some() || found.len() >= limit {
            return Err(Reason::new(format!(
                "it does not end: a request comes twice, at {at}, or there are more than {limit}"
            )));
        }
        age -= 1;
        at = record.pointer(shape.next);
    }
    Ok(found)
}
