//! Made-up C layouts: members in, offsets out.

use std::collections::BTreeMap;
use std::sync::Arc;

use layouts::{Field, FieldKind, LayoutSource, TypeLayout};
use target::{Reason, TargetAbi};

use super::rng::Rng;

/// The C type of a member.
#[derive(Debug, Clone, Copy)]
pub enum C {
    /// An unsigned integer of that many bytes.
    U(u64),
    /// A signed integer of that many bytes.
    I(u64),
    /// As wide as a pointer.
    Size,
    /// A pointer.
    Ptr,
    /// An array of characters.
    Chars(u64),
    /// An embedded structure that has been defined before.
    Struct(&'static str),
    /// An array of such structures.
    Array(&'static str, u64),
}

/// How the members of a structure are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The first member stays first (C's inheritance); the others are shuffled and have gaps.
    Shuffled,
    /// As written, without gaps: what travels over the wire.
    AsWritten,
    /// All members at the beginning.
    Union,
}

/// Types with their made-up layouts, and constants.
#[derive(Debug, Clone)]
pub struct Types {
    pub abi: TargetAbi,
    pub rng: Rng,
    layouts: BTreeMap<&'static str, TypeLayout>,
    alignments: BTreeMap<&'static str, u64>,
    pub constants: BTreeMap<&'static str, i64>,
}

impl Types {
    pub fn new(abi: TargetAbi, seed: u64) -> Self {
        let rng = Rng::new(seed);
        Self { abi, rng, layouts: BTreeMap::new(), alignments: BTreeMap::new(), constants: BTreeMap::new() }
    }

    /// Defines a structure or union.
    pub fn define(&mut self, name: &'static str, order: Order, members: &[(&'static str, C)]) {
        let mut members = members.to_vec();
        if order == Order::Shuffled && members.len() > 2 {
            self.rng.shuffle(&mut members[1..]);
        }
        let mut layout = TypeLayout { size: 0, fields: Arc::default() };
        let (mut at, mut most_aligned, mut end) = (0_u64, 1, 0);
        for (index, (member, kind)) in members.iter().enumerate() {
            let (size, alignment) = self.measure(*kind);
            most_aligned = most_aligned.max(alignment);
            if order == Order::Union {
                at = 0;
            } else if order == Order::Shuffled && index > 0 && self.rng.chance(40) {
                at += self.rng.below(40);
            }
            at = at.next_multiple_of(alignment);
            self.add(&mut layout, member, *kind, at, size);
            at += size;
            end = end.max(at);
        }
        layout.size = end.max(1).next_multiple_of(most_aligned);
        self.alignments.insert(name, most_aligned);
        self.layouts.insert(name, layout);
    }

    fn measure(&self, kind: C) -> (u64, u64) {
        let width = self.abi.pointer_width.bytes();
        match kind {
            // As on i386, eight-byte integers are aligned to four bytes where pointers have four.
            C::U(size) | C::I(size) => (size, size.min(width)),
            C::Size | C::Ptr => (width, width),
            C::Chars(size) => (size, 1),
            C::Struct(name) => (self.size(name), self.alignments[name]),
            C::Array(name, count) => (self.size(name) * count, self.alignments[name]),
        }
    }

    fn add(&self, layout: &mut TypeLayout, name: &str, kind: C, offset: u64, size: u64) {
        let (kind, inner) = match kind {
            C::U(_) | C::Size => (FieldKind::Unsigned, None),
            C::I(_) => (FieldKind::Signed, None),
            C::Ptr => (FieldKind::Pointer, None),
            C::Chars(_) | C::Array(..) => (FieldKind::Array, None),
            C::Struct(inner) => (FieldKind::Struct, Some(inner)),
        };
        Arc::make_mut(&mut layout.fields)
            .insert(name.to_owned(), Field { offset, size, kind, type_name: String::new() });
        if let Some(inner) = inner {
            for (field, found) in &*self.layouts[inner].fields {
                let nested = Field { offset: offset + found.offset, ..found.clone() };
                Arc::make_mut(&mut layout.fields).insert(format!("{name}.{field}"), nested);
            }
        }
    }

    pub fn size(&self, name: &str) -> u64 {
        self.layouts[name].size
    }

    /// Offset and size of a field.
    pub fn field(&self, type_name: &str, field: &str) -> (u64, u64) {
        let found = self.layouts[type_name].fields.get(field);
        let found = found.unwrap_or_else(|| panic!("{type_name} has no field {field}"));
        (found.offset, found.size)
    }

    pub fn has(&self, type_name: &str, field: &str) -> bool {
        self.layouts[type_name].fields.contains_key(field)
    }

    pub fn constant(&self, name: &str) -> i64 {
        *self.constants.get(name).unwrap_or_else(|| panic!("no constant {name}"))
    }

    /// For tests of wrong layouts.
    pub fn layout_mut(&mut self, name: &str) -> &mut TypeLayout {
        self.layouts.get_mut(name).unwrap()
    }
}

impl LayoutSource for Types {
    fn name(&self) -> String {
        "synthetic".to_owned()
    }

    fn type_layout(&self, type_name: &str) -> Result<Option<TypeLayout>, Reason> {
        Ok(self.layouts.get(type_name).cloned())
    }

    fn constant(&self, name: &str) -> Result<Option<i64>, Reason> {
        Ok(self.constants.get(name).copied())
    }
}
