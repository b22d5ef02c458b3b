//! What there is to look up in a report, in columns: a hundred thousand ranks take a few megabytes, and compress well.

use hashbrown::{HashMap, HashSet};

use model::{Communicator, Finding, Operation, Process, QueueKind, QueueState, Snapshot, Verdict};
use serde::Serialize;

use crate::messages::{Messages, messages};
use crate::past_calls::{PastCalls, past_calls};
use crate::strings::{NONE, Strings, TextId};

/// Communicators of more names than this are in one column.
const MOST_COLUMNS: usize = 200;

/// All tables. Texts are places in `strings`, negative where there is none.
#[derive(Debug, Default, Serialize)]
pub struct Tables {
    /// The texts.
    pub strings: Vec<String>,
    /// The processes.
    pub ranks: Ranks,
    /// Communicators by their names.
    pub columns: Vec<Column>,
    /// What ranks have in communicators, where they have something.
    pub cells: Cells,
    /// How many operations of these the MPI library posted for itself.
    pub internal: Internal,
    /// Pending sends and receives, unexpected messages.
    pub messages: Messages,
    /// The latest calls of ranks.
    pub calls: PastCalls,
}

/// Processes, in columns.
#[derive(Debug, Default, Serialize)]
pub struct Ranks {
    /// `Snapshot::rank_of`.
    pub rank: Vec<Option<i64>>,
    /// Process id.
    pub pid: Vec<Option<i64>>,
    /// Host.
    pub host: Vec<TextId>,
    /// The program.
    pub program: Vec<TextId>,
    /// The MPI with its version and transport.
    pub mpi: Vec<TextId>,
    /// Who read it, and by which layouts.
    pub source: Vec<TextId>,
    /// The function of MPI that it is in.
    pub function: Vec<TextId>,
    /// The application's function.
    pub caller: Vec<TextId>,
    /// File and line.
    pub line: Vec<TextId>,
    /// The node of the wait-for graph.
    pub node: Vec<usize>,
    /// How it moved between two looks.
    pub movement: Vec<TextId>,
    /// What could not be read, the first sentence.
    pub problem: Vec<TextId>,
}

/// Communicators of one name.
#[derive(Debug, Default, Serialize)]
pub struct Column {
    /// Their name.
    pub name: String,
    /// How many processes have one.
    pub processes: usize,
    /// Sizes of the smallest and of the largest.
    pub least: Option<i64>,
    /// See `least`.
    pub most: Option<i64>,
}

/// What ranks have in communicators of one name, in columns.
#[derive(Debug, Default, Serialize)]
pub struct Cells {
    /// The communicators' column.
    pub column: Vec<usize>,
    /// Place of the process in the table of ranks.
    pub process: Vec<usize>,
    /// Pending sends.
    pub sends: Vec<i64>,
    /// Pending receives; negative in all three: the queue could not be read.
    pub receives: Vec<i64>,
    /// Unexpected messages.
    pub unexpected: Vec<i64>,
    /// The function of MPI that the process is in on it.
    pub function: Vec<TextId>,
    /// Number of its next non-blocking collective (`Communicator::next_sequence`).
    pub sequence: Vec<Option<i64>>,
}

/// Cells with operations that the MPI library posted for itself, and how many of each queue are such.
#[derive(Debug, Default, Serialize)]
pub struct Internal {
    /// Place in the table of cells.
    pub cell: Vec<usize>,
    /// Pending sends.
    pub sends: Vec<i64>,
    /// Pending receives.
    pub receives: Vec<i64>,
    /// Unexpected messages.
    pub unexpected: Vec<i64>,
}

/// The tables of a snapshot. `nodes`: the node of each process in the graph.
pub fn tables(snapshot: &Snapshot, findings: &[Finding], verdict: &Verdict, nodes: &[usize]) -> Tables {
    let mut strings = Strings::default();
    let mut found = Tables::default();
    let movement: HashMap<i64, &str> =
        verdict.movement.iter().filter_map(|one| Some((one.rank?, motion(one.state)))).collect();
    let columns = columns(snapshot, &mut found.columns);
    let rank = |process: &Process| snapshot.rank_of(process);
    let first: HashSet<i64> = findings.iter().flat_map(|finding| finding.ranks.iter().copied()).collect();
    for (place, process) in snapshot.processes.iter().enumerate() {
        let moved = rank(process).and_then(|rank| movement.get(&rank).copied());
        found.ranks.add(process, rank(process), nodes.get(place).copied().unwrap_or(0), moved, &mut strings);
        for communicator in &process.communicators {
            let column = column_of(&columns, &communicator.name);
            if found.cells.add(place, column, process, communicator, &mut strings) {
                found.internal.add(found.cells.process.len() - 1, communicator);
            }
        }
    }
    found.messages = messages(snapshot, &first, |name| column_of(&columns, name), &mut strings);
    let all = snapshot.processes.iter().enumerate().map(|(place, process)| (place, rank(process), &**process));
    found.calls = past_calls(all, &first, &mut strings);
    found.strings = strings.finished();
    found
}

/// The word of the JSON.
fn motion(state: model::Motion) -> &'static str {
    match state {
        model::Motion::Stuck => "stuck",
        model::Motion::Slow => "slow",
        model::Motion::Spinning => "spinning",
        model::Motion::Moved => "moved",
        model::Motion::Unknown => "unknown",
    }
}

/// The columns of communicators, by name; those of the most processes first.
fn columns<'a>(snapshot: &'a Snapshot, told: &mut Vec<Column>) -> HashMap<&'a str, usize> {
    let mut by_name: HashMap<&str, Column> = HashMap::new();
    let mut order: Vec<&str> = Vec::new();
    for communicator in snapshot.processes.iter().flat_map(|process| &process.communicators) {
        let column = by_name.entry(communicator.name.as_str()).or_insert_with(|| {
            order.push(communicator.name.as_str());
            Column::default()
        });
        column.processes += 1;
        column.least = column.least.min(communicator.size).or(column.least).or(communicator.size);
        column.most = column.most.max(communicator.size);
    }
    order.sort_by_key(|name| std::cmp::Reverse(by_name.get(name).map_or(0, |column| column.processes)));
    let mut places = HashMap::new();
    for name in order {
        let Some(mut column) = by_name.remove(name) else { continue };
        if told.len() < MOST_COLUMNS {
            column.name = name.chars().take(200).collect();
            told.push(column);
        } else if let Some(last) = told.last_mut() {
            // What is in no column of its own.
            last.processes += column.processes;
            last.name = "(others)".to_owned();
        }
        places.insert(name, told.len().saturating_sub(1));
    }
    places
}

fn column_of(columns: &HashMap<&str, usize>, name: &str) -> usize {
    columns.get(name).copied().unwrap_or(0)
}

impl Ranks {
    fn add(&mut self, process: &Process, rank: Option<i64>, node: usize, moved: Option<&str>, strings: &mut Strings) {
        self.rank.push(rank);
        self.pid.push(process.pid);
        self.host.push(strings.of(process.host.as_deref()));
        self.program.push(strings.of(process.executable.as_deref()));
        let mpi = process.mpi.as_ref().map(|mpi| {
            let parts = [Some(mpi.implementation.as_str()), mpi.version.as_deref(), mpi.transport.as_deref()];
            parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
        });
        self.mpi.push(strings.of(mpi.as_deref()));
        let source = process.source.as_ref().map(|source| {
            let parts = [Some(source.via.as_str()), source.layouts.as_deref(), source.plugin.as_deref()];
            parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
        });
        self.source.push(strings.of(source.as_deref()));
        let call = process.calls.first();
        let outside = process.outside.first();
        self.function.push(strings.of(call.map(|call| call.function.as_str())));
        let caller = call.and_then(|call| call.caller.as_deref()).or(outside.and_then(|one| one.caller.as_deref()));
        self.caller.push(strings.of(caller));
        let line = match (call, outside) {
            (Some(call), _) => strings.line(call.file.as_deref(), call.line),
            (None, Some(outside)) => strings.line(outside.file.as_deref(), outside.line),
            (None, None) => NONE,
        };
        self.line.push(line);
        self.node.push(node);
        self.movement.push(strings.of(moved));
        self.problem.push(strings.of(process.problems.first().map(String::as_str)));
    }
}

impl Cells {
    /// Adds a process's part in a communicator, where it has one there: whether it has.
    fn add(
        &mut self,
        place: usize,
        column: usize,
        process: &Process,
        communicator: &Communicator,
        strings: &mut Strings,
    ) -> bool {
        let counts = QueueKind::ALL.map(|kind| {
            let queue = kind.of(communicator);
            match queue.state {
                QueueState::Ok => i64::try_from(queue.operations.len()).unwrap_or(i64::MAX),
                _ if queue.operations.is_empty() => -1,
                _ => i64::try_from(queue.operations.len()).unwrap_or(i64::MAX),
            }
        });
        let call = process.calls.iter().find(|call| call.communicator == Some(communicator.unique_id));
        if counts == [0, 0, 0] && call.is_none() && communicator.next_sequence.is_none() {
            return false;
        }
        let [sends, receives, unexpected] = counts;
        self.column.push(column);
        self.process.push(place);
        self.sends.push(sends);
        self.receives.push(receives);
        self.unexpected.push(unexpected);
        self.function.push(strings.of(call.map(|call| call.function.as_str())));
        self.sequence.push(communicator.next_sequence);
        true
    }
}

impl Internal {
    fn add(&mut self, cell: usize, communicator: &Communicator) {
        let [sends, receives, unexpected] = QueueKind::ALL.map(|kind| internal(&kind.of(communicator).operations));
        if sends + receives + unexpected > 0 {
            self.cell.push(cell);
            self.sends.push(sends);
            self.receives.push(receives);
            self.unexpected.push(unexpected);
        }
    }
}

/// How many of these operations the MPI library posted for itself.
pub(crate) fn internal(operations: &[Operation]) -> i64 {
    i64::try_from(operations.iter().filter(|operation| operation.internal).count()).unwrap_or(i64::MAX)
}
