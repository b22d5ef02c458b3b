//! The facts about a datatype.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::envelope::{Argument, Combiner, Envelope, Kind};
use super::tree::{Node, Tree};
use super::type_map::{self, TypeMap};
use super::{Source, sketch, words};
use crate::{Depth, ReaderError, add_problem};
use model::Handle;
use model::handle::Fact;
use target::Reason;
use target::address::TargetAddr;

/// At most this many integers, addresses, datatypes or requests are shown.
const MAX_SHOWN: usize = 10_000;

/// Adds what the datatype that the source knows by `addr` is; its combiner, where all is read and it is known.
///
/// # Errors
/// Where it cannot be read.
pub fn read(
    source: &dyn Source,
    addr: TargetAddr,
    depth: Depth,
    handle: &mut Handle,
) -> Result<Option<Combiner>, ReaderError> {
    let tree = Tree::new(source);
    let node = tree.node(addr)?;
    handle.name = Some(node.name.clone()).filter(|name| !name.is_empty());
    handle.predefined = Some(node.predefined);
    handle.summary = words::summary(&tree, &node);
    if depth == Depth::Short {
        return Ok(None);
    }
    Ok(Facts { source, tree: &tree, node: &node, references: HashMap::new() }.add(handle))
}

struct Facts<'f> {
    source: &'f dyn Source,
    tree: &'f Tree<'f>,
    node: &'f Node,
    /// References that were made: many parts are the same.
    references: HashMap<TargetAddr, Value>,
}

impl Facts<'_> {
    fn add(&mut self, handle: &mut Handle) -> Option<Combiner> {
        let none = || "the library made this datatype for itself and keeps no arguments of it".into();
        let envelope = self.tree.envelope(self.node).map_err(Reason::of);
        let envelope = envelope.and_then(|envelope| envelope.ok_or_else(none));
        match &envelope {
            Ok(envelope) => self.call(envelope, handle),
            Err(reason) => {
                for fact in ["call", "combiner", "arguments", "integers", "addresses", "datatypes"] {
                    handle.unknown(fact, reason);
                }
            }
        }
        let envelope = envelope.ok();
        let node = self.node;
        handle.fact("size", node.size);
        handle.fact("lb", node.lb);
        handle.fact("extent", node.extent());
        if node.size > 0 {
            handle.fact("true_lb", node.true_lb);
            handle.fact("true_extent", node.true_ub.wrapping_sub(node.true_lb));
        } else {
            for fact in ["true_lb", "true_extent"] {
                handle.unknown(fact, "the datatype has no data");
            }
        }
        self.map(envelope.as_deref(), handle);
        sketch::lines(self.tree, node).map_err(Reason::of).tell("sketch", handle);
        handle.fact("committed", node.committed);
        self.source.requests(node.addr).tell("requests", handle);
        envelope.map(|envelope| envelope.combiner())
    }

    fn reference(&mut self, addr: TargetAddr) -> Value {
        let source = self.source;
        self.references.entry(addr).or_insert_with(|| source.reference(addr).into()).clone()
    }

    fn call(&mut self, envelope: &Envelope, handle: &mut Handle) {
        // A predefined datatype has no call: null means none.
        let call = Some(envelope.call()).filter(|call| !call.is_empty());
        handle.fact("call", call);
        handle.fact("combiner", envelope.combiner_name());
        let mut arguments = Map::new();
        for (name, kind, value) in envelope.arguments() {
            let value = match value {
                Argument::Number(number) => self.number(kind, number),
                Argument::Numbers(numbers) => {
                    numbers.iter().take(MAX_SHOWN).map(|number| self.number(kind, *number)).collect()
                }
                Argument::Type(addr) => self.reference(addr),
                Argument::Types(types) => types.iter().take(MAX_SHOWN).map(|addr| self.reference(*addr)).collect(),
            };
            arguments.insert(name.to_owned(), value);
        }
        handle.fact("arguments", call.map(|_| Value::Object(arguments)));
        let shown = |numbers: &[i64]| numbers.iter().take(MAX_SHOWN).copied().collect::<Vec<_>>();
        handle.fact("integers", shown(&envelope.integers));
        handle.fact("addresses", shown(&envelope.addresses));
        let datatypes: Vec<Value> =
            envelope.datatypes.iter().take(MAX_SHOWN).map(|addr| self.reference(*addr)).collect();
        handle.fact("datatypes", datatypes);
        for (len, what) in envelope.lens.into_iter().zip(["integers", "addresses", "datatypes"]) {
            if len > MAX_SHOWN {
                handle.fact(&format!("{what}_total"), len);
            }
        }
    }

    /// A number, or the name that it has in mpi.h.
    fn number(&self, kind: Kind, number: i64) -> Value {
        self.tree.constant(kind, number).map_or_else(|| json!(number), |name| json!(name))
    }

    fn map(&self, envelope: Option<&Envelope>, handle: &mut Handle) {
        let map = match (envelope, self.tree.map(self.node)) {
            (Some(_), Ok(map)) => map,
            (_, found) => {
                let reason = found.err().map_or_else(String::new, |error| error.to_string());
                handle.unknown("type_map", reason.clone());
                handle.unknown("holes", reason);
                return;
            }
        };
        let runs: Vec<Value> = map
            .runs
            .iter()
            .filter_map(|run| {
                let leaf = self.tree.leaf(run.leaf)?;
                Some(json!({ "datatype": leaf.name, "offset": run.offset, "count": run.count }))
            })
            .collect();
        handle.fact("type_map", runs);
        if map.cut {
            let sentence = format!("the type map has more than {} entries: only these are shown", type_map::MAX_RUNS);
            add_problem(&mut handle.problems, sentence.clone());
            handle.unknown("holes", sentence);
            return;
        }
        for problem in self.disagreements(&map) {
            add_problem(&mut handle.problems, problem);
        }
        match self.pieces(&map) {
            Some(pieces) => {
                let gaps = type_map::gaps(pieces, (self.node.lb, self.node.ub));
                let gap = |(offset, length): &(i64, i64)| json!({ "offset": offset, "length": length });
                handle.fact("holes", gaps.iter().map(gap).collect::<Vec<_>>());
            }
            None => handle.unknown("holes", format!("there may be more than {} of them", type_map::MAX_RUNS)),
        }
    }

    /// Where the data of a map stands: start and end, in bytes. `None` where there are too many pieces.
    fn pieces(&self, map: &TypeMap) -> Option<Vec<(i64, i64)>> {
        let mut pieces = Vec::new();
        for run in &map.runs {
            let leaf = self.tree.leaf(run.leaf)?;
            let size = i64::try_from(leaf.size).ok()?;
            if size == leaf.extent() {
                let length = i64::try_from(run.count).ok()?.checked_mul(size)?;
                pieces.push((run.offset, run.offset.checked_add(length)?));
                continue;
            }
            if pieces.len() as u64 + run.count > type_map::MAX_RUNS as u64 {
                return None;
            }
            for index in 0..i64::try_from(run.count).ok()? {
                let at = index.checked_mul(leaf.extent())?.checked_add(run.offset)?;
                let (start, end) = (at.checked_add(leaf.true_lb)?, at.checked_add(leaf.true_ub)?);
                if leaf.true_ub.wrapping_sub(leaf.true_lb) == size {
                    pieces.push((start, end));
                } else {
                    // The second member of the pairs for MPI_MINLOC is an int (MPI-4.1, 6.9.4).
                    pieces.push((start, start.checked_add(size)?.checked_sub(4)?));
                    pieces.push((end.checked_sub(4)?, end));
                }
            }
        }
        Some(pieces)
    }

    /// Where the map and the library's own numbers differ. Both cannot be right.
    fn disagreements(&self, map: &TypeMap) -> Vec<String> {
        let node = self.node;
        let mut size = 0_i128;
        let mut range: Option<(i128, i128)> = None;
        for run in &map.runs {
            let Some(leaf) = self.tree.leaf(run.leaf).filter(|leaf| leaf.size > 0) else { continue };
            size += i128::from(run.count) * i128::from(leaf.size);
            let last = i128::from(run.count.saturating_sub(1)) * i128::from(run.extent);
            let (low, high) = (last.min(0), last.max(0));
            let low = i128::from(run.offset) + low + i128::from(leaf.true_lb);
            let high = i128::from(run.offset) + high + i128::from(leaf.true_ub);
            range = Some(range.map_or((low, high), |(lb, ub)| (lb.min(low), ub.max(high))));
        }
        let mut told = Vec::new();
        let mut compare = |what: &str, ours: i128, theirs: i128| {
            if ours != theirs {
                told.push(format!("the type map's {what} is {ours}, the library's {theirs}: one of them is wrong"));
            }
        };
        compare("size", size, i128::from(node.size));
        if let (Some((low, high)), 1..) = (range, node.size) {
            compare("true lower bound", low, i128::from(node.true_lb));
            compare("true upper bound", high, i128::from(node.true_ub));
        }
        // Bounds that the application set in a part make those of the whole, by rules that are not repeated here; and what
        // has no data has its bounds from how the library saves itself work.
        if let (Some((lb, ub)), false, 1..) = (map.bounds, node.user_bounds, node.size) {
            compare("lower bound", i128::from(lb), i128::from(node.lb));
            // The extent of a structure is padded to its alignment.
            let padding = i128::from(node.ub) - i128::from(ub);
            if !(0..i128::from(node.align.max(1))).contains(&padding) {
                compare("upper bound", i128::from(ub), i128::from(node.ub));
            }
        }
        told
    }
}
