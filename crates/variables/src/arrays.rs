//! Arrays with their bounds, which may be worked out from variables and descriptors.

use std::rc::Rc;

use calls::Unknown;
use gimli::{AttributeValue, constants as dw};

use crate::Section;
use crate::die::{Die, Entry};
use crate::frame::{Context, damaged};
use crate::limits::{LARGEST, MOST_DIMENSIONS};
use crate::locate::{Subject, computed};
use crate::types::{Real, Type};
use crate::variable::value_of;

/// An array.
pub(crate) struct Array {
    pub element: Type,
    /// The bytes of an element.
    pub width: i128,
    /// The outermost first: that of C's first index, of Fortran's last one.
    pub dimensions: Vec<Dimension>,
    /// Where its elements lie, if elsewhere than the object (a descriptor of Fortran).
    pub data: Option<u64>,
}

/// Of an array whose bounds are not written down, or not any more.
pub(crate) fn unknown_bounds() -> Unknown {
    Unknown::new("the bounds of the array are not known")
}

/// One dimension of an array.
pub(crate) struct Dimension {
    pub low: i128,
    /// `None` where it is not known how many there are.
    pub high: Option<i128>,
    /// Bytes from one index to the next; `None` where it is not known how many there are in the dimensions within it.
    pub stride: Option<i128>,
}

impl Dimension {
    /// How many indices it has.
    pub fn count(&self) -> Option<i128> {
        Some((self.high? - self.low + 1).max(0))
    }
}

impl Array {
    /// The bytes of it, without its first dimensions.
    pub fn size(&self, from: usize) -> Result<i128, Unknown> {
        let mut size = self.width;
        for dimension in self.dimensions.iter().skip(from) {
            let count = dimension.count().ok_or_else(unknown_bounds)?;
            size = size.checked_mul(count).filter(|size| *size <= LARGEST).ok_or_else(damaged)?;
        }
        Ok(size)
    }
}

/// The array of a type for the object at an address.
pub(crate) fn array(context: &Context, die: &Die, object: Option<u64>) -> Result<Real, Unknown> {
    let subject = Subject { object, ..Subject::default() };
    for (name, what) in [(dw::DW_AT_allocated, "allocated"), (dw::DW_AT_associated, "associated")] {
        if let Some((owner, value)) = die.attribute(name)
            && prop(context, &owner, value, subject, None)? == 0
        {
            return Err(Unknown::new(format!("it is not {what}")));
        }
    }
    let data = match die.attribute(dw::DW_AT_data_location) {
        Some((owner, value)) => Some(computed(context, &owner, value, subject)?),
        None => None,
    };
    let element = Type::of(die);
    let width = element.size(context, None)?;
    let mut found = Vec::new();
    let mut failed = None;
    die.each_child(context.end(), &mut |child, entry| {
        match dimension(context, child, entry, subject) {
            Ok(one) => found.extend(one),
            Err(unknown) => failed = Some(unknown),
        }
        failed.is_some() || found.len() > MOST_DIMENSIONS
    });
    if let Some(unknown) = failed {
        return Err(unknown);
    }
    if found.len() > MOST_DIMENSIONS {
        return Err(damaged());
    }
    if found.is_empty() {
        return Err(unknown_bounds());
    }
    let column_major = match die.attribute(dw::DW_AT_ordering) {
        Some((_, AttributeValue::Ordering(order))) => order == dw::DW_ORD_col_major,
        _ => die.unit.is_fortran(),
    };
    if column_major {
        found.reverse();
    }
    // What a dimension does not say of its stride follows from those within it.
    let mut stride = Some(width);
    let mut dimensions = Vec::new();
    for one in found.into_iter().rev() {
        let dimension = Dimension { low: one.low, high: one.high, stride: one.stride.or(stride) };
        stride = match (dimension.stride, dimension.count()) {
            (Some(stride), Some(count)) => {
                let next = stride.checked_mul(count).filter(|stride| stride.abs() <= LARGEST);
                Some(next.ok_or_else(damaged)?)
            }
            _ => None,
        };
        dimensions.push(dimension);
    }
    dimensions.reverse();
    Ok(Real::Array(Rc::new(Array { element, width, dimensions, data }), 0))
}

/// What the debug information says of a dimension.
struct Bounds {
    low: i128,
    high: Option<i128>,
    stride: Option<i128>,
}

fn dimension(context: &Context, die: &Die, entry: &Entry, subject: Subject) -> Result<Option<Bounds>, Unknown> {
    if entry.tag() == dw::DW_TAG_generic_subrange {
        return Err(Unknown::new("how many dimensions the array has is not known"));
    }
    if entry.tag() == dw::DW_TAG_enumeration_type {
        // As of Pascal: indexed by an enumeration.
        let mut count = 0;
        die.each_child(context.end(), &mut |_, _| {
            count += 1;
            false
        });
        return Ok(Some(Bounds { low: 0, high: Some(count - 1), stride: None }));
    }
    if entry.tag() != dw::DW_TAG_subrange_type {
        return Ok(None);
    }
    // Numbers are written down in as few bytes as they take, whatever their sign.
    let index = match Type::of(die).real(context, None) {
        Ok(Real::Number { bytes, signed: true, .. }) => Some(bytes),
        _ => None,
    };
    let get = |name| match die.attribute(name) {
        Some((owner, value)) => prop(context, &owner, value, subject, index).map(Some),
        None => Ok(None),
    };
    let low = get(dw::DW_AT_lower_bound)?.unwrap_or(if die.unit.is_fortran() { 1 } else { 0 });
    // Where the bound is computed and cannot be, it is not known how many elements there are.
    let upper = get(dw::DW_AT_upper_bound).unwrap_or(None);
    let count = get(dw::DW_AT_count).unwrap_or(None);
    let high = upper.or(count.and_then(|count| low.checked_add(count)?.checked_sub(1)));
    let limit = |number: i128| (-LARGEST..=LARGEST).contains(&number);
    if !limit(low) || high.is_some_and(|high| !limit(high)) {
        return Err(damaged());
    }
    let stride = match get(dw::DW_AT_byte_stride)? {
        Some(stride) => Some(stride),
        None => get(dw::DW_AT_bit_stride)?.map(|bits| bits.div_euclid(8)),
    };
    Ok(Some(Bounds { low, high, stride }))
}

/// A number that the debug information says, computes, or has a variable for; `index`: the bytes of its type, where that has a
/// sign.
fn prop(
    context: &Context,
    die: &Die,
    value: AttributeValue<Section>,
    subject: Subject,
    index: Option<u64>,
) -> Result<i128, Unknown> {
    if let Some(variable) = die.referred(&value) {
        return value_of(context, &variable)?.number_of(context);
    }
    match value {
        AttributeValue::Sdata(number) => Ok(number.into()),
        AttributeValue::Exprloc(_) | AttributeValue::LocationListsRef(_) | AttributeValue::DebugLocListsIndex(_) => {
            // A program computes with the numbers of its registers.
            computed(context, die, value, subject).map(|number| i128::from(number as i64))
        }
        AttributeValue::Flag(flag) => Ok(flag.into()),
        other => {
            let number = other.udata_value().ok_or_else(damaged)?;
            // gcc writes an upper bound of -1 for an array of length 0.
            let narrow = index.filter(|bytes| *bytes == 4 && matches!(other, AttributeValue::Data4(_)));
            Ok(i128::from(if narrow.is_some() { i64::from(number as i32) } else { number as i64 }))
        }
    }
}
