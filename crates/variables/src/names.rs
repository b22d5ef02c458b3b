//! What has a name outside of functions: variables, functions, constants and types, by their names with all namespaces.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Instant;

use gimli::{AttributeValue, UnitOffset, constants as dw};
use symbols::{DebugEntry, DebugUnit, Entry, Information, UnitStart, first_of, has_code, is_set};
use target::file_budget::{FileBudget, Kept};

use crate::die::qualified_name;
use crate::limits::{DEEPEST, LONGEST_NAME, MOST_NAMES};
use crate::plain_types::in_one_way;

/// What the linker calls something.
const SYMBOL: [dw::DwAt; 2] = [dw::DW_AT_linkage_name, dw::DW_AT_MIPS_linkage_name];

/// Where it was declared before.
const DECLARED: [dw::DwAt; 2] = [dw::DW_AT_specification, dw::DW_AT_abstract_origin];

/// What a name is that of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// A variable, a constant or an enumerator.
    Value,
    /// Of variables and functions: what the linker calls them.
    Symbol,
    /// A function.
    Function,
    /// A type; of base types see `plain_types`.
    Type,
    /// A namespace or a module.
    Space,
}

/// Where something stands that has a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Named {
    hash: u64,
    pub unit: UnitStart,
    /// Whether other units can mean it: a variable that is not `static`.
    pub external: bool,
    /// Whether it is only declared there.
    pub declared: bool,
    pub offset: u32,
}

/// The names of a unit or of a file.
#[derive(Debug)]
pub(crate) struct Names {
    all: Vec<Named>,
    /// Whether none is missing.
    pub complete: bool,
}

impl Default for Names {
    fn default() -> Self {
        Self { all: Vec::new(), complete: true }
    }
}

/// An entry that others stand in: its depth, and the beginning of their names.
struct Within {
    depth: isize,
    prefix: String,
    /// Types have members and others have none of interest.
    is_enumeration: bool,
    /// A name that other units do not see stands in it.
    hidden: bool,
}

impl Names {
    /// What has that name; those that are defined come first.
    pub(crate) fn of(&self, kind: Kind, name: &str) -> impl Iterator<Item = Named> + use<> {
        let wanted = hash(kind, name);
        let first = self.all.partition_point(|one| one.hash < wanted);
        let all = self.all.get(first..).unwrap_or_default().iter().take_while(move |one| one.hash == wanted);
        let (defined, declared): (Vec<_>, Vec<_>) = all.copied().partition(|one| !one.declared);
        defined.into_iter().chain(declared)
    }

    /// None, though there are some.
    fn none() -> Self {
        Self { complete: false, ..Self::default() }
    }

    /// For look-ups, when all are there.
    pub(crate) fn sort(&mut self) {
        self.all.sort_unstable();
        self.all.shrink_to_fit();
    }

    /// They are paid for; where they are too many, none is there.
    pub(crate) fn kept(self, budget: &FileBudget) -> Kept<Self> {
        let bytes = size_of_val(self.all.as_slice());
        budget.keep(".debug_info", self, bytes, Self::none())
    }

    /// Adds those of a unit.
    pub(crate) fn add_unit(&mut self, info: &Information, unit: &Arc<DebugUnit>, end: Instant) {
        if self.walk(info, unit, end).is_err() {
            self.complete = false;
        }
    }

    fn walk(&mut self, info: &Information, unit: &Arc<DebugUnit>, end: Instant) -> gimli::Result<()> {
        let mut entries = unit.entries();
        let mut within: Vec<Within> = Vec::new();
        // What the declarations of this unit are called, by which definitions outside of their classes refer to them.
        let mut declared: HashMap<UnitOffset, String> = HashMap::new();
        let mut more = entries.next_dfs()?.is_some();
        while more {
            let Some(entry) = entries.current() else {
                more = entries.next_dfs()?.is_some();
                continue;
            };
            if self.all.len() >= MOST_NAMES || Instant::now() > end {
                self.complete = false;
                return Ok(());
            }
            let depth = entry.depth();
            while within.last().is_some_and(|one| one.depth >= depth) {
                within.pop();
            }
            let inside = self.add(info, unit, entry, within.last(), &mut declared);
            more = match inside {
                Some(inside) if within.len() < DEEPEST => {
                    within.push(inside);
                    entries.next_dfs()?.is_some()
                }
                // Nothing of interest stands in it.
                _ => entries.next_sibling()?.is_some() || entries.next_dfs()?.is_some(),
            };
        }
        Ok(())
    }

    /// Adds an entry; what stands in it counts where that is said.
    fn add(
        &mut self,
        info: &Information,
        unit: &Arc<DebugUnit>,
        entry: &Entry,
        within: Option<&Within>,
        declared: &mut HashMap<UnitOffset, String>,
    ) -> Option<Within> {
        let depth = entry.depth();
        let prefix = within.map_or("", |within| within.prefix.as_str());
        let hidden = within.is_some_and(|within| within.hidden);
        let mut name = entry.attr_value(dw::DW_AT_name).and_then(|value| unit.text(value));
        if let Some(name) = &mut name {
            if name.len() > LONGEST_NAME || prefix.len() > LONGEST_NAME {
                return None;
            }
            if unit.is_fortran() {
                name.make_ascii_lowercase();
            }
        }
        let full = name.as_ref().map(|name| format!("{prefix}{name}"));
        let is_declared = is_set(entry, dw::DW_AT_declaration);
        let inside = |prefix: String, is_enumeration: bool, hidden: bool| {
            entry.has_children().then_some(Within { depth, prefix, is_enumeration, hidden })
        };
        match entry.tag() {
            dw::DW_TAG_compile_unit | dw::DW_TAG_partial_unit | dw::DW_TAG_type_unit | dw::DW_TAG_skeleton_unit => {
                inside(String::new(), false, false)
            }
            dw::DW_TAG_namespace | dw::DW_TAG_module => match full {
                Some(full) if !is_set(entry, dw::DW_AT_export_symbols) => {
                    self.push(Kind::Space, &full, unit, entry.offset(), true, is_declared);
                    inside(format!("{full}::"), false, hidden)
                }
                // An inline namespace, or one without a name: what stands in it is seen outside.
                full => {
                    if let Some(full) = &full {
                        self.push(Kind::Space, full, unit, entry.offset(), true, is_declared);
                    }
                    inside(prefix.to_owned(), false, hidden || full.is_none())
                }
            },
            dw::DW_TAG_structure_type
            | dw::DW_TAG_class_type
            | dw::DW_TAG_union_type
            | dw::DW_TAG_interface_type
            | dw::DW_TAG_enumeration_type => {
                let is_enumeration = entry.tag() == dw::DW_TAG_enumeration_type;
                // Enumerators are seen where their enumeration stands, unless it has a scope of its own.
                let scoped = !is_enumeration || is_set(entry, dw::DW_AT_enum_class);
                let elsewhere = entry.has_attr(dw::DW_AT_specification) || entry.has_attr(dw::DW_AT_signature);
                let own = if elsewhere {
                    qualified_name(info, &DebugEntry::new(Arc::clone(unit), entry.offset()))
                } else {
                    full
                };
                let inner = match (&own, &name) {
                    (Some(full), Some(_)) if scoped => format!("{full}::"),
                    (Some(full), Some(name)) => full.strip_suffix(name.as_str()).unwrap_or(prefix).to_owned(),
                    // Without a name of its own, what it stands in.
                    (Some(full), None) => format!("{full}::"),
                    (None, _) => prefix.to_owned(),
                };
                if let Some(full) = own.filter(|_| name.is_some() || elsewhere) {
                    let declared = is_declared || entry.has_attr(dw::DW_AT_signature);
                    self.push(Kind::Type, &full, unit, entry.offset(), !hidden, declared);
                }
                inside(inner, is_enumeration, hidden)
            }
            dw::DW_TAG_typedef => {
                self.push(Kind::Type, &full?, unit, entry.offset(), !hidden, false);
                None
            }
            dw::DW_TAG_base_type | dw::DW_TAG_unspecified_type => {
                self.push(Kind::Type, &in_one_way(&full?), unit, entry.offset(), true, false);
                None
            }
            dw::DW_TAG_enumerator if within.is_some_and(|within| within.is_enumeration) => {
                self.push(Kind::Value, &full?, unit, entry.offset(), false, false);
                None
            }
            dw::DW_TAG_variable | dw::DW_TAG_constant | dw::DW_TAG_member => {
                let full = full.or_else(|| self.specified(info, unit, entry, declared))?;
                let external = is_external(info, unit, entry);
                // A member of each object is no variable; a static one is declared.
                if entry.tag() == dw::DW_TAG_member && !is_declared && !external {
                    return None;
                }
                if is_declared {
                    declared.insert(entry.offset(), full.clone());
                }
                if let Some(symbol) = first_of(entry, &SYMBOL).and_then(|value| unit.text(value)) {
                    self.push(Kind::Symbol, &symbol, unit, entry.offset(), external && !hidden, is_declared);
                }
                self.push(Kind::Value, &full, unit, entry.offset(), external && !hidden, is_declared);
                None
            }
            dw::DW_TAG_subprogram => {
                let external = is_set(entry, dw::DW_AT_external) || full.is_none();
                if let Some(full) = &full {
                    declared.insert(entry.offset(), full.clone());
                }
                if has_code(entry)
                    && let Some(full) = full.clone().or_else(|| self.specified(info, unit, entry, declared))
                {
                    self.push(Kind::Function, &full, unit, entry.offset(), external && !hidden, false);
                    let own = first_of(entry, &SYMBOL).and_then(|value| unit.text(value));
                    if let Some(symbol) = own.or_else(|| symbol_of_declared(info, unit, entry)).or(name) {
                        self.push(Kind::Symbol, &symbol, unit, entry.offset(), external, false);
                    }
                }
                None
            }
            _ => None,
        }
    }

    /// The name of what a definition was declared as before.
    fn specified(
        &self,
        info: &Information,
        unit: &Arc<DebugUnit>,
        entry: &Entry,
        declared: &HashMap<UnitOffset, String>,
    ) -> Option<String> {
        let value = first_of(entry, &DECLARED)?;
        if let AttributeValue::UnitRef(offset) = value
            && let Some(known) = declared.get(&offset)
        {
            return Some(known.clone());
        }
        qualified_name(info, &DebugEntry::new(Arc::clone(unit), entry.offset()).referred(info, &value)?)
    }

    fn push(&mut self, kind: Kind, name: &str, unit: &DebugUnit, offset: UnitOffset, external: bool, declared: bool) {
        // No entry stands further from where its unit begins.
        if let Ok(offset) = u32::try_from(offset.0) {
            self.all.push(Named { hash: hash(kind, name), unit: unit.start, external, declared, offset });
        }
    }
}

/// Whether a variable is external, as it says itself or where it was declared.
fn is_external(info: &Information, unit: &Arc<DebugUnit>, entry: &Entry) -> bool {
    let says = |entry: &Entry| is_set(entry, dw::DW_AT_external) || entry.has_attr(dw::DW_AT_specification);
    let own = DebugEntry::new(Arc::clone(unit), entry.offset());
    let is_declared = || own.origins(info).any(|one| one.entry().is_some_and(|entry| says(&entry)));
    says(entry) || entry.has_attr(dw::DW_AT_abstract_origin) && is_declared()
}

/// What the linker calls the function that an entry defines, as its declaration says.
fn symbol_of_declared(info: &Information, unit: &Arc<DebugUnit>, entry: &Entry) -> Option<String> {
    first_of(entry, &DECLARED)?;
    let own = DebugEntry::new(Arc::clone(unit), entry.offset());
    let (place, value) = own.with(info, &SYMBOL).or_else(|| own.with(info, &[dw::DW_AT_name]))?;
    place.unit.text(value)
}

fn hash(kind: Kind, name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (kind, name).hash(&mut hasher);
    hasher.finish()
}
