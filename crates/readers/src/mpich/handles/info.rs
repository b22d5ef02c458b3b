//! Info objects (pmodels/mpich, src/include/mpir_info.h): until 4.0 a list of objects of which each has a key and a value,
//! and the first neither; since 4.1 an array.

use serde_json::{Value, json};

use super::super::handle_value::{HandleValue, ObjectKind};
use super::value::{self, Meaning, Object};
use super::{Depth, HandleReader, NO_OBJECT};
use crate::ReaderError;
use crate::record::{Record, shape};
use model::{Handle, HandleKind};
use target::address::TargetAddr;
use target::{Reason, printable};

shape!(
    /// A list's member.
    Listed = ["MPIR_Info"] { handle: "handle", next: "next", key: "key", value: "value" }
);
shape!(
    /// An array.
    Array = ["MPIR_Info"] { entries: "entries", capacity: "capacity", count: "size" }
);

/// More keys than this are not read.
const MAX_ENTRIES: u64 = 10_000;

/// Longest text that is read, in bytes (MPI_MAX_INFO_VAL is 1024).
const MAX_TEXT: usize = 4096;

/// Adds what the object holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, object: &Object, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    handle.freed = Some(false);
    handle.name = object.constant.map(str::to_owned);
    let Some(at) = object.at else {
        object.constant.unwrap_or_default().clone_into(&mut handle.summary);
        for fact in ["count", "entries"] {
            handle.unknown(fact, NO_OBJECT);
        }
        return Ok(());
    };
    let places = places(reader, at)?;
    let count = places.len();
    let keys = if count == 1 { "1 key".to_owned() } else { format!("{count} keys") };
    handle.summary = match object.constant {
        Some(name) => format!("{name}, {keys}"),
        None => format!("info with {keys}"),
    };
    if depth == Depth::Full {
        add(reader, &places, handle);
        handle.unknown("used_by", "objects copy the keys of an info object, they do not keep it");
    }
    Ok(())
}

/// Adds the facts `count` and `entries`.
fn add(reader: &HandleReader<'_>, places: &[(TargetAddr, TargetAddr)], handle: &mut Handle) {
    handle.fact("count", places.len());
    let text = |at: TargetAddr| -> Result<String, Reason> {
        let bytes = reader.target.read_c_string(at, MAX_TEXT)?;
        Ok(printable(&bytes))
    };
    let mut entries = Vec::new();
    for (key, value) in places {
        match text(*key).and_then(|key| Ok(json!({ "key": key, "value": text(*value)? }))) {
            Ok(entry) => entries.push(entry),
            Err(reason) => handle.problems.push(format!("a key could not be read: {reason}")),
        }
    }
    handle.fact("entries", entries);
}

/// Keys and values of the info object of a C handle, as hints; why they are not known.
///
/// # Errors
/// A sentence.
pub fn hints(reader: &HandleReader<'_>, raw: u64) -> Result<Vec<Value>, Reason> {
    let at = match value::meaning(reader, HandleKind::Info, raw).map_err(Reason::of)? {
        Meaning::Null(_) => return Ok(Vec::new()),
        Meaning::Live(object) => object.at.ok_or_else(|| NO_OBJECT.to_owned())?,
        Meaning::Freed(why) | Meaning::Invalid(why) => return Err(why.into()),
    };
    let places = places(reader, at).map_err(Reason::of)?;
    let mut scratch = Handle::default();
    add(reader, &places, &mut scratch);
    match scratch.problems.into_iter().next() {
        Some(problem) => Err(problem.into()),
        None => Ok(scratch.facts.get("entries").and_then(Value::as_array).cloned().unwrap_or_default()),
    }
}

/// Where the keys and values are.
fn places(reader: &HandleReader<'_>, at: TargetAddr) -> Result<Vec<(TargetAddr, TargetAddr)>, ReaderError> {
    let mut buffer = Vec::new();
    if reader.layouts.has_field("MPIR_Info", "entries") {
        let shape = Array::resolve(reader.layouts)?;
        let record = Record::read(reader.target, at, shape.size, &mut buffer)?;
        let (count, capacity) = (record.uint(shape.count), record.uint(shape.capacity));
        if count > capacity || count > MAX_ENTRIES {
            return Err(ReaderError::Damaged(format!("the info object at {at} has {count} of {capacity} keys")));
        }
        if count == 0 {
            return Ok(Vec::new());
        }
        // Each has two pointers (`struct info_entry`, src/include/mpir_info.h, v4.1.3 and v5.0.1).
        let abi = reader.target.abi();
        let width = usize::try_from(abi.pointer_width.bytes()).unwrap_or(8);
        let bytes = reader.target.read_bytes(record.pointer(shape.entries), count as usize * 2 * width)?;
        let pointer = |bytes: &[u8]| TargetAddr::new(abi.uint(bytes));
        return Ok(bytes.chunks_exact(2 * width).map(|two| (pointer(&two[..width]), pointer(&two[width..]))).collect());
    }
    let shape = Listed::resolve(reader.layouts)?;
    let mut found = Vec::new();
    let mut next = Record::read(reader.target, at, shape.size, &mut buffer)?.pointer(shape.next);
    while !next.is_null() {
        if found.len() as u64 >= MAX_ENTRIES {
            return Err(ReaderError::Damaged(format!(
                "the info object at {at} runs in a circle, or has too many keys"
            )));
        }
        let record = Record::read(reader.target, next, shape.size, &mut buffer)?;
        let value = HandleValue(u32::try_from(record.uint(shape.handle)).unwrap_or(0));
        if value.kind() != Some(ObjectKind::Info) {
            return Err(ReaderError::Damaged(format!("the info object at {at} goes on at {next}, where none stands")));
        }
        found.push((record.pointer(shape.key), record.pointer(shape.value)));
        next = record.pointer(shape.next);
    }
    Ok(found)
}
