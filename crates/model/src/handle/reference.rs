//! What facts are made of that several kinds have: other objects, functions, attributes, keys and values.

use serde_json::{Map, Value, json};

use super::facts::{Fact, as_in_json};
use super::{Handle, HandleKind};

/// Another object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// Its kind.
    pub kind: HandleKind,
    /// Its C handle, as `Handle::handle` has it.
    pub handle: Option<String>,
    /// Its line.
    pub summary: String,
    /// Whether it may be another one that is meant.
    pub doubtful: bool,
}

impl Reference {
    /// To what a handle means.
    pub fn to(handle: Handle) -> Self {
        Self { kind: handle.kind, handle: handle.handle, summary: handle.summary, doubtful: false }
    }
}

impl From<Reference> for Value {
    fn from(reference: Reference) -> Self {
        let Reference { kind, handle, summary, doubtful } = reference;
        let mut value = json!({ "kind": kind.word(), "handle": handle, "summary": summary });
        if doubtful {
            value["certain"] = false.into();
        }
        value
    }
}

/// References to many objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct References {
    /// The first of them.
    pub shown: Vec<Reference>,
    /// How many there are, where not all are shown.
    pub total: Option<usize>,
}

impl Fact for References {
    fn tell(self, name: &str, handle: &mut Handle) {
        handle.fact(name, self.shown);
        if let Some(total) = self.total {
            handle.fact(&format!("{name}_total"), total);
        }
    }
}

/// A function of the program that the library calls back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    /// Where its code starts.
    pub address: String,
    /// Its name.
    pub symbol: Option<String>,
    /// Why the name is not known.
    pub reason: Option<String>,
}

impl Function {
    /// What it is called where there is room for one word: its name, else its address.
    pub fn word(&self) -> &str {
        self.symbol.as_ref().unwrap_or(&self.address)
    }
}

impl From<Function> for Value {
    fn from(function: Function) -> Self {
        let mut value = json!({ "address": function.address, "symbol": function.symbol });
        if let Some(reason) = function.reason {
            value["reason"] = reason.into();
        }
        value
    }
}

/// Who set an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SetBy {
    C,
    Fortran,
    Library,
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AttributeValue {
    /// An address.
    Pointer(String),
    /// A number.
    Number(i64),
    /// In the words of a plug-in.
    Words(Option<String>),
}

/// An attribute of a communicator, datatype, window or session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribute {
    /// The number, or handle, of its keyval.
    pub keyval: i64,
    /// The keyval's name, of one of the standard's own.
    pub name: Option<String>,
    /// What it is.
    pub value: AttributeValue,
    /// Who set it.
    pub set_by: Option<SetBy>,
    /// Whether the keyval is one of the standard's own.
    pub predefined: Option<bool>,
}

impl From<Attribute> for Value {
    fn from(attribute: Attribute) -> Self {
        let Attribute { keyval, name, value, set_by, predefined } = attribute;
        let value = match value {
            AttributeValue::Pointer(address) => json!(address),
            AttributeValue::Number(number) => json!(number),
            AttributeValue::Words(words) => json!(words),
        };
        let set_by = set_by.map(|by| match by {
            SetBy::C => "C",
            SetBy::Fortran => "Fortran",
            SetBy::Library => "library",
        });
        json!({ "keyval": keyval, "name": name, "value": value, "set_by": set_by, "predefined": predefined })
    }
}

/// A key of an info object with its value, or such a hint of another object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Its value.
    pub value: String,
    /// Of a hint: whether the library has marked it as one that it does not use.
    pub ignored: Option<bool>,
    /// Of a hint that the library has changed: what the application gave.
    pub given: Option<String>,
}

impl From<Entry> for Value {
    fn from(entry: Entry) -> Self {
        let Entry { key, value, ignored, given } = entry;
        let mut members = Map::from_iter([("key".to_owned(), key.into()), ("value".to_owned(), value.into())]);
        members.extend(ignored.map(|ignored| ("ignored".to_owned(), ignored.into())));
        members.extend(given.map(|given| ("given".to_owned(), given.into())));
        Self::Object(members)
    }
}

as_in_json!(Reference, Function);
