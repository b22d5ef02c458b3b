//! What a name means at a place in a program: in blocks, functions, classes, namespaces, modules, files.

use std::rc::Rc;
use std::sync::Arc;

use calls::Unknown;
use gimli::constants as dw;

use crate::die::{Die, Entry, File};
use crate::frame::Context;
use crate::limits::MOST_HOPS;
use crate::names::{Kind, Named};
use crate::variable::{is_dead, value_of};

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// A variable, a constant, an enumerator or a function.
    Value,
    Type,
}

/// A look-up of names for one frame.
pub(crate) struct Lookup<'c> {
    pub context: &'c Rc<Context>,
    /// The units in which names are looked for first: that of the code, and that of the source.
    pub units: &'c [Die],
}

impl Lookup<'_> {
    /// What stands directly in a block or function, or in one that it is an instance of.
    pub fn in_block(&self, block: &Die, name: &str, wanted: Wanted) -> Option<Die> {
        let mut block = block.clone();
        for _ in 0..MOST_HOPS {
            if let Some(found) = self.in_entry(&block, name, wanted, 0) {
                return Some(found);
            }
            // What was optimised away stands only there. A declaration elsewhere has no variables.
            let origin = block.entry().and_then(|entry| entry.attr_value(dw::DW_AT_abstract_origin));
            block = block.referred(&origin?)?;
        }
        None
    }

    /// What stands directly in an entry, or is imported there.
    pub fn in_entry(&self, outer: &Die, name: &str, wanted: Wanted, depth: usize) -> Option<Die> {
        if depth > MOST_HOPS {
            return None;
        }
        let (mut found, mut declared, mut imports) = (None, None, Vec::new());
        outer.each_child(self.context.end(), &mut |die, entry| {
            match self.fits(die, entry, name, wanted) {
                Some(fit) if fit.is_declaration() => declared = declared.take().or(Some(fit)),
                Some(fit) => found = Some(fit),
                None if matches!(entry.tag(), dw::DW_TAG_imported_declaration | dw::DW_TAG_imported_module) => {
                    imports.push((die.clone(), entry.clone()));
                }
                None => {}
            }
            found.is_some()
        });
        let imported = || imports.iter().find_map(|(die, entry)| self.imported(die, entry, name, wanted, depth + 1));
        found.or(declared).or_else(imported)
    }

    /// What an entry in a block is of that name.
    fn fits(&self, die: &Die, entry: &Entry, name: &str, wanted: Wanted) -> Option<Die> {
        let end = self.context.end();
        // What was declared elsewhere is seen there.
        let elsewhere = entry.has_attr(dw::DW_AT_specification);
        let fits = match (entry.tag(), wanted) {
            (dw::DW_TAG_variable | dw::DW_TAG_formal_parameter | dw::DW_TAG_constant, Wanted::Value) => !elsewhere,
            (dw::DW_TAG_subprogram, Wanted::Value) => entry.has_attr(dw::DW_AT_name) && !elsewhere,
            // Their enumerators are seen where they stand.
            (dw::DW_TAG_enumeration_type, Wanted::Value) => {
                return die.child(end, |inner, entry| {
                    (entry.tag() == dw::DW_TAG_enumerator && inner.is_called(name)).then(|| inner.clone())
                });
            }
            (dw::DW_TAG_common_block, Wanted::Value) => {
                return die.child(end, |inner, entry| {
                    (entry.tag() == dw::DW_TAG_variable && inner.is_called(name)).then(|| inner.clone())
                });
            }
            (
                dw::DW_TAG_typedef
                | dw::DW_TAG_structure_type
                | dw::DW_TAG_class_type
                | dw::DW_TAG_union_type
                | dw::DW_TAG_enumeration_type
                | dw::DW_TAG_template_type_parameter,
                Wanted::Type,
            ) => true,
            _ => false,
        };
        (fits && die.is_called(name)).then(|| die.clone())
    }

    /// What an import makes seen under a name: `using a::b`, `using namespace a`, `use a, only: c => b`.
    fn imported(&self, die: &Die, entry: &Entry, name: &str, wanted: Wanted, depth: usize) -> Option<Die> {
        let target = die.referred(&entry.attr_value(dw::DW_AT_import)?)?;
        if entry.tag() == dw::DW_TAG_imported_declaration {
            let own = die.name().or_else(|| target.name());
            return (own.as_deref() == Some(name)).then_some(target).filter(|target| is_a(target, wanted));
        }
        let mut renamed = None;
        let mut hidden = false;
        die.each_child(self.context.end(), &mut |inner, entry| {
            let import = entry.attr_value(dw::DW_AT_import).and_then(|value| inner.referred(&value));
            let Some(import) = import else { return false };
            if inner.name().or_else(|| import.name()).as_deref() == Some(name) {
                renamed = Some(import);
            } else if import.is_called(name) {
                hidden = true;
            }
            renamed.is_some()
        });
        match renamed {
            Some(found) => return Some(found).filter(|found| is_a(found, wanted)),
            None if hidden => return None,
            None => {}
        }
        self.in_space(&target, name, wanted, depth)
    }

    /// What stands in a namespace or module, in all of its parts.
    pub fn in_space(&self, space: &Die, name: &str, wanted: Wanted, depth: usize) -> Option<Die> {
        // One without a name is in one unit alone.
        let Some(prefix) = space.qualified_name().filter(|_| space.name().is_some()) else {
            return self.in_entry(space, name, wanted, depth);
        };
        if let Some(found) = self.qualified(&format!("{prefix}::{name}"), wanted) {
            return Some(found);
        }
        // What it imports itself.
        if depth > MOST_HOPS {
            return None;
        }
        let mut parts = vec![space.clone()];
        parts.extend(self.all(Kind::Space, &prefix, true).filter(|part| part != space).take(MOST_HOPS));
        parts.iter().find_map(|part| self.in_entry(part, name, wanted, depth + 1))
    }

    /// What has a name with all of its namespaces.
    pub fn qualified(&self, name: &str, wanted: Wanted) -> Option<Die> {
        if wanted == Wanted::Type {
            return self.type_named(name);
        }
        let alive = |die: &Die| {
            let location = die.attribute(dw::DW_AT_location);
            !location.is_some_and(|(owner, value)| is_dead(&owner, &value))
        };
        let own = |kind| self.in_units(kind, name).find(&alive);
        let other = |kind| self.all(kind, name, false).find(&alive);
        if let Some(found) = own(Kind::Value) {
            return Some(found);
        }
        own(Kind::Function).or_else(|| other(Kind::Value)).or_else(|| other(Kind::Function)).or_else(|| {
            // Constants of other units, where all agree.
            let mut all = self.all(Kind::Value, name, true).filter(|die| die.tag() == Some(dw::DW_TAG_enumerator));
            let first = all.next()?;
            let number = |die: &Die| value_of(self.context, die).and_then(|raw| raw.number_of(self.context)).ok();
            let wanted = number(&first)?;
            all.take(1000).all(|die| number(&die) == Some(wanted)).then_some(first)
        })
    }

    fn type_named(&self, name: &str) -> Option<Die> {
        let mut declared = None;
        let mut tagged = None;
        let own: Vec<_> = self.in_units(Kind::Type, name).collect();
        // Also what is only declared in this unit: others may have another type of that name.
        for die in own {
            match die.tag() {
                _ if die.is_declaration() => declared = declared.or(Some(die)),
                // A typedef has its name without a word before it.
                Some(dw::DW_TAG_typedef | dw::DW_TAG_base_type | dw::DW_TAG_unspecified_type) => return Some(die),
                _ => tagged = tagged.or(Some(die)),
            }
        }
        tagged.or(declared).or_else(|| self.all(Kind::Type, name, true).next())
    }

    /// What the units of the place have of that name.
    fn in_units(&self, kind: Kind, name: &str) -> impl Iterator<Item = Die> {
        let mut found = Vec::new();
        for unit in self.units {
            let all = unit.file.info.names_of(&unit.unit).of(kind, name);
            let all = all.filter_map(|named| Some((named.external, Die::named(&unit.file, named)?)));
            // Link-time optimisation puts what several units have alone under one name into one.
            let seen = |external: bool, die: &Die| {
                external
                    || self.units.len() == 1
                    || self.units.iter().any(|unit| unit.unit.start == die.first_declared().unit.start)
            };
            found.extend(all.filter(|(external, die)| seen(*external, die)).map(|(_, die)| die));
        }
        found.into_iter()
    }

    /// What all files have of that name; `hidden`: also what other units than its own do not see.
    fn all<'a>(&'a self, kind: Kind, name: &'a str, hidden: bool) -> impl Iterator<Item = Die> + 'a {
        let named = move |file: &'a Rc<File>| {
            let all: Vec<Named> = file.info.names().of(kind, name).filter(|one| hidden || one.external).collect();
            all.into_iter().filter_map(|named| Die::named(file, named))
        };
        self.context.files.iter().flat_map(named)
    }

    /// Whether all names are known, so that what is not found is not there.
    pub fn is_complete(&self) -> Result<(), Unknown> {
        let known = self.units.iter().all(|unit| unit.file.info.names_of(&unit.unit).complete)
            && self.context.files.iter().all(|file| file.info.names().complete);
        if known { Ok(()) } else { Err(Unknown::new("the debug information is too large, or damaged")) }
    }

    /// What a name with namespaces means where a part of it is seen through an import in a block or namespace: by another name
    /// (`namespace a = b::c`), or without its own (`using namespace b`).
    pub fn through_imports(&self, outer: &Die, name: &str, wanted: Wanted) -> Option<Die> {
        let (first, rest) = name.split_once("::")?;
        let mut names = Vec::new();
        outer.each_child(self.context.end(), &mut |die, entry| {
            let import = entry.attr_value(dw::DW_AT_import).and_then(|value| die.referred(&value));
            let Some(space) = import.and_then(|target| target.qualified_name()) else { return false };
            match entry.tag() {
                dw::DW_TAG_imported_declaration => {
                    let own = die.name();
                    let own = own.as_deref().or_else(|| space.rsplit("::").next());
                    if own == Some(first) {
                        names.push(format!("{space}::{rest}"));
                    }
                }
                dw::DW_TAG_imported_module => names.push(format!("{space}::{name}")),
                _ => {}
            }
            names.len() > MOST_HOPS
        });
        names.iter().find_map(|name| self.qualified(name, wanted))
    }

    /// What has a name in which inline namespaces are named, which names are found without.
    pub fn without_inline(&self, name: &str, wanted: Wanted) -> Option<Die> {
        let parts: Vec<_> = name.split("::").collect();
        if parts.len() > MOST_HOPS {
            return None;
        }
        let (mut kept, mut removed): (Vec<&str>, bool) = (Vec::new(), false);
        for (at, part) in parts.iter().enumerate() {
            let space = [kept.as_slice(), &[part]].concat().join("::");
            let is_inline = at + 1 < parts.len()
                && self.all(Kind::Space, &space, true).next().is_some_and(|die| die.is_set(dw::DW_AT_export_symbols));
            removed |= is_inline;
            if !is_inline {
                kept.push(part);
            }
        }
        if removed { self.qualified(&kept.join("::"), wanted) } else { None }
    }

    /// What a namespace of that name has or imports.
    pub fn in_space_named(&self, name: &str, wanted: Wanted) -> Option<Die> {
        let (space, last) = name.rsplit_once("::")?;
        let spaces: Vec<_> = self.all(Kind::Space, space, true).take(MOST_HOPS).collect();
        spaces.iter().find_map(|space| self.in_entry(space, last, wanted, 0))
    }
}

fn is_a(die: &Die, wanted: Wanted) -> bool {
    let is_type = matches!(
        die.tag(),
        Some(
            dw::DW_TAG_typedef
                | dw::DW_TAG_structure_type
                | dw::DW_TAG_class_type
                | dw::DW_TAG_union_type
                | dw::DW_TAG_enumeration_type
                | dw::DW_TAG_base_type
        )
    );
    let is_value = matches!(
        die.tag(),
        Some(
            dw::DW_TAG_variable
                | dw::DW_TAG_constant
                | dw::DW_TAG_enumerator
                | dw::DW_TAG_subprogram
                | dw::DW_TAG_member
                | dw::DW_TAG_formal_parameter
        )
    );
    if wanted == Wanted::Type { is_type } else { is_value }
}

/// The files of a process, that of the frame first, each once.
pub(crate) fn files(own: &Rc<File>, others: Vec<(Arc<crate::DebugInfo>, u64)>) -> Vec<Rc<File>> {
    let mut found = vec![own.clone()];
    for (info, bias) in others {
        if !found.iter().any(|file| Arc::ptr_eq(&file.info, &info)) {
            found.push(Rc::new(File { info, bias }));
        }
    }
    found
}

/// Whether an entry is a type whose members its functions see.
pub(crate) fn is_class(die: &Die) -> bool {
    matches!(die.tag(), Some(dw::DW_TAG_structure_type | dw::DW_TAG_class_type | dw::DW_TAG_union_type))
}
