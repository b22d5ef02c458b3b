//! Error handlers.

use super::facts::{as_in_json, facts};
use super::{Function, HandleKind, Known};
use serde_json::Value;

/// What an error handler, or an operator, is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Language {
    C,
    Cxx,
    Fortran,
    Java,
}

impl Language {
    /// Its name.
    pub const fn word(self) -> &'static str {
        match self {
            Self::C => "C",
            Self::Cxx => "C++",
            Self::Fortran => "Fortran",
            Self::Java => "Java",
        }
    }
}

impl From<Language> for Value {
    fn from(language: Language) -> Self {
        language.word().into()
    }
}

as_in_json!(Language);

facts! {
    /// What the line of an error handler needs.
    Errhandler {
        /// The word for the objects that it is for.
        object: &'static str,
        /// The application's function; none of a predefined one.
        function: Option<Function>,
        /// What that is written in.
        language: Known<Language>,
    }
}

impl Errhandler {
    /// The word for objects of a kind; `any` without one.
    pub fn object(kind: Option<HandleKind>) -> &'static str {
        kind.map_or("any", HandleKind::noun)
    }

    /// Its line, where it has no name; `address`: where its function is.
    pub fn summary(&self, address: impl std::fmt::Display) -> String {
        let symbol = self.function.as_ref().and_then(|function| function.symbol.clone());
        let function = symbol.unwrap_or_else(|| format!("the function at {address}"));
        format!("{} error handler {function}", self.object)
    }
}
