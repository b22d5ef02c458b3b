//! A structure of the target, read whole, whose fields are then decoded in place.

use layouts::{Field, FieldKind, LayoutError, Layouts};
use target::address::TargetAddr;
use target::{Target, TargetAbi, TargetError, fit};

/// Larger structures than this (1 MiB) do not exist in any MPI; a layout that says so is wrong.
const MAX_RECORD: u64 = 1 << 20;

/// Where a field lies in its structure: resolved once, used for every object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// Offset in bytes.
    pub offset: usize,
    /// Size in bytes.
    pub size: usize,
    /// How to understand the bytes.
    pub kind: FieldKind,
}

impl Slot {
    /// The field `field` of the type `type_name`.
    ///
    /// # Errors
    /// Where no layout source knows it, or what it says is impossible.
    pub fn resolve(layouts: &Layouts, type_name: &str, field: &str) -> Result<Self, LayoutError> {
        debug_assert!(crate::wanted::is_declared(type_name, field), "no reader declares {type_name}.{field}");
        let Field { offset, size, kind, .. } = layouts.field(type_name, field)?;
        // `Layouts::field` has checked that the field lies in its type, and `size_of` bounds the type.
        let number = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
        Ok(Self { offset: number(offset), size: number(size), kind })
    }

    /// The first of some fields that the type has: releases call it differently.
    ///
    /// # Errors
    /// As [`Slot::resolve`]; where the type has none of them, of the first.
    pub fn first(layouts: &Layouts, type_name: &str, fields: &[&str]) -> Result<Self, LayoutError> {
        let known = fields.iter().find(|field| layouts.has_field(type_name, field));
        Self::resolve(layouts, type_name, known.or(fields.first()).copied().unwrap_or_default())
    }

    /// The field, or `None` where the type has no such member (members are probed, never versions).
    ///
    /// # Errors
    /// As [`Slot::resolve`], for a member that exists.
    pub fn probe(layouts: &Layouts, type_name: &str, field: &str) -> Result<Option<Self>, LayoutError> {
        debug_assert!(crate::wanted::is_declared(type_name, field), "no reader declares {type_name}.{field}");
        if layouts.has_field(type_name, field) { Self::resolve(layouts, type_name, field).map(Some) } else { Ok(None) }
    }

    /// The address of the field in the structure at `structure`.
    pub fn address_in(self, structure: TargetAddr) -> TargetAddr {
        structure.wrapping_add(self.offset as u64)
    }

    /// The address of the structure whose field lies at `field`, as of one that a list links by a member.
    pub fn structure_of(self, field: TargetAddr) -> TargetAddr {
        TargetAddr::new(field.get().wrapping_sub(self.offset as u64))
    }

    /// The unsigned integer in the structure at `structure`, of which nothing else is read.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn read_uint(self, target: &(impl Target + ?Sized), structure: TargetAddr) -> Result<u64, TargetError> {
        target.read_uint(self.address_in(structure), self.size as u64)
    }

    /// The pointer in the structure at `structure`, of which nothing else is read.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn read_pointer(
        self,
        target: &(impl Target + ?Sized),
        structure: TargetAddr,
    ) -> Result<TargetAddr, TargetError> {
        target.read_pointer(self.address_in(structure))
    }
}

/// The size of a type in bytes, bounded.
///
/// # Errors
/// Where no layout source knows it, or it is absurd.
pub fn size_of(layouts: &Layouts, type_name: &str) -> Result<usize, LayoutError> {
    let size = layouts.size_of(type_name)?;
    usize::try_from(size).ok().filter(|_| size > 0 && size <= MAX_RECORD).ok_or_else(|| LayoutError::BadField {
        type_name: type_name.to_owned(),
        field: "(the whole type)".to_owned(),
        source_name: layouts.source_names().join(", "),
        reason: format!("a size of {size} bytes"),
    })
}

/// The bytes of one structure with the address they came from: seen in a larger piece, or owned.
#[derive(Debug, Clone, Copy)]
pub struct RecordOf<B> {
    /// Where it lies in the target.
    pub addr: TargetAddr,
    bytes: B,
    abi: TargetAbi,
}

/// A structure whose bytes another one has.
pub type Record<'a> = RecordOf<&'a [u8]>;

impl<'a> Record<'a> {
    /// A structure at `addr` whose bytes are `bytes`.
    pub const fn new(addr: TargetAddr, bytes: &'a [u8], abi: TargetAbi) -> Self {
        Self { addr, bytes, abi }
    }

    /// Reads `size` bytes at `addr` into `buffer` and views them as a structure.
    ///
    /// # Errors
    /// Where the bytes cannot be read.
    pub fn read(
        target: &(impl Target + ?Sized),
        addr: TargetAddr,
        size: usize,
        buffer: &'a mut Vec<u8>,
    ) -> Result<Self, TargetError> {
        fit(buffer, size)?;
        target.read(addr, buffer)?;
        Ok(Self { addr, bytes: buffer, abi: target.abi() })
    }

    /// Reads `size` bytes at `addr` as a structure that owns them.
    ///
    /// # Errors
    /// Where the bytes cannot be read.
    pub fn owned(
        target: &(impl Target + ?Sized),
        addr: TargetAddr,
        size: usize,
    ) -> Result<RecordOf<Vec<u8>>, TargetError> {
        let mut bytes = Vec::new();
        Record::read(target, addr, size, &mut bytes)?;
        Ok(RecordOf { addr, bytes, abi: target.abi() })
    }
}

impl<B: AsRef<[u8]>> RecordOf<B> {
    /// The same structure, its bytes borrowed.
    pub fn view(&self) -> Record<'_> {
        Record { addr: self.addr, bytes: self.bytes.as_ref(), abi: self.abi }
    }

    /// The bytes of a field; empty where the record is shorter than its layout says.
    pub fn bytes(&self, slot: Slot) -> &[u8] {
        self.part(slot.offset, slot.size)
    }

    /// Bytes at an offset that no layout has; empty where the record is shorter.
    pub fn part(&self, offset: usize, size: usize) -> &[u8] {
        offset.checked_add(size).and_then(|end| self.bytes.as_ref().get(offset..end)).unwrap_or_default()
    }

    /// An unsigned integer.
    pub fn uint(&self, slot: Slot) -> u64 {
        self.abi.uint(self.bytes(slot))
    }

    /// An integer with the sign that its type has.
    pub fn int(&self, slot: Slot) -> i64 {
        match slot.kind {
            // A u64 above i64::MAX is damage wherever an i64 is asked for; its sign then shows it.
            FieldKind::Unsigned | FieldKind::Pointer => self.uint(slot) as i64,
            _ => self.abi.int(self.bytes(slot)),
        }
    }

    /// A pointer.
    pub fn pointer(&self, slot: Slot) -> TargetAddr {
        TargetAddr::new(self.uint(slot))
    }

    /// The address of a field.
    pub fn address_of(&self, slot: Slot) -> TargetAddr {
        slot.address_in(self.addr)
    }

    /// The text in a character array, up to its NUL or its end, or behind a `char *` (at most `max` bytes).
    ///
    /// # Errors
    /// Where the text behind the pointer cannot be read. A null pointer is an empty text.
    pub fn text(&self, slot: Slot, max: usize, target: &(impl Target + ?Sized)) -> Result<Vec<u8>, TargetError> {
        if slot.kind == FieldKind::Pointer {
            let at = self.pointer(slot);
            return if at.is_null() { Ok(Vec::new()) } else { target.read_c_string(at, max) };
        }
        let bytes = self.bytes(slot);
        let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
        Ok(bytes[..end.min(max)].to_vec())
    }
}

/// What is made of the layouts: a shape, or several.
pub trait Resolve: Sized {
    /// Resolves every field and constant.
    ///
    /// # Errors
    /// Names the first type, field or constant that no layout source has.
    fn resolve_all(layouts: &Layouts) -> Result<Self, LayoutError>;
}

/// What not every release has.
impl<T: Resolve> Resolve for Option<T> {
    fn resolve_all(layouts: &Layouts) -> Result<Self, LayoutError> {
        Ok(T::resolve_all(layouts).ok())
    }
}

impl<A: Resolve, B: Resolve> Resolve for (A, B) {
    fn resolve_all(layouts: &Layouts) -> Result<Self, LayoutError> {
        Ok((A::resolve_all(layouts)?, B::resolve_all(layouts)?))
    }
}

impl<A: Resolve, B: Resolve, C: Resolve> Resolve for (A, B, C) {
    fn resolve_all(layouts: &Layouts) -> Result<Self, LayoutError> {
        Ok((A::resolve_all(layouts)?, B::resolve_all(layouts)?, C::resolve_all(layouts)?))
    }
}

/// A number that a constant of the MPI's headers is kept as.
pub trait Constant: Sized {
    /// The constant of that name.
    ///
    /// # Errors
    /// Where no layout source has it.
    fn named(layouts: &Layouts, name: &str) -> Result<Self, LayoutError>;
}

impl Constant for i64 {
    fn named(layouts: &Layouts, name: &str) -> Result<Self, LayoutError> {
        layouts.constant(name)
    }
}

impl Constant for u64 {
    fn named(layouts: &Layouts, name: &str) -> Result<Self, LayoutError> {
        layouts.constant(name).map(|value| value as Self)
    }
}

/// What not every release has.
impl<T: Constant> Constant for Option<T> {
    fn named(layouts: &Layouts, name: &str) -> Result<Self, LayoutError> {
        Ok(T::named(layouts, name).ok())
    }
}

/// Defines structures of [`Slot`]s, each with a function that resolves them all: `name: "field"` for each, in the
/// type or types named (the first that a source knows); `"field" | "other"` where releases call it differently.
/// `STRUCTURES` then tells what is read here: the profiles hold that, and nothing else.
macro_rules! shapes {
    ($($(#[$meta:meta])* $name:ident = [$($type_name:literal),+]
        { $($slot:ident : $field:literal $(| $other:literal)*),* $(,)? }
        $(optional { $($maybe:ident : $maybe_field:literal),* $(,)? })?;)+) => {
        $(
            $(#[$meta])*
            #[derive(Debug, Clone)]
            pub struct $name {
                /// Size of the structure in bytes.
                #[allow(dead_code)] // Of some structures only single fields are read.
                pub size: usize,
                $(#[doc = concat!("`", $field, "`")] pub $slot: $crate::record::Slot,)*
                $($(#[doc = concat!("`", $maybe_field, "`, where the type has it")]
                    pub $maybe: Option<$crate::record::Slot>,)*)?
            }
            impl $name {
                /// Resolves every field.
                ///
                /// # Errors
                /// Names the first type or field that no layout source has.
                pub fn resolve(
                    layouts: &layouts::Layouts,
                ) -> Result<Self, layouts::LayoutError> {
                    let names: &[&str] = &[$($type_name),+];
                    let known = names.iter().copied().find(|name| layouts.size_of(name).is_ok());
                    let type_name = known.unwrap_or(names[0]);
                    Ok(Self {
                        size: $crate::record::size_of(layouts, type_name)?,
                        $($slot: $crate::record::Slot::first(layouts, type_name, &[$field $(, $other)*])?,)*
                        $($($maybe: $crate::record::Slot::probe(layouts, type_name, $maybe_field)?,)*)?
                    })
                }
            }
            impl $crate::record::Resolve for $name {
                fn resolve_all(layouts: &layouts::Layouts) -> Result<Self, layouts::LayoutError> {
                    Self::resolve(layouts)
                }
            }
        )+
        /// The structures that are read here.
        pub(crate) const STRUCTURES: &[layouts::Structure] = &[$(layouts::Structure {
            names: &[$($type_name),+],
            fields: &[$(&[$field $(, $other)*]),*],
            optional: &[$($($maybe_field),*)?],
        }),+];
    };
}
pub(crate) use shapes;

/// Defines what is made of several shapes, and of constants (`name: u64 = "NAME"`), with a function that resolves them all. What
/// not every release has is an `Option`.
macro_rules! composite {
    ($(#[$meta:meta])* $name:ident {
        $($(#[$part_meta:meta])* $part:ident : $type:ty $(= $constant:literal)?),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone)]
        #[allow(missing_docs)] // Each field is the shape of that name.
        pub struct $name {
            $($(#[$part_meta])* pub $part: $type,)*
        }
        impl $name {
            /// Resolves every field and constant.
            ///
            /// # Errors
            /// Names the first that no layout source has.
            pub fn resolve(layouts: &layouts::Layouts) -> Result<Self, layouts::LayoutError> {
                Ok(Self { $($part: $crate::record::composite!(@part layouts, $type $(, $constant)?),)* })
            }
        }
        impl $crate::record::Resolve for $name {
            fn resolve_all(layouts: &layouts::Layouts) -> Result<Self, layouts::LayoutError> {
                Self::resolve(layouts)
            }
        }
    };
    (@part $layouts:ident, $type:ty) => { <$type as $crate::record::Resolve>::resolve_all($layouts)? };
    (@part $layouts:ident, $type:ty, $constant:literal) => {
        <$type as $crate::record::Constant>::named($layouts, $constant)?
    };
}
pub(crate) use composite;
