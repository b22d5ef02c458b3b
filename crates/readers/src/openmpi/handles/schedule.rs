//! Schedules of libnbc: rounds of operations, one after another in one piece of memory (ompi/mca/coll/libnbc/nbc_internal.h,
//! v4.1.4 and v5.0.7).

use std::collections::HashMap;

use super::HandleReader;
use crate::ReaderError;
use crate::openmpi::libnbc::{self, Algorithms, Member};
use crate::planned::{self, Doing, Step};
use crate::record::{Record, shapes, size_of};
use model::Schedule;
use target::address::TargetAddr;
use target::{Target, TargetError};

shapes! {
    /// With what every operation begins.
    First = ["NBC_Args_send"] { kind: "type" };
    /// An operation that applies an operator.
    Reduction = ["NBC_Args_op"] { operator: "op" };
    /// A schedule.
    Whole = ["NBC_Schedule"] { len: "size", data: "data" };
    /// A message to a member.
    Sent = ["NBC_Args_send"] { count: "count", buffer: "buf", datatype: "datatype", peer: "dest", local: "local", temporary: "tmpbuf" };
    /// A message from a member.
    Received = ["NBC_Args_recv"] { count: "count", buffer: "buf", datatype: "datatype", peer: "source", local: "local", temporary: "tmpbuf" };
    /// What of a communicator a schedule depends on.
    Comm = ["ompi_communicator_t"] { rank: "c_my_rank", group: "c_local_group", remote_group: "c_remote_group", flags: "c_flags" };
}

/// A schedule never has more bytes than this (64 Mi).
const MAX_SCHEDULE: u64 = 1 << 26;

/// The structures of a schedule's operations, by their numbers (`NBC_Fn_type`).
const OPERATIONS: &[&str] = &["NBC_Args_send", "NBC_Args_recv", "NBC_Args_op", "NBC_Args_copy", "NBC_Args_unpack"];

/// The size of a C int.
const INT: usize = 4;

/// A schedule that was read.
pub struct Rounds {
    at: TargetAddr,
    data: Vec<u8>,
    /// Where each round begins.
    starts: Vec<u64>,
    /// Where each operation is, with its number in [`OPERATIONS`].
    operations: Vec<(usize, usize)>,
}

impl Rounds {
    /// The schedule at `at`.
    ///
    /// A round is the number of its operations, then these one by one without padding, then a byte that tells whether another
    /// round follows.
    ///
    /// # Errors
    /// Where it cannot be read, or is none.
    pub fn read(reader: &HandleReader<'_>, at: TargetAddr) -> Result<Self, ReaderError> {
        let shape = Whole::resolve(reader.layouts)?;
        let sizes: Result<Vec<usize>, _> = OPERATIONS.iter().map(|name| size_of(reader.layouts, name)).collect();
        let sizes = sizes?;
        let int = First::resolve(reader.layouts)?.kind.size;
        let record = Record::owned(reader.target, at, shape.size)?;
        let damaged = |what: &str| ReaderError::Damaged(format!("the schedule at {at} {what}"));
        let len = u64::try_from(record.int(shape.len)).ok().filter(|len| *len <= MAX_SCHEDULE);
        let len = len.ok_or_else(|| damaged("is absurdly long"))?;
        let data = reader.target.read_bytes(record.pointer(shape.data), len as usize)?;
        let number = |position: usize| {
            let bytes = position.checked_add(int).and_then(|end| data.get(position..end));
            bytes.map(|bytes| reader.target.abi().uint(bytes)).ok_or_else(|| damaged("ends early"))
        };
        let (mut starts, mut operations) = (Vec::new(), Vec::new());
        let mut position = 0;
        loop {
            starts.push(position as u64);
            let count = number(position)?;
            position += int;
            for _ in 0..count {
                let kind = number(position)? as usize;
                let size = sizes.get(kind).ok_or_else(|| damaged("has an operation that does not exist"))?;
                operations.push((position, kind));
                position += size;
            }
            // Every round has at least these bytes, so this ends with the data.
            match data.get(position) {
                Some(0) => break,
                Some(_) => position += 1,
                None => return Err(damaged("ends early")),
            }
        }
        Ok(Self { at, data, starts, operations })
    }

    /// The number of the round that begins at `position`, from 1, and how many rounds there are.
    ///
    /// # Errors
    /// Where none begins there.
    pub fn place(&self, position: u64) -> Result<(u64, u64), ReaderError> {
        let place = self.starts.iter().position(|start| *start == position);
        let damaged = || ReaderError::Damaged(format!("no round of the schedule at {} begins at {position}", self.at));
        Ok((place.ok_or_else(damaged)? as u64 + 1, self.starts.len() as u64))
    }

    /// The operators that it uses, each once.
    ///
    /// # Errors
    /// Where the layouts do not have them.
    pub fn operators(&self, reader: &HandleReader<'_>) -> Result<Vec<TargetAddr>, ReaderError> {
        let shape = Reduction::resolve(reader.layouts)?.operator;
        let mut found = Vec::new();
        for (position, _) in self.operations.iter().filter(|(_, kind)| OPERATIONS.get(*kind) == Some(&"NBC_Args_op")) {
            let addr = self.record(reader, *position).pointer(shape);
            if !found.contains(&addr) {
                found.push(addr);
            }
        }
        Ok(found)
    }

    fn record(&self, reader: &HandleReader<'_>, position: usize) -> Record<'_> {
        let bytes = self.data.get(position..).unwrap_or_default();
        Record::new(TargetAddr::NULL, bytes, reader.target.abi())
    }

    /// Its steps.
    fn steps(&self, reader: &HandleReader<'_>) -> Result<Vec<Step>, ReaderError> {
        let (sent, received) = (Sent::resolve(reader.layouts)?, Received::resolve(reader.layouts)?);
        let mut sizes = Sizes { reader, known: HashMap::new() };
        let mut steps = Vec::new();
        for (position, kind) in &self.operations {
            let record = self.record(reader, *position);
            let doing = match kind {
                0 if record.uint(sent.local) != 0 => Doing::LocalSend(record.int(sent.peer)),
                0 => Doing::Send(record.int(sent.peer)),
                1 if record.uint(received.local) != 0 => Doing::LocalReceive(record.int(received.peer)),
                1 => Doing::Receive(record.int(received.peer)),
                2 => Doing::Reduce,
                3 => Doing::Copy,
                _ => Doing::Unpack,
            };
            let mut step = Step { doing, count: 0, bytes: None, buffer: 0, temporary: false };
            if doing.is_message() {
                let (count, datatype, buffer, temporary) = match kind {
                    0 => (sent.count, sent.datatype, sent.buffer, sent.temporary),
                    _ => (received.count, received.datatype, received.buffer, received.temporary),
                };
                (step.count, step.buffer) = (record.uint(count), record.uint(buffer));
                step.temporary = record.uint(temporary) != 0;
                step.bytes = sizes.of(record.pointer(datatype)).and_then(|size| size.checked_mul(step.count));
            }
            steps.push(step);
        }
        Ok(steps)
    }

    /// What it says of its collective.
    ///
    /// # Errors
    /// Where the layouts do not have its operations.
    pub fn planned(&self, reader: &HandleReader<'_>, member: Member) -> Result<Schedule, ReaderError> {
        let steps = self.steps(reader)?;
        Ok(Schedule {
            functions: libnbc::functions(&steps, member),
            sends: planned::sends(&steps),
            receives: planned::receives(&steps),
        })
    }
}

/// Sizes of datatypes in bytes.
struct Sizes<'r> {
    reader: &'r HandleReader<'r>,
    known: HashMap<TargetAddr, Option<u64>>,
}

impl Sizes<'_> {
    fn of(&mut self, datatype: TargetAddr) -> Option<u64> {
        let Self { reader, known } = self;
        let read = || {
            let size = reader.shapes.datatype.bytes;
            size.read_uint(reader.target, datatype).ok()
        };
        *known.entry(datatype).or_insert_with(read)
    }
}

/// What of this process and its communicator decides which schedule a function makes.
///
/// # Errors
/// Where the communicator cannot be read.
pub fn member(
    reader: &HandleReader<'_>,
    comm: TargetAddr,
    persistent: bool,
    temporary: bool,
) -> Result<Member, ReaderError> {
    let shape = Comm::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, comm, shape.size)?;
    let count = reader.shapes.group.count;
    let size = |group: TargetAddr| {
        let bytes = reader.target.read_bytes(count.address_in(group), count.size)?;
        Ok::<i64, TargetError>(reader.target.abi().int(&bytes))
    };
    let flags = record.uint(shape.flags);
    let inter = flags & reader.flag("OMPI_COMM_INTER") != 0;
    let topologies = ["OMPI_COMM_CART", "OMPI_COMM_GRAPH", "OMPI_COMM_DIST_GRAPH"].map(|name| reader.flag(name));
    Ok(Member {
        rank: record.int(shape.rank),
        size: size(record.pointer(shape.group))?,
        remote: if inter { Some(size(record.pointer(shape.remote_group))?) } else { None },
        topology: topologies.iter().all(|flag| *flag != 0).then(|| topologies.iter().any(|flag| flags & flag != 0)),
        persistent,
        temporary,
        algorithms: algorithms(reader.target),
    })
}

/// The algorithms that the user has asked for.
fn algorithms(target: &dyn Target) -> Algorithms {
    let number = |name: &str| {
        let at = target.symbol(name).ok().flatten()?.addr;
        Some(target.abi().int(&target.read_bytes(at, INT).ok()?))
    };
    Algorithms {
        broadcast: number("libnbc_ibcast_algorithm"),
        radix: number("libnbc_ibcast_knomial_radix"),
        all_reduce: number("libnbc_iallreduce_algorithm"),
        reduce: number("libnbc_ireduce_algorithm"),
        all_gather: number("libnbc_iallgather_algorithm"),
        scan: number("libnbc_iscan_algorithm"),
        exscan: number("libnbc_iexscan_algorithm"),
    }
}
