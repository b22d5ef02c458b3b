//! Sessions.

use super::facts::facts;
use super::{Attribute, Entry, Known, Reference};

facts! {
    /// What a session has but its line.
    Session {
        /// The level of threads that it was made with.
        thread_level: Known<i64>,
        /// Its error handler.
        errhandler: Option<Reference>,
        /// Hints.
        info: Known<Vec<Entry>>,
        /// Attributes.
        attributes: Known<Vec<Attribute>>,
    }
}
