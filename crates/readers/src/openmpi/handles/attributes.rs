//! Attributes of communicators, datatypes, windows and sessions.
//!
//! Each object has a hash table from keyvals to values (ompi/attribute/attribute.c, v4.1.4 and v5.0.7). What the library
//! knows of a keyval itself (its callbacks) hangs from a static variable that a stripped library does not name.

use super::HandleReader;
use crate::record::{Record, shapes};
use crate::{ReaderError, add_problem};
use model::Known;
use model::handle::{Attribute, AttributeValue, SetBy};
use target::address::TargetAddr;

shapes! {
    /// A hash table with open addressing (opal/class/opal_hash_table.c, v4.1.4 and v5.0.7).
    Table = ["opal_hash_table_t"] { elements: "ht_table", capacity: "ht_capacity", count: "ht_size" };
    /// A place in it.
    Element = ["opal_hash_element_t"] { valid: "valid", key: "key.u32", value: "value" };
    /// A value with the way in which it was set.
    Value = ["attribute_key_value_t"] {
        key: "av_key",
        pointer: "av_value.av_pointer",
        int: "av_value.av_int",
        fint: "av_value.av_fint",
        aint: "av_value.av_aint",
        set_from: "av_set_from",
    };
}

/// No table has more places than this; the library's begin with 31.
const MAX_CAPACITY: u64 = 1 << 16;

/// The names of the standard's own keyvals, whose numbers mpi.h has, and whether C reads their values as pointers to an int.
const PREDEFINED: &[(&str, bool)] = &[
    ("MPI_TAG_UB", true),
    ("MPI_HOST", true),
    ("MPI_IO", true),
    ("MPI_WTIME_IS_GLOBAL", true),
    ("MPI_APPNUM", true),
    ("MPI_LASTUSEDCODE", true),
    ("MPI_UNIVERSE_SIZE", true),
    ("MPI_FT", true),
    ("MPI_WIN_BASE", false),
    ("MPI_WIN_SIZE", false),
    ("MPI_WIN_DISP_UNIT", true),
    ("MPI_WIN_CREATE_FLAVOR", true),
    ("MPI_WIN_MODEL", true),
];

/// The attributes in the hash table at `table` (null: none was ever set), in the order of the keyvals.
pub fn read(reader: &HandleReader<'_>, table: TargetAddr, problems: &mut Vec<String>) -> Known<Vec<Attribute>> {
    let values = values(reader, table)?;
    let shape = Value::resolve(reader.layouts)?;
    let mut found = Vec::new();
    for (key, at) in values {
        match attribute(reader, &shape, key, at) {
            Ok(attribute) => found.push(attribute),
            Err(error) => add_problem(problems, format!("the attribute of the keyval {key} is not known: {error}")),
        }
    }
    Ok(found)
}

/// The keyvals of a table with the places of their values, in the order of the keyvals.
pub fn values(reader: &HandleReader<'_>, table: TargetAddr) -> Result<Vec<(i64, TargetAddr)>, ReaderError> {
    if table.is_null() {
        return Ok(Vec::new());
    }
    let (shape, element) = (Table::resolve(reader.layouts)?, Element::resolve(reader.layouts)?);
    let record = Record::owned(reader.target, table, shape.size)?;
    let (elements, capacity, count) =
        (record.pointer(shape.elements), record.uint(shape.capacity), record.uint(shape.count));
    if capacity > MAX_CAPACITY || count > capacity {
        return Err(ReaderError::Damaged(format!("the hash table at {table} has {count} of {capacity}")));
    }
    let bytes = reader.target.read_bytes(elements, capacity as usize * element.size)?;
    let places = bytes.chunks_exact(element.size).map(|bytes| Record::new(elements, bytes, reader.target.abi()));
    let mut found: Vec<_> = places
        .filter(|place| place.uint(element.valid) != 0)
        .map(|place| (i64::from(place.uint(element.key) as u32 as i32), place.pointer(element.value)))
        .collect();
    if found.len() as u64 != count {
        let found = found.len();
        return Err(ReaderError::Damaged(format!("the hash table at {table} has {found} of {count}")));
    }
    found.sort_unstable();
    Ok(found)
}

fn attribute(reader: &HandleReader<'_>, shape: &Value, key: i64, at: TargetAddr) -> Result<Attribute, ReaderError> {
    let record = Record::owned(reader.target, at, shape.size)?;
    // No class of the library states the size of this structure: that it names its own keyval is what shows that it is one.
    if record.int(shape.key) != key {
        return Err(ReaderError::Damaged(format!(
            "the value at {at} says that it is that of {}",
            record.int(shape.key)
        )));
    }
    let constant = |name: &str| reader.layouts.constant(name).ok();
    // Where mpi.h's numbers are not known, neither is whose a keyval is.
    let known = constant("MPI_TAG_UB").is_some();
    let predefined = PREDEFINED.iter().find(|(name, _)| constant(name) == Some(key));
    let set_from = Some(record.int(shape.set_from));
    let (value, by) = if set_from == constant("OMPI_ATTRIBUTE_C") {
        let pointer = record.pointer(shape.pointer);
        // MPI_Comm_dup copies the attributes of MPI_COMM_WORLD as C sees them: as pointers to the values.
        let points_to_number = predefined.is_some_and(|(_, int)| *int);
        let value = if points_to_number {
            AttributeValue::Number(i64::from(reader.target.read_uint(pointer, 4)? as u32 as i32))
        } else {
            AttributeValue::Pointer(pointer.to_string())
        };
        (value, SetBy::C)
    } else if set_from == constant("OMPI_ATTRIBUTE_INT") {
        (AttributeValue::Number(record.int(shape.int)), SetBy::C)
    } else if set_from == constant("OMPI_ATTRIBUTE_FINT") {
        (AttributeValue::Number(record.int(shape.fint)), SetBy::Fortran)
    } else if set_from == constant("OMPI_ATTRIBUTE_AINT") {
        (AttributeValue::Number(record.int(shape.aint)), SetBy::Fortran)
    } else {
        let word = record.int(shape.set_from);
        return Err(ReaderError::Damaged(format!("the value at {at} was set in a way that does not exist ({word})")));
    };
    Ok(Attribute {
        keyval: key,
        name: predefined.map(|(name, _)| (*name).to_owned()),
        value,
        set_by: Some(if predefined.is_some() { SetBy::Library } else { by }),
        predefined: known.then_some(predefined.is_some()),
    })
}
