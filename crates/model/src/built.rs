//! How much may be built of what strangers wrote, in bytes of memory: in JSON `{}` is two letters, and as a process a thousand bytes.
//!
//! Serde tells each place that reads of which type its value is. [`Counted`] goes around what is read, and pays for each list, text
//! and structure before it is made, out of what this thread may build ([`within`]). Beyond that, reading ends with an error.

use std::cell::{Cell, RefCell};
use std::io::Read;

use hashbrown::HashSet;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use crate::Group;

/// What a list, a text or a shared value takes besides what is in it.
const PIECE: usize = 32;

/// A list that grows has at least room for so many, where they are small (alloc, `RawVec::MIN_NON_ZERO_CAP`).
const FIRST: usize = 4;

thread_local! {
    static LEFT: Cell<usize> = const { Cell::new(usize::MAX) };
    static IS_SPENT: Cell<bool> = const { Cell::new(false) };
    /// While JSON is read: each group once.
    static GROUPS: RefCell<Option<HashSet<Group>>> = const { RefCell::new(None) };
}

/// What was built, and of how much.
#[derive(Debug)]
pub struct Built<R> {
    /// The result of what was run.
    pub result: R,
    /// Whether it wanted more than it might.
    pub is_too_much: bool,
    /// How much it took.
    pub bytes: usize,
}

/// Runs what builds at most so many bytes.
pub fn within<R>(most: usize, read: impl FnOnce() -> R) -> Built<R> {
    let before = (LEFT.replace(most), IS_SPENT.replace(false));
    let result = read();
    let (left, is_too_much) = (LEFT.replace(before.0), IS_SPENT.replace(before.1));
    Built { result, is_too_much, bytes: most.saturating_sub(left) }
}

/// The same, where equal groups are kept once: in JSON each of n processes has the n members of MPI_COMM_WORLD.
pub fn with_groups_once<R>(read: impl FnOnce() -> R) -> R {
    GROUPS.set(Some(HashSet::new()));
    let result = read();
    GROUPS.set(None);
    result
}

/// What JSON stands for.
///
/// # Errors
/// Where it is of another type, or more than may be built.
pub fn from_str<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    let mut json = serde_json::Deserializer::from_str(text);
    let value = T::deserialize(Counted::new(&mut json))?;
    json.end()?;
    Ok(value)
}

/// The same of what is read piece by piece.
///
/// # Errors
/// Those of `reader`, too.
pub fn from_reader<T: DeserializeOwned>(reader: impl Read) -> serde_json::Result<T> {
    let mut json = serde_json::Deserializer::from_reader(reader);
    let value = T::deserialize(Counted::new(&mut json))?;
    json.end()?;
    Ok(value)
}

/// How much may be built yet.
pub fn left() -> usize {
    LEFT.get()
}

/// Pays for so many bytes.
///
/// # Errors
/// Where that is more than may be built.
pub fn pay<E: Error>(bytes: usize) -> Result<(), E> {
    match LEFT.get().checked_sub(bytes) {
        Some(left) => {
            LEFT.set(left);
            Ok(())
        }
        None => {
            IS_SPENT.set(true);
            Err(E::custom("it says more than there is room for"))
        }
    }
}

/// The equal group that is known already, for which nothing is paid: `before` it was made so much was left.
pub(crate) fn once(group: Group, before: usize) -> Group {
    GROUPS.with_borrow_mut(|known| match known {
        // That of a process alone is nobody else's.
        Some(known) if group.len() > 1 => {
            if let Some(same) = known.get(&group) {
                LEFT.set(before);
                return Group::clone(same);
            }
            known.insert(Group::clone(&group));
            group
        }
        _ => group,
    })
}

/// Pays for what is read through it.
pub struct Counted<D> {
    inner: D,
    /// So many bytes of the value are paid for already, as a part of another one.
    paid: usize,
}

impl<D> Counted<D> {
    /// For the whole of what is read.
    pub fn new(inner: D) -> Self {
        Self { inner, paid: 0 }
    }

    fn pay<T, E: Error>(&self) -> Result<(), E> {
        pay(size_of::<T>().saturating_sub(self.paid))
    }
}

macro_rules! paid {
    ($($method:ident($($argument:ident: $kind:ty),*)),* $(,)?) => {$(
        fn $method<V: Visitor<'de>>(self, $($argument: $kind,)* visitor: V) -> Result<V::Value, D::Error> {
            self.pay::<V::Value, D::Error>()?;
            self.inner.$method($($argument,)* Count { visitor, of_fields: false })
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Counted<D> {
    type Error = D::Error;

    paid! {
        deserialize_any(), deserialize_bool(), deserialize_i8(), deserialize_i16(), deserialize_i32(), deserialize_i64(),
        deserialize_i128(), deserialize_u8(), deserialize_u16(), deserialize_u32(), deserialize_u64(), deserialize_u128(),
        deserialize_f32(), deserialize_f64(), deserialize_char(), deserialize_str(), deserialize_string(), deserialize_bytes(),
        deserialize_byte_buf(), deserialize_unit(), deserialize_seq(), deserialize_map(),
        deserialize_unit_struct(name: &'static str),
        deserialize_tuple(len: usize),
        deserialize_tuple_struct(name: &'static str, len: usize),
        deserialize_enum(name: &'static str, variants: &'static [&'static str]),
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.pay::<V::Value, D::Error>()?;
        let paid = self.paid.max(size_of::<V::Value>());
        self.inner.deserialize_option(Inside { visitor, paid })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        self.pay::<V::Value, D::Error>()?;
        let paid = self.paid.max(size_of::<V::Value>());
        self.inner.deserialize_newtype_struct(name, Inside { visitor, paid })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.pay::<V::Value, D::Error>()?;
        self.inner.deserialize_struct(name, fields, Count { visitor, of_fields: true })
    }

    /// The name of a field is not kept.
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_identifier(visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_ignored_any(visitor)
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// An optional value, or one inside another, which is where that is.
struct Inside<V> {
    visitor: V,
    paid: usize,
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Inside<V> {
    type Value = V::Value;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.visitor.expecting(out)
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(Counted { inner, paid: self.paid })
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(Counted { inner, paid: self.paid })
    }
}

struct Count<V> {
    visitor: V,
    /// Of a structure, which is paid for with its fields.
    of_fields: bool,
}

macro_rules! visited {
    ($($method:ident($kind:ty)),* $(,)?) => {$(
        fn $method<E: Error>(self, value: $kind) -> Result<V::Value, E> {
            self.visitor.$method(value)
        }
    )*};
    (text: $($method:ident($kind:ty)),* $(,)?) => {$(
        fn $method<E: Error>(self, value: $kind) -> Result<V::Value, E> {
            pay(value.len().saturating_add(PIECE))?;
            self.visitor.$method(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Count<V> {
    type Value = V::Value;

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.visitor.expecting(out)
    }

    visited! {
        visit_bool(bool), visit_i64(i64), visit_i128(i128), visit_u64(u64), visit_u128(u128), visit_f64(f64), visit_char(char)
    }

    visited! {
        text: visit_str(&str), visit_borrowed_str(&'de str), visit_string(String), visit_bytes(&[u8]),
        visit_borrowed_bytes(&'de [u8]), visit_byte_buf(Vec<u8>),
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(Counted::new(inner))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_newtype_struct(Counted::new(inner))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_seq(Items { inner: items, len: 0, room: 0 })
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Members { inner: members, are_fields: self.of_fields })
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_enum(Variant(variant))
    }
}

/// What is paid for by whoever has it.
struct Seed<S>(S);

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Seed<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Counted { inner, paid: size_of::<S::Value>() })
    }
}

/// A list that grows as `Vec` does.
struct Items<A> {
    inner: A,
    len: usize,
    room: usize,
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Items<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        let item = self.inner.next_element_seed(Seed(seed))?;
        if item.is_some() {
            if self.len == self.room {
                let more = self.room.max(if size_of::<S::Value>() > 1024 { 1 } else { FIRST });
                pay(size_of::<S::Value>().saturating_mul(more).saturating_add(if self.room == 0 { PIECE } else { 0 }))?;
                self.room = self.room.saturating_add(more);
            }
            self.len += 1;
        }
        Ok(item)
    }

    fn size_hint(&self) -> Option<usize> {
        // As much as is paid for: nothing is reserved by a stranger's word.
        None
    }
}

struct Members<A> {
    inner: A,
    are_fields: bool,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Members<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, A::Error> {
        if self.are_fields {
            return self.inner.next_key_seed(seed);
        }
        // A map has room for more than it has.
        pay(size_of::<S::Value>().saturating_mul(2).saturating_add(PIECE))?;
        self.inner.next_key_seed(Seed(seed))
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        if !self.are_fields {
            pay(size_of::<S::Value>().saturating_mul(2))?;
        }
        self.inner.next_value_seed(Seed(seed))
    }
}

struct Variant<A>(A);

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Variant<A> {
    type Error = A::Error;
    type Variant = Variant<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self::Variant), A::Error> {
        let (value, variant) = self.0.variant_seed(seed)?;
        Ok((value, Variant(variant)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Variant<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Seed(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(len, Count { visitor, of_fields: true })
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.struct_variant(fields, Count { visitor, of_fields: true })
    }
}
