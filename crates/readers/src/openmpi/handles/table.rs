//! The tables from Fortran integers to objects (`opal_pointer_array_t`, opal/class/opal_pointer_array.h, v4.1.4).

use super::HandleReader;
use super::kinds::Kind;
use crate::ReaderError;
use crate::record::{Record, Slot};
use target::address::TargetAddr;

/// No table has more slots than this (16 Mi).
const MAX_SLOTS: i64 = 1 << 24;

/// The library's tables are read in pieces of this many slots.
const PIECE: u64 = 1 << 16;

/// Where the slots of a table lie, and how many there are; `None` where the library has no such table.
fn slots(reader: &HandleReader<'_>, kind: &Kind) -> Result<Option<(TargetAddr, u64)>, ReaderError> {
    let Some(symbol) = reader.symbol(kind.table)? else {
        return Ok(None);
    };
    let at = if kind.table_is_pointer { reader.target.read_pointer(symbol)? } else { symbol };
    if at.is_null() {
        return Ok(None);
    }
    let shape = &reader.shapes.pointer_array;
    let record = Record::owned(reader.target, at, shape.size)?;
    let len = record.int(shape.len);
    if !(0..=MAX_SLOTS).contains(&len) {
        return Err(ReaderError::Damaged(format!("the table {} has {len} slots", kind.table)));
    }
    Ok(Some((record.pointer(shape.addr), len as u64)))
}

/// The object that a Fortran integer stands for; `None` where it stands for none.
///
/// # Errors
/// Where the table cannot be read.
pub fn object_of(reader: &HandleReader<'_>, kind: &Kind, index: i64) -> Result<Option<TargetAddr>, ReaderError> {
    Ok(slot(reader, kind, index)?.filter(|found| !found.is_null()))
}

/// What stands in the table for a Fortran integer, null included; `None` where the table has no such place.
///
/// # Errors
/// Where the table cannot be read.
pub fn slot(reader: &HandleReader<'_>, kind: &Kind, index: i64) -> Result<Option<TargetAddr>, ReaderError> {
    let Some((at, len)) = slots(reader, kind)? else { return Ok(None) };
    let Some(index) = u64::try_from(index).ok().filter(|index| *index < len) else { return Ok(None) };
    let width = reader.target.abi().pointer_width.bytes();
    Ok(Some(reader.target.read_pointer(at.wrapping_add(index * width))?))
}

/// The Fortran integer that the object at `addr` says it has, where its slot of the table agrees.
///
/// # Errors
/// Where object or table cannot be read.
pub fn index_of(reader: &HandleReader<'_>, kind: &Kind, addr: TargetAddr) -> Result<Option<i64>, ReaderError> {
    let index = stated_index(reader, kind, addr)?;
    Ok((object_of(reader, kind, index)? == Some(addr)).then_some(index))
}

/// What the object says, whether its slot agrees or not.
///
/// # Errors
/// Where it cannot be read.
pub fn stated_index(reader: &HandleReader<'_>, kind: &Kind, addr: TargetAddr) -> Result<i64, ReaderError> {
    let slot = Slot::resolve(reader.layouts, kind.type_name, kind.index)?;
    let value = slot.read_uint(reader.target, addr)?;
    Ok(i64::from(value as u32 as i32))
}

/// The objects of the table in the order of their integers, without the null handle and each once.
///
/// # Errors
/// Where the table cannot be read.
pub fn objects(reader: &HandleReader<'_>, kind: &Kind) -> Result<Vec<TargetAddr>, ReaderError> {
    let mut found = Vec::new();
    let Some((at, len)) = slots(reader, kind)? else { return Ok(found) };
    let null = reader.symbol(kind.null)?;
    let abi = reader.target.abi();
    let width = abi.pointer_width.bytes();
    let mut seen = std::collections::HashSet::new();
    for first in (0..len).step_by(PIECE as usize) {
        let count = PIECE.min(len - first);
        let bytes = reader.target.read_bytes(at.wrapping_add(first * width), (count * width) as usize)?;
        for slot in bytes.chunks_exact(width as usize) {
            let addr = TargetAddr::new(abi.uint(slot));
            // The lowest bit marks a slot that is reserved (OMPI_COMM_SENTINEL, ompi/communicator/communicator.h, v5.0.7).
            if !addr.is_null() && addr.get() & 1 == 0 && Some(addr) != null && seen.insert(addr) {
                found.push(addr);
            }
        }
    }
    Ok(found)
}
