//! What is read of an implementation's structures, as whoever reads them declares it: what its profiles hold.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Profile, TypeLayout};

/// A structure as whoever reads it declares it.
#[derive(Debug)]
pub struct Structure {
    /// Its typedefs or tags: releases call it differently.
    pub names: &'static [&'static str],
    /// The fields, each with the names that releases have for it.
    pub fields: &'static [&'static [&'static str]],
    /// Fields that not every release has.
    pub optional: &'static [&'static str],
}

impl Structure {
    /// One whose fields are asked for one by one, where a release has them.
    pub const fn probed(names: &'static [&'static str], optional: &'static [&'static str]) -> Self {
        Self { names, fields: &[], optional }
    }

    /// Whether a field is read.
    pub fn reads(&self, field: &str) -> bool {
        self.optional.contains(&field) || self.fields.iter().any(|names| names.contains(&field))
    }
}

/// What a profile of one implementation holds. Not every release has everything.
#[derive(Debug)]
pub struct Wanted {
    /// The implementation, as [`super::Identity`] names it.
    pub name: &'static str,
    /// A type that only a library with debug information has whole.
    pub probed: &'static str,
    /// The structures that are read, as the files of a reader declare them.
    pub structures: &'static [&'static [&'static [Structure]]],
    /// Types of which only the size is looked at.
    pub sized: &'static [&'static str],
    /// Macros and enumerators. A name that ends in `*` is a prefix.
    pub constants: &'static [&'static str],
    /// Types whose objects lie in pools, so that their size can be measured in a process without debug information.
    pub pooled: &'static [&'static str],
}

impl Wanted {
    /// All structures.
    pub fn all(&self) -> impl Iterator<Item = &'static Structure> {
        self.structures.iter().copied().flatten().copied().flatten()
    }

    /// The names of all types, in order.
    pub fn types(&self) -> BTreeSet<&'static str> {
        let read = self.all().flat_map(|structure| structure.names);
        read.chain(self.sized).chain(self.pooled).copied().collect()
    }

    /// Whether a field is read.
    pub fn reads(&self, type_name: &str, field: &str) -> bool {
        self.all().any(|structure| structure.names.contains(&type_name) && structure.reads(field))
    }

    /// The fields that a type lacks, each under all its names.
    pub fn lacking(&self, type_name: &str, layout: &TypeLayout) -> BTreeSet<String> {
        let known = self.all().filter(|structure| structure.names.contains(&type_name));
        let fields = known.flat_map(|structure| structure.fields);
        let has = |names: &[&str]| names.iter().any(|name| layout.fields.contains_key(*name));
        fields.filter(|names| !has(names)).map(|names| format!("{type_name}.{}", names.join("|"))).collect()
    }

    /// Whether a constant is read.
    pub fn reads_constant(&self, name: &str) -> bool {
        self.constants.iter().any(|pattern| is_named(pattern, name))
    }
}

impl Profile {
    /// Drops what none of `lists` wants.
    pub fn keep_only(&mut self, lists: &[&Wanted]) {
        self.constants.retain(|name, _| lists.iter().any(|list| list.reads_constant(name)));
        let types: BTreeSet<_> = lists.iter().flat_map(|list| list.types()).collect();
        self.types.retain(|name, _| types.contains(name.as_str()));
        for (type_name, layout) in &mut self.types {
            let wanted = |field: &str| lists.iter().any(|list| list.reads(type_name, field));
            Arc::make_mut(&mut layout.fields).retain(|field, _| wanted(field));
        }
    }
}

/// Whether a constant has that name, or begins so where the pattern ends in `*`.
pub(super) fn is_named(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(prefix) => name.starts_with(prefix),
        None => name == pattern,
    }
}
