//! Info objects (pmodels/mpich, src/include/mpir_info.h): until 4.0 a list of objects of which each has a key and a value,
//! and the first neither; since 4.1 an array.

use super::super::handle_value::{HandleValue, ObjectKind};
use super::value::{self, Meaning, Object};
use super::{Depth, HandleReader, NO_OBJECT};
use crate::ReaderError;
use crate::record::{Record, shapes};
use model::handle::{self, Entry};
use model::{Handle, HandleKind, Known};
use target::address::TargetAddr;
use target::printable;

shapes! {
    /// A list's member.
    Listed = ["MPIR_Info"] { handle: "handle", next: "next", key: "key", value: "value" };
    /// An array.
    Array = ["MPIR_Info"] { entries: "entries", capacity: "capacity", count: "size" };
}

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
    handle.name_info(object.constant, places.len() as u64);
    if depth == Depth::Full {
        let entries = places.iter().filter_map(|place| match entry(reader, *place) {
            Ok(entry) => Some(entry),
            Err(reason) => {
                handle.problems.push(format!("a key could not be read: {reason}"));
                None
            }
        });
        handle::Info::new(Ok(places.len()), entries.collect()).tell(handle);
    }
    Ok(())
}

/// A key and its value.
fn entry(reader: &HandleReader<'_>, (key, value): (TargetAddr, TargetAddr)) -> Known<Entry> {
    let text = |at: TargetAddr| reader.target.read_c_string(at, MAX_TEXT).map(|bytes| printable(&bytes));
    Ok(Entry { key: text(key)?, value: text(value)?, ..Entry::default() })
}

/// Keys and values of the info object of a C handle, as hints.
pub fn hints(reader: &HandleReader<'_>, raw: u64) -> Known<Vec<Entry>> {
    let at = match value::meaning(reader, HandleKind::Info, raw)? {
        Meaning::Null(_) => return Ok(Vec::new()),
        Meaning::Live(object) => object.at.ok_or(NO_OBJECT)?,
        Meaning::Freed(why) | Meaning::Invalid(why) => return Err(why.into()),
    };
    let whole = |reason| format!("a key could not be read: {reason}").into();
    places(reader, at)?.into_iter().map(|place| entry(reader, place).map_err(whole)).collect()
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
