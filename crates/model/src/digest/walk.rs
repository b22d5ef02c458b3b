//! Reads what is told by a form and changes, as serde reads JSON.

use std::borrow::Cow;

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer as _, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Result};

use super::form::{Scalar, Token};

/// Goes through a form, with changes.
pub(super) struct Walk<'a> {
    tokens: std::slice::Iter<'a, Token>,
    /// So many scalars are the form's before the next change.
    same: usize,
    /// The next change, and what follows it.
    changes: &'a str,
    /// Whether there is one.
    more: bool,
}

impl<'a> Walk<'a> {
    /// # Errors
    /// Where these are no changes.
    pub fn new(tokens: &'a [Token], changes: &'a str) -> Result<Self> {
        let mut walk = Self { tokens: tokens.iter(), same: 0, changes, more: true };
        walk.skip()?;
        Ok(walk)
    }

    /// Whether nothing is left of the form, and of the changes.
    pub fn is_over(&self) -> bool {
        self.tokens.len() == 0 && !self.more
    }

    /// Finds the next change.
    fn skip(&mut self) -> Result<()> {
        self.more = !self.changes.is_empty();
        if self.more {
            let count = self.changes.strip_prefix(' ').and_then(|rest| rest.split_once(' '));
            let (count, rest) = count.ok_or_else(|| Error::custom("no number of what is the same"))?;
            self.same = count.parse().map_err(Error::custom)?;
            self.changes = rest;
        }
        Ok(())
    }

    fn next(&mut self) -> Result<&'a Token> {
        self.tokens.next().ok_or_else(|| Error::custom("a part ends too early"))
    }

    fn end(&mut self) -> Result<()> {
        match self.next()? {
            Token::End => Ok(()),
            _ => Err(Error::custom("a part has more than is wanted")),
        }
    }

    /// A scalar of the form, or what is there instead.
    fn scalar(&mut self, own: &'a Scalar<'static>) -> Result<Cow<'a, Scalar<'a>>> {
        if !self.more || self.same > 0 {
            self.same = self.same.saturating_sub(1);
            return Ok(Cow::Borrowed(own));
        }
        let (scalar, rest) = one(self.changes)?;
        self.changes = rest;
        self.skip()?;
        Ok(Cow::Owned(scalar))
    }
}

/// The first scalar of a text, and what follows.
fn one(text: &str) -> Result<(Scalar<'_>, &str)> {
    if text.starts_with('"') {
        let mut escaped = false;
        let end = text.bytes().skip(1).position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let (whole, rest) =
            end.and_then(|end| text.split_at_checked(end + 2)).ok_or_else(|| Error::custom("no string"))?;
        let plain =
            whole.get(1..whole.len() - 1).filter(|inner| inner.bytes().all(|byte| byte != b'\\' && byte >= 0x20));
        let text = match plain {
            Some(inner) => Cow::Borrowed(inner),
            None => Cow::Owned(serde_json::from_str(whole)?),
        };
        return Ok((Scalar::Text(text), rest));
    }
    let (word, rest) = text.split_at(text.find(' ').unwrap_or(text.len()));
    let scalar = match word {
        "null" => Scalar::Null,
        "true" => Scalar::Bool(true),
        "false" => Scalar::Bool(false),
        _ => {
            let unsigned = word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok()).flatten();
            match unsigned {
                Some(number) => Scalar::Unsigned(number),
                None => match serde_json::from_str::<serde_json::Number>(word)? {
                    number if number.is_i64() => Scalar::Signed(number.as_i64().unwrap_or_default()),
                    number => Scalar::Float(number.as_f64().unwrap_or_default()),
                },
            }
        }
    };
    Ok((scalar, rest))
}

impl<'de> Deserializer<'de> for &mut Walk<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.next()? {
            Token::Scalar(own) => match &*self.scalar(own)? {
                Scalar::Null => visitor.visit_unit(),
                Scalar::Bool(value) => visitor.visit_bool(*value),
                Scalar::Unsigned(value) => visitor.visit_u64(*value),
                Scalar::Signed(value) => visitor.visit_i64(*value),
                Scalar::Float(value) => visitor.visit_f64(*value),
                Scalar::Text(value) => visitor.visit_str(value),
            },
            Token::Array(count) => {
                let value = visitor.visit_seq(Inside { walk: self, left: *count })?;
                self.end()?;
                Ok(value)
            }
            Token::Object(count) => {
                let value = visitor.visit_map(Inside { walk: self, left: *count })?;
                self.end()?;
                Ok(value)
            }
            Token::Key(_) | Token::End => Err(Error::custom("a part of another form")),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let mut ahead = self.tokens.clone();
        if let Some(Token::Scalar(own)) = ahead.next() {
            let changed = self.more && self.same == 0;
            // No other scalar begins so.
            let null = if changed { self.changes.starts_with('n') } else { matches!(own, Scalar::Null) };
            if null {
                self.tokens = ahead;
                self.scalar(own)?;
                return visitor.visit_none();
            }
        }
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self.next()? {
            Token::Scalar(own) => match &*self.scalar(own)? {
                Scalar::Text(name) => visitor.visit_enum(StrDeserializer::<Error>::new(name)),
                _ => Err(Error::custom("no name of a variant")),
            },
            Token::Object(1) => {
                let value = visitor.visit_enum(Variant(self))?;
                self.end()?;
                Ok(value)
            }
            _ => Err(Error::custom("a part of another form")),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

/// What is left of an array or an object.
struct Inside<'w, 'a> {
    walk: &'w mut Walk<'a>,
    left: usize,
}

impl<'de> SeqAccess<'de> for Inside<'_, '_> {
    type Error = Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        seed.deserialize(&mut *self.walk).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

impl<'de> MapAccess<'de> for Inside<'_, '_> {
    type Error = Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        match self.walk.next()? {
            Token::Key(key) => seed.deserialize((&**key).into_deserializer()).map(Some),
            _ => Err(Error::custom("a part of another form")),
        }
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        seed.deserialize(&mut *self.walk)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// A variant that has something.
struct Variant<'w, 'a>(&'w mut Walk<'a>);

impl<'de> EnumAccess<'de> for Variant<'_, '_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self)> {
        match self.0.next()? {
            Token::Key(key) => Ok((seed.deserialize(StrDeserializer::<Error>::new(key))?, self)),
            _ => Err(Error::custom("a part of another form")),
        }
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, '_> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        serde::Deserialize::deserialize(self.0)
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value> {
        seed.deserialize(self.0)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value> {
        self.0.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value> {
        self.0.deserialize_any(visitor)
    }
}
