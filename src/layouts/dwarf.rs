//! Structure layouts and enumerators from the DWARF of one file, versions 2 to 5.
//!
//! The file may be damaged or made to hurt: recursion, the number of fields and the time are bounded, and everything
//! that cannot be understood is an error with a reason.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use gimli::{
    AttributeValue, DebuggingInformationEntry, DwTag, Dwarf, Operation, SectionId, Unit, UnitHeader, UnitOffset,
    constants as dw,
};

use super::object_file::{DebugSections, Section};
use super::{Field, FieldKind, TypeLayout};
use crate::target::TargetAbi;

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

/// Bytes of abbreviation tables that the kept units may have been made from, at most.
const MAX_KEPT_ABBREVIATIONS: usize = 16 << 20;

type Entry<'a> = DebuggingInformationEntry<Section<'a>>;

/// Where a type stands: the number of its unit, and its offset therein.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    unit: usize,
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

/// Units that have been opened, so that each is opened once in an ordinary file.
#[derive(Default)]
struct KeptUnits<'a> {
    /// An upper bound of the bytes of abbreviation tables that they were made from.
    cost: usize,
    units: HashMap<usize, Rc<Unit<Section<'a>>>>,
}

/// Types by name and enumerators of one file.
pub(super) struct DwarfTypes<'a> {
    dwarf: Dwarf<Section<'a>>,
    abi: TargetAbi,
    headers: Vec<UnitHeader<Section<'a>>>,
    abbreviations_len: usize,
    kept: RefCell<KeptUnits<'a>>,
    structures: HashMap<&'a str, Place>,
    typedefs: HashMap<&'a str, Place>,
    signatures: HashMap<u64, Place>,
    /// Enumerators by name; the first definition counts.
    pub enumerators: HashMap<&'a str, i64>,
    /// Names whose definitions in this file differ in size.
    pub conflicts: Vec<String>,
    deadline: Instant,
    /// Whether a unit says that its types stand in another file.
    split: bool,
}

impl<'a> DwarfTypes<'a> {
    /// Indexes the types of a file.
    ///
    /// # Errors
    /// A sentence without the file's name, where the debug information is damaged or too large.
    pub fn new(sections: &'a DebugSections<'a>) -> Result<Self, String> {
        let load = |id: SectionId| -> Result<Section<'a>, gimli::Error> { Ok(sections.reader(id)) };
        let dwarf = Dwarf::load(load).map_err(|error| error.to_string())?;
        let mut types = Self {
            dwarf,
            abi: sections.abi,
            headers: Vec::new(),
            abbreviations_len: sections.reader(SectionId::DebugAbbrev).len(),
            kept: RefCell::default(),
            structures: HashMap::new(),
            typedefs: HashMap::new(),
            signatures: HashMap::new(),
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
    pub fn layout(&self, name: &str) -> Result<Option<TypeLayout>, String> {
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
        let mut layout = TypeLayout { size: described.size, fields: Default::default() };
        self.flatten(place, 0, "", 0, &mut layout)?;
        Ok(Some(layout))
    }

    fn index(&mut self) -> Result<(), String> {
        let mut units = self.dwarf.units();
        while let Some(header) = units.next().map_err(|error| error.to_string())? {
            self.headers.push(header);
        }
        let mut units = self.dwarf.type_units();
        while let Some(header) = units.next().map_err(|error| error.to_string())? {
            self.headers.push(header);
        }
        for number in 0..self.headers.len() {
            if Instant::now() > self.deadline {
                return Err(format!("indexing its types takes longer than {} s", TIME_LIMIT.as_secs()));
            }
            self.index_unit(number).map_err(|error| error.to_string())?;
        }
        if self.split && self.structures.is_empty() {
            return Err(
                "its types stand in .dwo files (-gsplit-dwarf), which are not read; compile without that".to_owned()
            );
        }
        Ok(())
    }

    fn index_unit(&mut self, number: usize) -> gimli::Result<()> {
        let unit = self.unit(number)?;
        self.split |= unit.dwo_id.is_some();
        match unit.header.type_() {
            gimli::UnitType::Type { type_signature, type_offset }
            | gimli::UnitType::SplitType { type_signature, type_offset } => {
                self.signatures.insert(type_signature.0, Place { unit: number, offset: type_offset });
            }
            _ => {}
        }
        let mut cursor = unit.entries();
        // The unit's own entry, its first child, and that one's siblings: types inside functions are not entered.
        if cursor.next_dfs()?.is_none() || cursor.next_dfs()?.is_none_or(|entry| entry.depth() != 1) {
            return Ok(());
        }
        loop {
            if let Some(entry) = cursor.current() {
                self.index_entry(number, &unit, entry)?;
            }
            if cursor.next_sibling()?.is_none() {
                return Ok(());
            }
        }
    }

    fn index_entry(&mut self, number: usize, unit: &Unit<Section<'a>>, entry: &Entry<'a>) -> gimli::Result<()> {
        let place = Place { unit: number, offset: entry.offset() };
        match entry.tag() {
            dw::DW_TAG_structure_type | dw::DW_TAG_union_type | dw::DW_TAG_class_type => {
                if is_declaration(entry) {
                    return Ok(());
                }
                if let Some(name) = self.name(unit, entry) {
                    if let Some(first) = self.structures.get(name) {
                        self.note_conflict(name, *first, entry);
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
            dw::DW_TAG_enumeration_type if !is_declaration(entry) => self.index_enumerators(number, unit, entry)?,
            _ => {}
        }
        Ok(())
    }

    /// A structure of the same name in another unit is normally the same one; a different size proves that it is not.
    fn note_conflict(&mut self, name: &str, first: Place, entry: &Entry<'a>) {
        let size = |entry: &Entry<'a>| entry.attr_value(dw::DW_AT_byte_size).and_then(|value| value.udata_value());
        let first = self.unit(first.unit).ok().and_then(|unit| unit.entry(first.offset).ok());
        let differs = first.is_some_and(|first| size(&first) != size(entry));
        if differs && !self.conflicts.iter().any(|known| known == name) {
            self.conflicts.push(name.to_owned());
        }
    }

    fn index_enumerators(&mut self, number: usize, unit: &Unit<Section<'a>>, entry: &Entry<'a>) -> gimli::Result<()> {
        let place = Place { unit: number, offset: entry.offset() };
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

    /// Whether an enumeration has negative values; where the debug information does not say what it is made of.
    fn has_negative_enumerators(&self, place: Place) -> gimli::Result<bool> {
        let unit = self.unit(place.unit)?;
        let mut cursor = unit.entries_at_offset(place.offset)?;
        cursor.next_dfs()?;
        while let Some(child) = cursor.next_dfs()? {
            if child.depth() < 1 {
                break;
            }
            if let Some(AttributeValue::Sdata(value)) = child.attr_value(dw::DW_AT_const_value)
                && value < 0
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn unit(&self, number: usize) -> gimli::Result<Rc<Unit<Section<'a>>>> {
        let mut kept = self.kept.borrow_mut();
        if let Some(unit) = kept.units.get(&number) {
            return Ok(Rc::clone(unit));
        }
        let header = *self.headers.get(number).ok_or(gimli::Error::MissingUnitDie)?;
        // An upper bound of what the unit's abbreviations cost, so that a made-up file cannot fill our memory.
        let cost = self.abbreviations_len.saturating_sub(header.debug_abbrev_offset().0);
        if kept.cost.saturating_add(cost) > MAX_KEPT_ABBREVIATIONS {
            *kept = KeptUnits::default();
        }
        let unit = Rc::new(self.dwarf.unit(header)?);
        kept.cost += cost;
        kept.units.insert(number, Rc::clone(&unit));
        Ok(unit)
    }

    fn name(&self, unit: &Unit<Section<'a>>, entry: &Entry<'a>) -> Option<&'a str> {
        let value = entry.attr_value(dw::DW_AT_name)?;
        let name = self.dwarf.attr_string(unit, value).ok()?;
        std::str::from_utf8(name.slice()).ok().filter(|name| !name.is_empty() && name.len() <= MAX_NAME)
    }

    /// The type that an entry refers to; `None` is `void`.
    fn type_of(&self, place: Place, entry: &Entry<'a>) -> Result<Option<Place>, String> {
        let Some(value) = entry.attr_value(dw::DW_AT_type) else { return Ok(None) };
        match value {
            AttributeValue::UnitRef(offset) => Ok(Some(Place { unit: place.unit, offset })),
            AttributeValue::DebugInfoRef(offset) => {
                // The units of .debug_info come first and in ascending order; only they have such an offset.
                let starts_before =
                    |header: &UnitHeader<_>| header.debug_info_offset().is_some_and(|start| start <= offset);
                let number = self.headers.partition_point(starts_before).wrapping_sub(1);
                let inside = self.headers.get(number).and_then(|header| offset.to_unit_offset(header));
                let inside =
                    inside.ok_or_else(|| format!("a reference to the offset {:#x}, where no unit is", offset.0))?;
                Ok(Some(Place { unit: number, offset: inside }))
            }
            AttributeValue::DebugTypesRef(signature) => match self.signatures.get(&signature.0) {
                Some(place) => Ok(Some(*place)),
                None => Err(format!("the type unit {:#x} is not in this file", signature.0)),
            },
            AttributeValue::DebugInfoRefSup(_) => Err("a reference into a supplementary file".to_owned()),
            _ => Err("a reference of an unknown form".to_owned()),
        }
    }

    fn describe(&self, place: Place, depth: usize) -> Result<Described, String> {
        if depth > MAX_DEPTH {
            return Err(format!("types are nested more than {MAX_DEPTH} deep, or in a circle"));
        }
        let unit = self.unit(place.unit).map_err(|error| error.to_string())?;
        let entry = unit.entry(place.offset).map_err(|error| error.to_string())?;
        let inner = |what: &str| self.type_of(place, &entry)?.ok_or_else(|| format!("{what} of void"));
        let byte_size = entry.attr_value(dw::DW_AT_byte_size).and_then(|value| value.udata_value());
        let name = self.name(&unit, &entry);
        match entry.tag() {
            dw::DW_TAG_typedef => {
                let described = self.describe(inner("a typedef")?, depth + 1)?;
                Ok(Described { name: name.map_or(described.name, str::to_owned), ..described })
            }
            dw::DW_TAG_const_type | dw::DW_TAG_volatile_type | dw::DW_TAG_restrict_type | dw::DW_TAG_atomic_type => {
                self.describe(inner("a qualified type")?, depth + 1)
            }
            dw::DW_TAG_base_type => {
                let encoding = match entry.attr_value(dw::DW_AT_encoding) {
                    Some(AttributeValue::Encoding(encoding)) => encoding,
                    _ => return Err("a base type without an encoding".to_owned()),
                };
                let kind = match encoding {
                    dw::DW_ATE_signed | dw::DW_ATE_signed_char | dw::DW_ATE_signed_fixed => FieldKind::Signed,
                    dw::DW_ATE_float
                    | dw::DW_ATE_complex_float
                    | dw::DW_ATE_imaginary_float
                    | dw::DW_ATE_decimal_float => FieldKind::Float,
                    dw::DW_ATE_address => FieldKind::Pointer,
                    _ => FieldKind::Unsigned,
                };
                let size = byte_size.ok_or("a base type without a size")?;
                Ok(Described { kind, size, name: name.unwrap_or("?").to_owned(), members: None })
            }
            dw::DW_TAG_enumeration_type => {
                let underlying = match self.type_of(place, &entry)? {
                    Some(underlying) => Some(self.describe(underlying, depth + 1)?),
                    None => None,
                };
                let kind = match &underlying {
                    Some(underlying) if underlying.kind == FieldKind::Signed => FieldKind::Signed,
                    Some(_) => FieldKind::Unsigned,
                    None if self.has_negative_enumerators(place).map_err(|error| error.to_string())? => {
                        FieldKind::Signed
                    }
                    None => FieldKind::Unsigned,
                };
                let size = byte_size.or(underlying.map(|described| described.size));
                let size = size.ok_or("an enumeration without a size")?;
                Ok(Described { kind, size, name: tagged("enum", name), members: None })
            }
            dw::DW_TAG_pointer_type
            | dw::DW_TAG_reference_type
            | dw::DW_TAG_rvalue_reference_type
            | dw::DW_TAG_ptr_to_member_type => {
                let name = match self.type_of(place, &entry)? {
                    Some(target) => self.pointer_name(target, depth + 1),
                    None => "void *".to_owned(),
                };
                let size = byte_size.unwrap_or_else(|| self.abi.pointer_width.bytes());
                Ok(Described { kind: FieldKind::Pointer, size, name, members: None })
            }
            dw::DW_TAG_array_type => self.describe_array(place, &unit, &entry, byte_size, depth),
            tag @ (dw::DW_TAG_structure_type | dw::DW_TAG_class_type | dw::DW_TAG_union_type) => {
                let kind = if tag == dw::DW_TAG_union_type { FieldKind::Union } else { FieldKind::Struct };
                if is_declaration(&entry) {
                    let definition = name.and_then(|name| self.structures.get(name)).copied();
                    let definition = definition.filter(|definition| *definition != place);
                    let definition =
                        definition.ok_or_else(|| format!("{} is declared, not defined", tagged(word(tag), name)))?;
                    return self.describe(definition, depth + 1);
                }
                let size = byte_size.ok_or("a structure without a size")?;
                if size > MAX_TYPE_SIZE {
                    return Err(format!("a structure of {size} bytes"));
                }
                Ok(Described { kind, size, name: tagged(word(tag), name), members: Some(place) })
            }
            tag => Err(format!("a type of an unknown kind ({tag})")),
        }
    }

    fn describe_array(
        &self,
        place: Place,
        unit: &Unit<Section<'a>>,
        entry: &Entry<'a>,
        byte_size: Option<u64>,
        depth: usize,
    ) -> Result<Described, String> {
        let element = self.type_of(place, entry)?.ok_or("an array of void")?;
        let element = self.describe(element, depth + 1)?;
        let mut name = element.name;
        let mut size = element.size;
        let mut cursor = unit.entries_at_offset(place.offset).map_err(|error| error.to_string())?;
        cursor.next_dfs().map_err(|error| error.to_string())?;
        while let Some(child) = cursor.next_dfs().map_err(|error| error.to_string())? {
            if child.depth() < 1 || name.len() > MAX_NAME {
                break;
            }
            if !matches!(child.tag(), dw::DW_TAG_subrange_type | dw::DW_TAG_enumeration_type) {
                continue;
            }
            let number = |at| child.attr_value(at).and_then(|value| value.udata_value());
            // gcc writes an upper bound of -1 for an array of length 0.
            let count = number(dw::DW_AT_count)
                .or_else(|| number(dw::DW_AT_upper_bound).map(|upper| upper.wrapping_add(1)))
                .unwrap_or(0);
            size =
                size.checked_mul(count).filter(|size| *size <= MAX_TYPE_SIZE).ok_or("an array of impossible size")?;
            if count == 0 { name.push_str("[]") } else { name.push_str(&format!("[{count}]")) }
        }
        Ok(Described { kind: FieldKind::Array, size: byte_size.unwrap_or(size), name, members: None })
    }

    /// The name of a pointer to `target`, whose own definition need not be known.
    fn pointer_name(&self, target: Place, depth: usize) -> String {
        let unknown = || "? *".to_owned();
        if depth > MAX_DEPTH {
            return unknown();
        }
        let Ok(unit) = self.unit(target.unit) else { return unknown() };
        let Ok(entry) = unit.entry(target.offset) else { return unknown() };
        let name = self.name(&unit, &entry);
        let inner = || match self.type_of(target, &entry) {
            Ok(Some(inner)) => self.pointer_name(inner, depth + 1),
            Ok(None) => "void *".to_owned(),
            Err(_) => unknown(),
        };
        match entry.tag() {
            dw::DW_TAG_subroutine_type => "function *".to_owned(),
            dw::DW_TAG_const_type | dw::DW_TAG_volatile_type | dw::DW_TAG_restrict_type | dw::DW_TAG_atomic_type => {
                inner()
            }
            dw::DW_TAG_pointer_type => format!("{}*", inner()),
            dw::DW_TAG_array_type => format!("{} (array)", inner()),
            dw::DW_TAG_typedef | dw::DW_TAG_base_type => format!("{} *", name.unwrap_or("?")),
            tag => format!("{} *", tagged(word(tag), name)),
        }
    }

    /// Adds the members of the structure at `place` to `layout`, those of nested structures with dotted names.
    fn flatten(
        &self,
        place: Place,
        base: u64,
        prefix: &str,
        depth: usize,
        layout: &mut TypeLayout,
    ) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err(format!("structures are nested more than {MAX_DEPTH} deep, or in a circle"));
        }
        if Instant::now() > self.deadline {
            return Err("it takes too long".to_owned());
        }
        let unit = self.unit(place.unit).map_err(|error| error.to_string())?;
        let mut tree = unit.entries_tree(Some(place.offset)).map_err(|error| error.to_string())?;
        let root = tree.root().map_err(|error| error.to_string())?;
        let mut children = root.children();
        while let Some(child) = children.next().map_err(|error| error.to_string())? {
            let entry = child.entry();
            // A bit-field has no offset in bytes; no reader needs one, so they are left out.
            let bit_field = entry.has_attr(dw::DW_AT_bit_size) || entry.has_attr(dw::DW_AT_data_bit_offset);
            if entry.tag() != dw::DW_TAG_member || bit_field || is_declaration(entry) {
                continue;
            }
            let member = self.type_of(place, entry)?.ok_or("a member of void")?;
            let described = self.describe(member, 0)?;
            let offset = member_offset(&unit, entry)?.checked_add(base).ok_or("an impossible offset")?;
            if offset.checked_add(described.size).is_none_or(|end| end > layout.size) {
                let (size, all) = (described.size, layout.size);
                return Err(format!("a member of {size} bytes at offset {offset} of a structure of {all} bytes"));
            }
            let name = match self.name(&unit, entry) {
                // Names that C reserves for the compiler and its library: the inside of a mutex and the like.
                Some(name) if name.starts_with("__") => continue,
                Some(name) => format!("{prefix}{name}"),
                None => String::new(),
            };
            if name.len() > MAX_NAME || layout.fields.len() >= MAX_FIELDS {
                return Err(format!("more than {MAX_FIELDS} fields, or one whose name has more than {MAX_NAME} bytes"));
            }
            let inner_prefix = if name.is_empty() { prefix.to_owned() } else { format!("{name}.") };
            if !name.is_empty() {
                let (size, kind) = (described.size, described.kind);
                layout.fields.entry(name).or_insert(Field { offset, size, kind, type_name: described.name });
            }
            if let Some(members) = described.members {
                self.flatten(members, offset, &inner_prefix, depth + 1, layout)?;
            }
        }
        Ok(())
    }
}

fn is_declaration(entry: &Entry<'_>) -> bool {
    matches!(entry.attr_value(dw::DW_AT_declaration), Some(AttributeValue::Flag(true)))
}

fn word(tag: DwTag) -> &'static str {
    match tag {
        dw::DW_TAG_union_type => "union",
        dw::DW_TAG_class_type => "class",
        dw::DW_TAG_enumeration_type => "enum",
        _ => "struct",
    }
}

fn tagged(word: &str, name: Option<&str>) -> String {
    format!("{word} {}", name.unwrap_or("{...}"))
}

/// An enumerator's value. Compilers write a negative one in a signed form, or as the bytes of the enumeration's own
/// width; what is narrower than that is not negative.
fn enumerator_value(value: &AttributeValue<Section<'_>>, enumeration: Option<&Described>) -> Option<i64> {
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

/// Where a member lies in its structure: a number, or (DWARF 2) an expression that adds one.
fn member_offset(unit: &Unit<Section<'_>>, entry: &Entry<'_>) -> Result<u64, String> {
    match entry.attr_value(dw::DW_AT_data_member_location) {
        None => Ok(0),
        Some(AttributeValue::Exprloc(expression)) => {
            let mut operations = expression.operations(unit.encoding());
            match operations.next() {
                Ok(Some(Operation::PlusConstant { value })) => Ok(value),
                Ok(Some(Operation::UnsignedConstant { value })) => Ok(value),
                _ => Err("a member whose place is computed".to_owned()),
            }
        }
        Some(value) => value.udata_value().ok_or_else(|| "a member whose place is not a number".to_owned()),
    }
}
