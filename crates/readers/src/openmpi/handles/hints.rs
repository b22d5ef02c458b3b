//! Keys and values: of info objects, and the hints that communicators, files and windows have from them.

use super::HandleReader;
use crate::ReaderError;
use crate::record::{Record, Slot, shapes};
use crate::walk::circular_list;
use layouts::FieldKind;
use model::Known;
use model::handle::{self, Entry};
use target::address::TargetAddr;
use target::{Reason, printable};

shapes! {
    /// A list of keys and values (opal/util/info.h, v4.1.4 and v5.0.7).
    Info = ["opal_info_t"] { sentinel: "super.opal_list_sentinel", count: "super.opal_list_length" };
    /// One key and its value.
    Listed = ["opal_info_entry_t"] { key: "ie_key", value: "ie_value" } optional { internal: "ie_internal" };
    /// A counted text, since 5.0 (opal/util/info.h and opal/class/opal_cstring.h, v5.0.7).
    CountedText = ["opal_cstring_t"] { length: "length", text: "string" };
}

/// More keys than this are not read.
const MAX_ENTRIES: usize = 10_000;

/// Longest text that is read, in bytes (MPI_MAX_INFO_VAL is 256).
const MAX_TEXT: usize = 4096;

/// Until 4.1 the library notes under the key with this before it what the application has given
/// (OPAL_INFO_SAVE_PREFIX in opal/util/info.h, v4.1.4).
const GIVEN: &str = "_OMPI_IN_";

/// A key, its value, and whether the library has marked it as one that it does not use
/// (`opal_infosubscribe_change_info` in opal/util/info_subscriber.c, v5.0.7).
struct Pair {
    key: String,
    value: String,
    internal: bool,
}

/// The hints at `info`, an object's `s_info` (null: it never had any).
pub fn read(reader: &HandleReader<'_>, info: TargetAddr, problems: &mut Vec<String>) -> Known<Vec<Entry>> {
    let (pairs, stopped) = pairs(reader, info)?;
    problems.extend(stopped.map(|reason| format!("not all hints could be read: {reason}")));
    Ok(hints(pairs))
}

/// The value of a hint that the library does not use is what the application has given.
fn hints(pairs: Vec<Pair>) -> Vec<Entry> {
    let (given, plain): (Vec<Pair>, Vec<Pair>) = pairs.into_iter().partition(|pair| pair.key.starts_with(GIVEN));
    let hint = |pair: Pair| Entry { key: pair.key, value: pair.value, ignored: Some(pair.internal), given: None };
    let mut hints: Vec<Entry> = plain.into_iter().map(hint).collect();
    for pair in given {
        let key = pair.key.trim_start_matches(GIVEN);
        match hints.iter_mut().find(|plain| plain.key == key) {
            Some(plain) if plain.value != pair.value => plain.given = Some(pair.value),
            Some(_) => {}
            None => hints.push(hint(Pair { key: key.to_owned(), internal: true, ..pair })),
        }
    }
    hints
}

/// What the info object whose list is at `info` has.
///
/// # Errors
/// Where the list itself cannot be read.
pub fn info(
    reader: &HandleReader<'_>,
    info: TargetAddr,
    problems: &mut Vec<String>,
) -> Result<handle::Info, ReaderError> {
    let (pairs, stopped) = pairs(reader, info)?;
    let count = stopped.map_or(Ok(pairs.len()), |reason| {
        problems.push(format!("not all keys could be read: {reason}"));
        Err(Reason::new(reason))
    });
    let entry = |pair: Pair| Entry { key: pair.key, value: pair.value, ..Entry::default() };
    Ok(handle::Info::new(count, pairs.into_iter().map(entry).collect()))
}

/// How many keys the list at `info` says that it has.
///
/// # Errors
/// Where it cannot be read.
pub fn count(reader: &HandleReader<'_>, info: TargetAddr) -> Result<u64, ReaderError> {
    let shape = Info::resolve(reader.layouts)?;
    Ok(Record::owned(reader.target, info, shape.size)?.uint(shape.count))
}

/// All pairs in the order of the list, and why they are not all.
fn pairs(reader: &HandleReader<'_>, info: TargetAddr) -> Result<(Vec<Pair>, Option<String>), ReaderError> {
    if info.is_null() {
        return Ok((Vec::new(), None));
    }
    let (shape, entry) = (Info::resolve(reader.layouts)?, Listed::resolve(reader.layouts)?);
    let record = Record::owned(reader.target, info, shape.size)?;
    let count = record.uint(shape.count);
    let next = reader.shapes.list_item.next.offset as u64;
    let walk = circular_list(reader.target, record.address_of(shape.sentinel), next, MAX_ENTRIES);
    let mut stopped = walk.stopped.map(|stop| stop.to_string());
    if stopped.is_none() && walk.elements.len() as u64 != count {
        stopped = Some(format!("the list has {} keys and says that it has {count}", walk.elements.len()));
    }
    let mut found = Vec::new();
    for at in walk.elements {
        match pair(reader, &entry, at) {
            Ok(pair) => found.push(pair),
            Err(error) => stopped = Some(format!("the entry at {at}: {error}")),
        }
    }
    Ok((found, stopped))
}

fn pair(reader: &HandleReader<'_>, shape: &Listed, at: TargetAddr) -> Result<Pair, ReaderError> {
    let record = Record::owned(reader.target, at, shape.size)?;
    // Until 4.1 the key is an array and the value a `char *`; since 5.0 both are counted texts.
    let counted = shape.key.kind == FieldKind::Pointer;
    let text = |slot: Slot| -> Result<String, ReaderError> {
        if !counted {
            return Ok(printable(&record.text(slot, MAX_TEXT, reader.target)?));
        }
        let shape = CountedText::resolve(reader.layouts)?;
        let at = record.pointer(slot);
        let length = shape.length.read_uint(reader.target, at)?;
        let length = usize::try_from(length)
            .ok()
            .filter(|length| *length <= MAX_TEXT)
            .ok_or_else(|| ReaderError::Damaged(format!("the text at {at} has {length} bytes")))?;
        let bytes = reader.target.read_bytes(shape.text.address_in(at), length + 1)?;
        if bytes.iter().position(|byte| *byte == 0) != Some(length) {
            return Err(ReaderError::Damaged(format!("the text at {at} has not the {length} bytes that it says")));
        }
        Ok(printable(&bytes[..length]))
    };
    let internal = shape.internal.is_some_and(|slot| record.uint(slot) != 0);
    Ok(Pair { key: text(shape.key)?, value: text(shape.value)?, internal })
}
