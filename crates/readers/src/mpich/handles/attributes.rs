//! Attributes of communicators, datatypes and windows: a list of objects that name their keyvals (pmodels/mpich,
//! src/include/mpir_attr.h, v3.4 to v5.0).

use std::collections::HashSet;

use super::super::handle_value::{HandleValue, ObjectKind};
use super::HandleReader;
use crate::record::{Record, Slot, shapes};
use crate::{ReaderError, add_problem};
use model::handle::{Attribute as Fact, AttributeValue, SetBy};
use target::address::TargetAddr;

shapes! {
    /// An attribute.
    Shape = ["MPIR_Attribute"] { handle: "handle", keyval: "keyval", next: "next", sort: "attrType", value: "value" };
}

/// No object has more attributes.
const MAX_ATTRIBUTES: usize = 1 << 16;

/// How a value was set (`MPIR_Attr_type`, src/include/mpir_attr_generic.h, v3.4.3 to v5.0.1).
const POINTER: i64 = 0;

/// One attribute.
#[derive(Debug, Clone, Copy)]
pub struct Attribute {
    /// The keyval's handle.
    pub keyval: HandleValue,
    /// Whether the library made the keyval for itself: its delete function is the library's own.
    pub library: bool,
    /// How it was set.
    sort: i64,
    /// The value, as bits.
    pub value: u64,
}

/// The attributes of the list at `at`, in the order of the keyvals.
///
/// # Errors
/// Where the list is damaged.
pub fn read(
    reader: &HandleReader<'_>,
    mut at: TargetAddr,
    problems: &mut Vec<String>,
) -> Result<Vec<Attribute>, ReaderError> {
    let shape = Shape::resolve(reader.layouts)?;
    let (mut found, mut seen, mut buffer) = (Vec::new(), HashSet::new(), Vec::new());
    while !at.is_null() {
        if !seen.insert(at) || seen.len() > MAX_ATTRIBUTES {
            return Err(ReaderError::Damaged(format!("the list of attributes runs in a circle at {at}")));
        }
        let record = Record::read(reader.target, at, shape.size, &mut buffer)?;
        let own = HandleValue(u32::try_from(record.uint(shape.handle)).unwrap_or(0));
        if own.kind() != Some(ObjectKind::Attr) {
            return Err(ReaderError::Damaged(format!("no attribute is at {at}")));
        }
        let keyval_at = record.pointer(shape.keyval);
        match reader.target.read_uint(keyval_at, 4) {
            Ok(value) => {
                let keyval = HandleValue(u32::try_from(value).unwrap_or(0));
                if keyval.kind() == Some(ObjectKind::Keyval) {
                    let library = is_library(reader, keyval_at);
                    let (sort, value) = (record.int(shape.sort), record.uint(shape.value));
                    found.push(Attribute { keyval, library, sort, value });
                } else {
                    add_problem(problems, format!("the attribute at {at} names a keyval at {keyval_at} that is none"));
                }
            }
            Err(error) => add_problem(problems, format!("the keyval of the attribute at {at}: {error}")),
        }
        at = record.pointer(shape.next);
    }
    found.sort_by_key(|attribute| attribute.keyval);
    Ok(found)
}

/// Whether the delete function of the keyval at `at` lies in the MPI library. The application's lie elsewhere, unless the
/// library is a part of the program.
fn is_library(reader: &HandleReader<'_>, at: TargetAddr) -> bool {
    let Ok(slot) = Slot::resolve(reader.layouts, "MPII_Keyval", "delfn.user_function") else { return false };
    let function = slot.read_pointer(reader.target, at);
    function.is_ok_and(|function| !function.is_null() && reader.in_library_image(function))
}

impl Attribute {
    /// The pointer that it holds, if it was set as one.
    pub fn pointer(&self) -> Option<TargetAddr> {
        (self.sort == POINTER).then(|| TargetAddr::new(self.value))
    }
}

impl HandleReader<'_> {
    /// Whether an address lies in the file of the MPI library, and that is not the executable.
    fn in_library_image(&self, at: TargetAddr) -> bool {
        let ranges = &self.process.pools.ranges;
        let (Some(first), Some(last)) = (
            ranges.iter().map(|range| range.start).min(),
            ranges.iter().map(|range| range.start.wrapping_add(range.len)).max(),
        ) else {
            return false;
        };
        let images = self.target.images().unwrap_or_default();
        let image = images.iter().filter(|image| image.bias <= first).max_by_key(|image| image.bias);
        image.is_some_and(|image| !image.is_executable && (image.bias..last).contains(&at))
    }
}

/// Attributes as facts; what the library has for itself (the topology) is left out.
pub fn facts(reader: &HandleReader<'_>, found: &[Attribute]) -> Vec<Fact> {
    let bits = 8 * u32::try_from(reader.target.abi().pointer_width.bytes()).unwrap_or(8);
    let signed = |value: u64| if bits == 32 { i64::from(value as u32 as i32) } else { value as i64 };
    let shown = found.iter().filter(|one| !one.library).map(|one| {
        let (value, by) = if one.sort == POINTER {
            (AttributeValue::Pointer(TargetAddr::new(one.value).to_string()), SetBy::C)
        } else {
            (AttributeValue::Number(signed(one.value)), SetBy::Fortran)
        };
        let keyval = i64::from(one.keyval.0 as i32);
        Fact { keyval, name: None, value, set_by: Some(by), predefined: Some(false) }
    });
    shown.collect()
}
