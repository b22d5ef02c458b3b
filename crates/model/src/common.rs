//! What many processes have in common, kept once.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::digest;

/// A type of which one value, mostly an empty one, is that of most processes.
pub trait Usual: Sized + 'static {
    /// That value.
    const USUAL: &'static Self;

    /// The same in no more memory than it needs.
    #[must_use]
    fn trimmed(self) -> Self {
        self
    }
}

impl<T: 'static> Usual for Vec<T> {
    const USUAL: &'static Self = &Self::new();

    fn trimmed(mut self) -> Self {
        self.shrink_to_fit();
        self
    }
}

/// A part of a process or of what it has, which may be that of many others as well: copies share it until one is changed. In
/// JSON it is what it stands for; in a digest ([`digest::Digests`]) equal ones are there once.
#[derive(Debug)]
pub struct Common<T>(Option<Arc<T>>);

impl<T> Common<T> {
    /// Where it is in memory, equal only for those that share it.
    pub fn place(&self) -> usize {
        self.0.as_ref().map_or(0, |shared| Arc::as_ptr(shared).addr())
    }
}

impl<T: Usual + Clone> Common<T> {
    /// The value itself; it is copied where others have it, too.
    pub fn into_owned(self) -> T {
        self.0.map_or_else(|| T::USUAL.clone(), Arc::unwrap_or_clone)
    }
}

impl<T> Clone for Common<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for Common<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Usual> Deref for Common<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.0.as_deref().unwrap_or(T::USUAL)
    }
}

impl<T: Usual + Clone> DerefMut for Common<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(self.0.get_or_insert_with(|| Arc::new(T::USUAL.clone())))
    }
}

impl<T: Usual + PartialEq> PartialEq for Common<T> {
    fn eq(&self, other: &Self) -> bool {
        self.place() == other.place() || **self == **other
    }
}

impl<T: Usual + Eq> Eq for Common<T> {}

impl<T: Usual + PartialEq> From<T> for Common<T> {
    fn from(value: T) -> Self {
        Self((value != *T::USUAL).then(|| Arc::new(value.trimmed())))
    }
}

impl<T> FromIterator<T> for Common<Vec<T>>
where
    Vec<T>: Usual + PartialEq,
{
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<'a, T: Usual> IntoIterator for &'a Common<T>
where
    &'a T: IntoIterator,
{
    type Item = <&'a T as IntoIterator>::Item;
    type IntoIter = <&'a T as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        (**self).into_iter()
    }
}

impl<'a, T: Usual + Clone> IntoIterator for &'a mut Common<T>
where
    &'a mut T: IntoIterator,
{
    type Item = <&'a mut T as IntoIterator>::Item;
    type IntoIter = <&'a mut T as IntoIterator>::IntoIter;

    fn into_iter(self) -> Self::IntoIter {
        (**self).into_iter()
    }
}

impl<T> IntoIterator for Common<Vec<T>>
where
    Vec<T>: Usual + Clone,
{
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.into_owned().into_iter()
    }
}

impl<T: Usual + Serialize> Serialize for Common<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !digest::is_written() {
            return (**self).serialize(serializer);
        }
        digest::put::<T, _>(&**self)?.serialize(serializer)
    }
}

impl<'de, T: Usual + DeserializeOwned + PartialEq + Send + Sync> Deserialize<'de> for Common<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if !digest::is_read() {
            return T::deserialize(deserializer).map(Self::from);
        }
        let number = usize::deserialize(deserializer)?;
        let make = |line: &str| digest::parsed::<T, D::Error>(line).map(|value| Arc::new(value.trimmed()));
        digest::take_by(number, digest::Naming::Counts, make).map(|part| Self(Some(part)))
    }
}

/// A list in no more memory than it needs: those of one element would have room for four.
pub fn trimmed<'de, D: Deserializer<'de>, T: Deserialize<'de> + 'static>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Vec::deserialize(deserializer).map(Usual::trimmed)
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Common<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> std::borrow::Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        T::json_schema(generator)
    }
}
