//! One entry of the debug information, and what it refers to.

use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use gimli::{UnitOffset, constants as dw};
use symbols::{DebugEntry, Information, Value, is_set};

use crate::info::DebugInfo;
use crate::limits::{MOST_SCOPES, PATH_TIME};
use crate::names::{Kind, Named};

pub(crate) use symbols::Entry;

/// A file that a process has loaded.
pub(crate) struct File {
    pub info: Arc<DebugInfo>,
    /// What is added to its addresses.
    pub bias: u64,
}

/// An entry of a file's debug information.
#[derive(Clone)]
pub(crate) struct Die {
    pub file: Rc<File>,
    place: DebugEntry,
}

impl Deref for Die {
    type Target = DebugEntry;

    fn deref(&self) -> &DebugEntry {
        &self.place
    }
}

impl PartialEq for Die {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.file.info, &other.file.info) && self.place == other.place
    }
}

impl Die {
    /// By its place in a file.
    pub fn new(file: &Rc<File>, place: DebugEntry) -> Self {
        Self { file: file.clone(), place }
    }

    /// By its name's place in a file.
    pub fn named(file: &Rc<File>, named: Named) -> Option<Self> {
        let unit = file.info.information.main.unit(named.unit)?;
        Some(Self::new(file, DebugEntry::new(unit, UnitOffset(named.offset as usize))))
    }

    /// Another of the same unit.
    pub fn other(&self, offset: UnitOffset) -> Self {
        Self::new(&self.file, DebugEntry { offset, ..self.place.clone() })
    }

    /// What an attribute of this entry refers to. What dwz moved to another file is left out.
    pub fn referred(&self, value: &Value) -> Option<Self> {
        let found = self.place.referred(&self.file.info.information, value)?;
        (!found.is_moved).then(|| Self::new(&self.file, found))
    }

    /// This one, and those that it is an instance or the definition of.
    pub fn origins(&self) -> impl Iterator<Item = Self> {
        let all = self.place.origins(&self.file.info.information).take_while(|place| !place.is_moved);
        all.map(|place| Self::new(&self.file, place))
    }

    /// The first of them: that which was declared.
    pub fn first_declared(&self) -> Self {
        self.origins().last().unwrap_or_else(|| self.clone())
    }

    /// An attribute of this entry, or of those that it is an instance of; with the entry that has it.
    pub fn attribute(&self, name: dw::DwAt) -> Option<(Self, Value)> {
        self.origins().find_map(|die| {
            let value = die.entry()?.attr_value(name)?;
            Some((die, value))
        })
    }

    pub fn number(&self, name: dw::DwAt) -> Option<u64> {
        self.attribute(name)?.1.udata_value()
    }

    pub fn is_set(&self, name: dw::DwAt) -> bool {
        self.place.is_set(&self.file.info.information, name)
    }

    fn string(&self, name: dw::DwAt) -> Option<String> {
        let (die, value) = self.attribute(name)?;
        die.unit.text(value)
    }

    /// Its name; of Fortran in small letters.
    pub fn name(&self) -> Option<String> {
        let mut name = self.string(dw::DW_AT_name)?;
        if self.unit.is_fortran() {
            name.make_ascii_lowercase();
        }
        Some(name)
    }

    /// What the linker calls it.
    pub fn symbol(&self) -> Option<String> {
        let symbol = self.string(dw::DW_AT_linkage_name).or_else(|| self.string(dw::DW_AT_MIPS_linkage_name));
        symbol.or_else(|| self.string(dw::DW_AT_name))
    }

    /// Whether it is called that.
    pub fn is_called(&self, name: &str) -> bool {
        self.name().is_some_and(|own| own == name)
    }

    /// Looks at what stands directly in it until `look` says that this was enough.
    pub fn each_child(&self, end: Instant, look: &mut dyn FnMut(&Self, &Entry) -> bool) {
        let Ok(mut entries) = self.unit.entries_at_offset(self.offset) else { return };
        let Ok(Some(own)) = entries.next_dfs() else { return };
        if !own.has_children() || !matches!(entries.next_entry(), Ok(true)) {
            return;
        }
        while let Some(entry) = entries.current() {
            if look(&self.other(entry.offset()), entry) || Instant::now() > end {
                return;
            }
            if entries.next_sibling().is_err() {
                return;
            }
        }
    }

    /// What directly in it `wanted` says something of.
    pub fn child<R>(&self, end: Instant, mut wanted: impl FnMut(&Self, &Entry) -> Option<R>) -> Option<R> {
        let mut found = None;
        self.each_child(end, &mut |die, entry| {
            found = wanted(die, entry);
            found.is_some()
        });
        found
    }

    /// Whether its code has an address of memory.
    pub fn has_code_at(&self, entry: &Entry, address: u64) -> bool {
        let address = address.wrapping_sub(self.file.bias);
        self.unit.ranges(entry).any(|(begin, end)| (begin..end).contains(&address))
    }

    /// What it stands in, from the outermost; the unit is left out.
    pub fn parents(&self, end: Instant) -> Vec<Self> {
        let path = self.unit.path(self.offset, end).unwrap_or_default();
        let inner = path.len().saturating_sub(1);
        path.into_iter().take(inner).skip(1).map(|offset| self.other(offset)).collect()
    }

    /// Its name with those of the namespaces and classes that it stands in.
    pub fn qualified_name(&self) -> Option<String> {
        qualified_name(&self.file.info.information, &self.place)
    }

    /// Whether it is only declared here.
    pub fn is_declaration(&self) -> bool {
        self.entry().is_some_and(|entry| is_set(&entry, dw::DW_AT_declaration))
    }

    /// The complete type of a structure or enumeration that is only declared here: in its unit, its file, then in others.
    pub fn completed(&self, files: &[Rc<File>]) -> Option<Self> {
        let entry = self.entry()?;
        if let Some(signature) = entry.attr_value(dw::DW_AT_signature) {
            return self.referred(&signature).filter(|found| !found.is_declaration());
        }
        if !is_set(&entry, dw::DW_AT_declaration) {
            return Some(self.clone());
        }
        let (name, tag) = (self.qualified_name()?, entry.tag());
        let others = files.iter().filter(|file| !Arc::ptr_eq(&file.info, &self.file.info));
        for (file, own) in std::iter::once((&self.file, true)).chain(others.map(|file| (file, false))) {
            let in_unit = own.then(|| file.info.names_of(&self.unit).of(Kind::Type, &name));
            let in_file = || file.info.names().of(Kind::Type, &name);
            let fits = |die: &Self| {
                let is_record = |tag| matches!(tag, dw::DW_TAG_structure_type | dw::DW_TAG_class_type);
                let fits = |found: dw::DwTag| found == tag || is_record(found) && is_record(tag);
                let is_complete =
                    |entry: &Entry| !is_set(entry, dw::DW_AT_declaration) && !entry.has_attr(dw::DW_AT_signature);
                die.entry().is_some_and(|entry| fits(entry.tag()) && is_complete(&entry))
            };
            let mut all = in_unit.into_iter().flatten().chain(in_file()).filter_map(|named| Self::named(file, named));
            if let Some(found) = all.find(fits) {
                return Some(found);
            }
        }
        None
    }
}

/// The name of a type that has all of its description in a unit of its own.
fn name_of_signature(info: &Information, place: &DebugEntry, entry: &Entry) -> Option<String> {
    let described = place.referred(info, &entry.attr_value(dw::DW_AT_signature)?)?;
    described.unit.text(described.entry()?.attr_value(dw::DW_AT_name)?)
}

/// The name of an entry with those of the namespaces and classes that it stands in.
pub(crate) fn qualified_name(info: &Information, place: &DebugEntry) -> Option<String> {
    qualified_name_within(info, place, 0)
}

fn qualified_name_within(info: &Information, place: &DebugEntry, depth: usize) -> Option<String> {
    if depth > MOST_SCOPES {
        return None;
    }
    // A definition stands elsewhere than its declaration, which has the name.
    let last = place.origins(info).last()?;
    let unit = &last.unit;
    let mut found = String::new();
    for offset in unit.path(last.offset, Instant::now() + PATH_TIME)? {
        let place = DebugEntry { offset, ..last.clone() };
        let entry = place.entry()?;
        let counts = match entry.tag() {
            dw::DW_TAG_namespace => !is_set(&entry, dw::DW_AT_export_symbols),
            dw::DW_TAG_enumeration_type => place == last || is_set(&entry, dw::DW_AT_enum_class),
            dw::DW_TAG_compile_unit | dw::DW_TAG_partial_unit | dw::DW_TAG_type_unit => false,
            dw::DW_TAG_lexical_block | dw::DW_TAG_inlined_subroutine => false,
            _ => true,
        };
        // A class that was declared elsewhere: there are the namespaces that it stands in.
        if place != last
            && let Some(value) = entry.attr_value(dw::DW_AT_specification)
            && let Some(declared) = place.referred(info, &value)
        {
            found = qualified_name_within(info, &declared, depth + 1)?;
            continue;
        }
        let own = entry.attr_value(dw::DW_AT_name).and_then(|value| unit.text(value));
        let name = if counts { own.or_else(|| name_of_signature(info, &place, &entry)) } else { None };
        if let Some(mut name) = name {
            if unit.is_fortran() {
                name.make_ascii_lowercase();
            }
            if !found.is_empty() {
                found.push_str("::");
            }
            found.push_str(&name);
        }
    }
    (!found.is_empty()).then_some(found)
}
