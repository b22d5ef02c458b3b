//! Numbers that people know in hexadecimal: in JSON they are `"0x…"`.

use std::fmt;

use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A handle of MPI as the program has it: a number, or an address.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HandleWord(pub u64);

impl HandleWord {
    /// The word whose text this is, as [`fmt::Display`] writes it.
    pub fn of(text: &str) -> Option<Self> {
        u64::from_str_radix(text.strip_prefix("0x")?, 16).ok().map(Self)
    }

    /// For members of the JSON that are left out where they are 0.
    pub(super) fn is_zero(&self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for HandleWord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:#x}", self.0)
    }
}

impl fmt::Debug for HandleWord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, out)
    }
}

impl Serialize for HandleWord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HandleWord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Text)
    }
}

/// Takes the text where it lies: there are millions of them.
struct Text;

impl Visitor<'_> for Text {
    type Value = HandleWord;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a number in hexadecimal, with 0x")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<HandleWord, E> {
        HandleWord::of(text).ok_or_else(|| E::invalid_value(Unexpected::Str(text), &self))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for HandleWord {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "HandleWord".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

/// For `#[serde(with)]`: addresses, or null.
pub mod addresses {
    use super::HandleWord;
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub fn serialize<S: Serializer>(address: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        address.map(HandleWord).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        Ok(Option::<HandleWord>::deserialize(deserializer)?.map(|word| word.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_comes_back_as_it_was() {
        for (word, text) in [(0, "0x0"), (0x4400_0000, "0x44000000"), (u64::MAX, "0xffffffffffffffff")] {
            assert_eq!(serde_json::to_string(&HandleWord(word)).unwrap_or_default(), format!("{text:?}"));
            assert_eq!(HandleWord::of(text), Some(HandleWord(word)));
        }
        for wrong in ["", "44", "0x", "0xg", "-0x4", "0x10000000000000000"] {
            assert_eq!(HandleWord::of(wrong), None, "{wrong}");
        }
    }
}
