//! Parts that are told by another one of the same form: `~NUMBER`, and then, of the numbers, strings and words of that one's JSON
//! in their order, how many are the same, and the next one instead: `~17 2 897 0 "0x55"`.
//!
//! Ranks of a job mostly differ in a few numbers. Their parts are short so, and the form is looked through once.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeOwned, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Error, Result};

use super::walk::Walk;
use crate::built::{self, Counted};

/// What such a part begins with: no JSON does.
pub(super) const MARK: char = '~';

/// A number, a string or a word of JSON.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar<'a> {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(Cow<'a, str>),
}

/// A step through JSON.
#[derive(Debug)]
pub(super) enum Token {
    Scalar(Scalar<'static>),
    /// With its length.
    Array(usize),
    Object(usize),
    Key(Box<str>),
    End,
}

/// The JSON that others are told by.
#[derive(Debug)]
pub(super) struct Form(Vec<Token>);

impl Form {
    /// # Errors
    /// Where it is no JSON, or more than may be built.
    pub fn new(text: &str) -> Result<Self> {
        let mut tokens = Vec::new();
        let mut json = serde_json::Deserializer::from_str(text);
        Build(&mut tokens).deserialize(&mut json)?;
        json.end()?;
        Ok(Self(tokens))
    }

    /// How much it is.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// What is told by it; `changes`: what follows its number.
    ///
    /// # Errors
    /// Where that is of another type, or no such changes.
    pub fn read<T: DeserializeOwned>(&self, changes: &str) -> Result<T> {
        let mut walk = Walk::new(&self.0, changes)?;
        let value = T::deserialize(Counted::new(&mut walk))?;
        if !walk.is_over() {
            return Err(Error::custom("a part that is another one's, and more"));
        }
        Ok(value)
    }
}

/// Makes tokens of JSON.
struct Build<'a>(&'a mut Vec<Token>);

impl<'de> DeserializeSeed<'de> for Build<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> std::result::Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Build<'_> {
    /// With room for the token that follows: lists grow to twice their length.
    fn add<E: serde::de::Error>(&mut self, token: Token, text: usize) -> std::result::Result<(), E> {
        built::pay(text.saturating_add(2 * size_of::<Token>()))?;
        self.0.push(token);
        Ok(())
    }

    fn scalar<E: serde::de::Error>(mut self, scalar: Scalar<'static>) -> std::result::Result<(), E> {
        self.add(Token::Scalar(scalar), 0)
    }
}

impl<'de> Visitor<'de> for Build<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E: serde::de::Error>(self) -> std::result::Result<(), E> {
        self.scalar(Scalar::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> std::result::Result<(), E> {
        self.scalar(Scalar::Bool(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> std::result::Result<(), E> {
        self.scalar(Scalar::Unsigned(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> std::result::Result<(), E> {
        self.scalar(Scalar::Signed(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> std::result::Result<(), E> {
        self.scalar(Scalar::Float(value))
    }

    fn visit_str<E: serde::de::Error>(mut self, value: &str) -> std::result::Result<(), E> {
        self.add(Token::Scalar(Scalar::Text(Cow::Owned(value.to_owned()))), value.len())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> std::result::Result<(), A::Error> {
        let (start, mut count) = (self.0.len(), 0);
        self.add(Token::End, 0)?;
        while items.next_element_seed(Build(self.0))?.is_some() {
            count += 1;
        }
        self.add(Token::End, 0)?;
        self.0[start] = Token::Array(count);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> std::result::Result<(), A::Error> {
        let (start, mut count) = (self.0.len(), 0);
        self.add(Token::End, 0)?;
        while let Some(key) = members.next_key::<String>()? {
            self.add(Token::Key(key.as_str().into()), key.len())?;
            members.next_value_seed(Build(self.0))?;
            count += 1;
        }
        self.add(Token::End, 0)?;
        self.0[start] = Token::Object(count);
        Ok(())
    }
}
