//! What a reference to a type comes to, and the members of structures.

use std::sync::Arc;
use std::time::Instant;

use gimli::{AttributeValue, DebugInfoOffset, DwTag, Operation, UnitOffset, constants as dw};
use symbols::{DebugUnit, Entry};

use super::{Described, DwarfTypes, Growing, MAX_DEPTH, MAX_FIELDS, MAX_NAME, MAX_TYPE_SIZE, Place, is_declaration};
use crate::{Field, FieldKind};
use target::Reason;

impl DwarfTypes {
    /// The type that an entry refers to; `None` is `void`.
    fn type_of(&self, place: Place, entry: &Entry) -> Result<Option<Place>, Reason> {
        let Some(value) = entry.attr_value(dw::DW_AT_type) else { return Ok(None) };
        let unit = self.unit(place.unit).map_err(Reason::of)?;
        if let Some((unit, offset)) = self.units.referred(&unit, &value) {
            return Ok(Some(Place { unit, offset }));
        }
        Err(match value {
            AttributeValue::UnitRef(UnitOffset(offset)) | AttributeValue::DebugInfoRef(DebugInfoOffset(offset)) => {
                Reason::new(format!("a reference to the offset {offset:#x}, where no unit is"))
            }
            AttributeValue::DebugTypesRef(signature) => {
                Reason::new(format!("the type unit {:#x} is not in this file", signature.0))
            }
            AttributeValue::DebugInfoRefSup(_) => Reason::new("a reference into a supplementary file"),
            _ => Reason::new("a reference of an unknown form"),
        })
    }

    pub(super) fn describe(&self, place: Place, depth: usize) -> Result<Described, Reason> {
        if depth > MAX_DEPTH {
            return Err(Reason::new(format!("types are nested more than {MAX_DEPTH} deep, or in a circle")));
        }
        let unit = self.unit(place.unit).map_err(Reason::of)?;
        let entry = unit.entry(place.offset).map_err(Reason::of)?;
        let inner = |what: &str| self.type_of(place, &entry)?.ok_or_else(|| Reason::new(format!("{what} of void")));
        let byte_size = entry.attr_value(dw::DW_AT_byte_size).and_then(|value| value.udata_value());
        let name = self.name(&unit, &entry);
        match entry.tag() {
            dw::DW_TAG_typedef => {
                let described = self.describe(inner("a typedef")?, depth + 1)?;
                Ok(Described { name: name.unwrap_or(described.name), ..described })
            }
            dw::DW_TAG_const_type | dw::DW_TAG_volatile_type | dw::DW_TAG_restrict_type | dw::DW_TAG_atomic_type => {
                self.describe(inner("a qualified type")?, depth + 1)
            }
            dw::DW_TAG_base_type => {
                let encoding = match entry.attr_value(dw::DW_AT_encoding) {
                    Some(AttributeValue::Encoding(encoding)) => encoding,
                    _ => return Err(Reason::new("a base type without an encoding")),
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
                Ok(Described { kind, size, name: name.unwrap_or_else(|| "?".to_owned()), members: None })
            }
            dw::DW_TAG_enumeration_type => {
                let underlying = match self.type_of(place, &entry)? {
                    Some(underlying) => Some(self.describe(underlying, depth + 1)?),
                    None => None,
                };
                let kind = match &underlying {
                    Some(underlying) if underlying.kind == FieldKind::Signed => FieldKind::Signed,
                    Some(_) => FieldKind::Unsigned,
                    None if self.has_negative_enumerators(place).map_err(Reason::of)? => FieldKind::Signed,
                    None => FieldKind::Unsigned,
                };
                let size = byte_size.or(underlying.map(|described| described.size));
                let size = size.ok_or("an enumeration without a size")?;
                Ok(Described { kind, size, name: tagged("enum", name.as_deref()), members: None })
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
                    let definition = name.as_ref().and_then(|name| self.structures.get(name)).copied();
                    let definition = definition.filter(|definition| *definition != place);
                    let definition = definition
                        .ok_or_else(|| format!("{} is declared, not defined", tagged(word(tag), name.as_deref())))?;
                    return self.describe(definition, depth + 1);
                }
                let size = byte_size.ok_or("a structure without a size")?;
                if size > MAX_TYPE_SIZE {
                    return Err(Reason::new(format!("a structure of {size} bytes")));
                }
                Ok(Described { kind, size, name: tagged(word(tag), name.as_deref()), members: Some(place) })
            }
            tag => Err(Reason::new(format!("a type of an unknown kind ({tag})"))),
        }
    }

    fn describe_array(
        &self,
        place: Place,
        unit: &DebugUnit,
        entry: &Entry,
        byte_size: Option<u64>,
        depth: usize,
    ) -> Result<Described, Reason> {
        let element = self.type_of(place, entry)?.ok_or("an array of void")?;
        let element = self.describe(element, depth + 1)?;
        let mut name = element.name;
        let mut size = element.size;
        let mut cursor = unit.entries_at_offset(place.offset).map_err(Reason::of)?;
        cursor.next_dfs().map_err(Reason::of)?;
        while let Some(child) = cursor.next_dfs().map_err(Reason::of)? {
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
            dw::DW_TAG_typedef | dw::DW_TAG_base_type => format!("{} *", name.as_deref().unwrap_or("?")),
            tag => format!("{} *", tagged(word(tag), name.as_deref())),
        }
    }

    /// Adds the members of the structure at `place` to `growing`, those of nested structures with dotted names.
    pub(super) fn flatten(
        &self,
        place: Place,
        base: u64,
        prefix: &str,
        depth: usize,
        growing: &mut Growing,
    ) -> Result<(), Reason> {
        if depth > MAX_DEPTH {
            return Err(Reason::new(format!("structures are nested more than {MAX_DEPTH} deep, or in a circle")));
        }
        let unit = self.unit(place.unit).map_err(Reason::of)?;
        let mut tree = unit.entries_tree(Some(place.offset)).map_err(Reason::of)?;
        let root = tree.root().map_err(Reason::of)?;
        let mut children = root.children();
        while let Some(child) = children.next().map_err(Reason::of)? {
            let entry = child.entry();
            // A bit-field has no offset in bytes; no reader needs one, so they are left out.
            let bit_field = entry.has_attr(dw::DW_AT_bit_size) || entry.has_attr(dw::DW_AT_data_bit_offset);
            if entry.tag() != dw::DW_TAG_member || bit_field || is_declaration(entry) {
                continue;
            }
            growing.members += 1;
            if growing.members > MAX_FIELDS {
                return Err(Reason::new(format!("more than {MAX_FIELDS} fields")));
            }
            if Instant::now() > self.deadline {
                return Err(Reason::new("it takes too long"));
            }
            let member = self.type_of(place, entry)?.ok_or("a member of void")?;
            let described = self.describe(member, 0)?;
            let offset = member_offset(&unit, entry)?.checked_add(base).ok_or("an impossible offset")?;
            if offset.checked_add(described.size).is_none_or(|end| end > growing.layout.size) {
                let (size, all) = (described.size, growing.layout.size);
                return Err(Reason::new(format!(
                    "a member of {size} bytes at offset {offset} of a structure of {all} bytes"
                )));
            }
            let name = match self.name(&unit, entry) {
                // Names that C reserves for the compiler and its library: the inside of a mutex and the like.
                Some(name) if name.starts_with("__") => continue,
                Some(name) => format!("{prefix}{name}"),
                None => String::new(),
            };
            if name.len() > MAX_NAME {
                return Err(Reason::new(format!("a field whose name has more than {MAX_NAME} bytes")));
            }
            let inner_prefix = if name.is_empty() { prefix.to_owned() } else { format!("{name}.") };
            if !name.is_empty() {
                let (size, kind) = (described.size, described.kind);
                Arc::make_mut(&mut growing.layout.fields).entry(name).or_insert(Field {
                    offset,
                    size,
                    kind,
                    type_name: described.name,
                });
            }
            if let Some(members) = described.members {
                self.flatten(members, offset, &inner_prefix, depth + 1, growing)?;
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

/// Where a member lies in its structure: a number, or (DWARF 2) an expression that adds one.
fn member_offset(unit: &DebugUnit, entry: &Entry) -> Result<u64, Reason> {
    match entry.attr_value(dw::DW_AT_data_member_location) {
        None => Ok(0),
        Some(AttributeValue::Exprloc(expression)) => {
            let mut operations = expression.operations(unit.encoding());
            match operations.next() {
                Ok(Some(Operation::PlusConstant { value })) => Ok(value),
                Ok(Some(Operation::UnsignedConstant { value })) => Ok(value),
                _ => Err(Reason::new("a member whose place is computed")),
            }
        }
        Some(value) => value.udata_value().ok_or_else(|| Reason::new("a member whose place is not a number")),
    }
}
