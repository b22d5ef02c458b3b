//! Structure layouts and enumerators from the DWARF of one file, versions 2 to 5.
//!
//! The file may be damaged or made to hurt: recursion, the number of fields and the time are bounded, and everything
//! that cannot be understood is an error with a reason.

mod describe;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gimli::{AttributeValue, Reader, UnitOffset, constants as dw};
use symbols::{DebugUnit, Entry, UnitStart, Units, Value, is_set};

use super::object_file::DebugSections;
use super::{FieldKind, TypeLayout};
use target::{Reason, TargetAbi};

/// Nesting of typedefs, qualifiers, pointers, arrays and structures that is followed.
const MAX_DEPTH: usize = 48;

/// More fields than this, nested ones included, are not a structure of an MPI library.
const MAX_FIELDS: usize = 8192;

/// Longest flattened field name and longest type name, in bytes.
const MAX_NAME: usize = 512;

/// A larger structure is damaged debug information.
const MAX_TYPE_SIZE: u64 = 1 << 30;

/// Reading one file may take this long.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// More units, or names of types and enumerators, are damage.
const MAX_UNITS: usize = 1 << 18;
const MAX_NAMES: usize = 1 << 20;

/// Where a type stands: its unit, and its offset therein.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    unit: UnitStart,
    offset: UnitOffset,
}

/// What a reference to a type comes to, behind typedefs and qualifiers.
struct Described {
    kind: FieldKind,
    size: u64,
    name: String,
    /// The structure or union, if it is one.
    members: Option<Place>,
}

/// A layout that members are being added to.
struct Growing {
    layout: TypeLayout,
    /// Members that were looked at, those without a name included.
    members: usize,
}

/// Types by name and enumerators of one file.
pub(super) struct DwarfTypes {
    units: Units,
    /// Byte order and pointer width of the file.
    pub abi: TargetAbi,
    structures: HashMap<String, Place>,
    typedefs: HashMap<String, Place>,
    /// Enumerators by name; the first definition counts.
    pub enumerators: HashMap<String, i64>,
    /// Names whose definitions in this file differ in size.
    pub conflicts: Vec<String>,
    deadline: Instant,
    /// Whether a unit says that its types stand in another file.
    split: bool,
}

impl DwarfTypes {
    /// Indexes the types of a file.
    ///
    /// # Errors
    /// A sentence without the file's name, where the debug information is damaged or too large.
    pub fn new(sections: &DebugSections) -> Result<Self, Reason> {
        let mut types = Self {
            units: Units::new(Arc::new(sections.units())),
            abi: sections.abi,
            structures: HashMap::new(),
            typedefs: HashMap::new(),
            enumerators: HashMap::new(),
            conflicts: Vec::new(),
            deadline: Instant::now() + TIME_LIMIT,
            split: false,
        };
        types.index()?;
        Ok(types)
    }

    /// The layout of the structure or union that is called `name`, by typedef or by tag; `None` where the file does not
    /// define it.
    ///
    /// # Errors
    /// A sentence, where its definition is damaged.
    pub fn layout(&self, name: &str) -> Result<Option<TypeLayout>, Reason> {
        let start = match (self.typedefs.get(name), self.structures.get(name)) {
            (Some(typedef), _) => *typedef,
            (None, Some(structure)) => *structure,
            (None, None) => return Ok(None),
        };
        let described = self.describe(start, 0);
        let described = match (described, self.structures.get(name)) {
            (Ok(described), _) if described.members.is_some() => described,
            // The typedef has nothing to do with the structure of that name, or names a type that stays incomplete.
            (_, Some(structure)) => self.describe(*structure, 0)?,
            (Ok(_), None) => return Ok(None),
            (Err(reason), None) => return Err(reason),
        };
        let Some(place) = described.members else { return Ok(None) };
        let layout = TypeLayout { size: described.size, fields: Arc::default() };
        let mut growing = Growing { layout, members: 0 };
        self.flatten(place, 0, "", 0, &mut growing)?;
        Ok(Some(growing.layout))
    }

    fn index(&mut self) -> Result<(), Reason> {
        let starts: Vec<_> = self.units.starts().collect();
        self.has_room(starts.len(), MAX_UNITS)?;
        if let Some(error) = self.units.damage() {
            return Err(self.why(error));
        }
        for start in starts {
            if Instant::now() > self.deadline {
                return Err(Reason::new(format!("indexing its types takes longer than {} s", TIME_LIMIT.as_secs())));
            }
            self.index_unit(start).map_err(|error| self.why(error))?;
            self.has_room(self.structures.len() + self.typedefs.len() + self.enumerators.len(), MAX_NAMES)?;
        }
        if self.split && self.structures.is_empty() {
            return Err(Reason::new(
                "its types are in .dwo files (-gsplit-dwarf), which are not read; compile without that option",
            ));
        }
        Ok(())
    }

    /// Why something cannot be read: it may be beyond what a file may take.
    fn why(&self, error: gimli::Error) -> Reason {
        self.units.reader().budget().over().map_or_else(|| Reason::of(error), Reason::of)
    }

    fn has_room(&self, count: usize, most: usize) -> Result<(), Reason> {
        let room = self.units.reader().budget().entries(
            "debug information",
            "units, types and constants",
            count as u64,
            most as u64,
        );
        room.map_err(Reason::of)
    }

    fn index_unit(&mut self, start: UnitStart) -> gimli::Result<()> {
        let unit = self.unit(start)?;
        self.split |= unit.dwo_id.is_some();
        let mut cursor = unit.entries();
        // The unit's own entry, its first child, and that one's siblings: types inside functions are not entered.
        if cursor.next_dfs()?.is_none() || cursor.next_dfs()?.is_none_or(|entry| entry.depth() != 1) {
            return Ok(());
        }
        loop {
            if let Some(entry) = cursor.current() {
                self.index_entry(&unit, entry)?;
            }
            if cursor.next_sibling()?.is_none() {
                return Ok(());
            }
        }
    }

    fn index_entry(&mut self, unit: &DebugUnit, entry: &Entry) -> gimli::Result<()> {
        let place = Place { unit: unit.start, offset: entry.offset() };
        match entry.tag() {
            dw::DW_TAG_structure_type | dw::DW_TAG_union_type | dw::DW_TAG_class_type => {
                if is_declaration(entry) {
                    return Ok(());
                }
                if let Some(name) = self.name(unit, entry) {
                    if let Some(first) = self.structures.get(&name) {
                        self.note_conflict(&name, *first, entry);
                    } else {
                        self.structures.insert(name, place);
                    }
                }
            }
            dw::DW_TAG_typedef => {
                if let Some(name) = self.name(unit, entry) {
                    self.typedefs.entry(name).or_insert(place);
                }
            }
            dw::DW_TAG_enumeration_type if !is_declaration(entry) => self.index_enumerators(unit, entry)?,
            _ => {}
        }
        Ok(())
    }

    /// A structure of the same name in another unit is normally the same one; a different size proves that it is not.
    fn note_conflict(&mut self, name: &str, first: Place, entry: &Entry) {
        let size = |entry: &Entry| entry.attr_value(dw::DW_AT_byte_size).and_then(|value| value.udata_value());
        let first = self.unit(first.unit).ok().and_then(|unit| unit.entry(first.offset).ok());
        let differs = first.is_some_and(|first| size(&first) != size(entry));
        if differs && !self.conflicts.iter().any(|known| known == name) {
            self.conflicts.push(name.to_owned());
        }
    }

    fn index_enumerators(&mut self, unit: &DebugUnit, entry: &Entry) -> gimli::Result<()> {
        let place = Place { unit: unit.start, offset: entry.offset() };
        let described = self.describe(place, 0).ok();
        let mut cursor = unit.entries_at_offset(entry.offset())?;
        cursor.next_dfs()?;
        while let Some(child) = cursor.next_dfs()? {
            if child.depth() < 1 {
                break;
            }
            if child.tag() != dw::DW_TAG_enumerator {
                continue;
            }
            let value = child.attr_value(dw::DW_AT_const_value);
            let value = value.and_then(|value| enumerator_value(&value, described.as_ref()));
            if let (Some(name), Some(value)) = (self.name(unit, child), value) {
                self.enumerators.entry(name).or_insert(value);
            }
        }
        Ok(())
    }

    fn unit(&self, start: UnitStart) -> gimli::Result<Arc<DebugUnit>> {
        self.units.unit(start).ok_or(gimli::Error::MissingUnitDie)
    }

    fn name(&self, unit: &DebugUnit, entry: &Entry) -> Option<String> {
        let value = entry.attr_value(dw::DW_AT_name)?;
        let name = unit.dwarf().attr_string(unit, value).ok()?;
        let is_usual = (1..=MAX_NAME).contains(&name.len());
        is_usual.then(|| name.to_string().ok().map(Cow::into_owned)).flatten()
    }
}

fn is_declaration(entry: &Entry) -> bool {
    is_set(entry, dw::DW_AT_declaration)
}

/// An enumerator's value. Compilers write a negative one in a signed form, or as the bytes of the enumeration's own
/// width; what is narrower than that is not negative.
fn enumerator_value(value: &Value, enumeration: Option<&Described>) -> Option<i64> {
    let (bytes, width) = match *value {
        AttributeValue::Sdata(value) => return Some(value),
        AttributeValue::Udata(value) => return i64::try_from(value).ok(),
        AttributeValue::Data1(value) => (u64::from(value), 1),
        AttributeValue::Data2(value) => (u64::from(value), 2),
        AttributeValue::Data4(value) => (u64::from(value), 4),
        AttributeValue::Data8(value) => (value, 8),
        _ => return None,
    };
    let signed = enumeration.is_some_and(|described| described.kind == FieldKind::Signed && described.size == width);
    if signed {
        let unused = 64 - 8 * width as u32;
        return Some(((bytes << unused) as i64) >> unused);
    }
    i64::try_from(bytes).ok()
}
