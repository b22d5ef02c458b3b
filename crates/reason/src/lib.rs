//! Why something is not known: a sentence for people, and for nobody else.

use std::fmt;

/// A sentence that says why something is not known, or was not done.
///
/// It can be shown, and put into what is shown. It cannot be searched, nor compared with a text: where code must know what
/// went wrong, the error is an enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason(String);

impl Reason {
    /// With these words.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// In the words of an error.
    pub fn of(error: impl fmt::Display) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(&self.0)
    }
}

impl std::error::Error for Reason {}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Reason {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// For what is shown: a detail of the model, a problem of a report.
impl From<Reason> for String {
    fn from(reason: Reason) -> Self {
        reason.0
    }
}

/// The same, of a reason that is kept.
impl From<&Reason> for String {
    fn from(reason: &Reason) -> Self {
        reason.0.clone()
    }
}
