//! How much of what is asked for can be known of an MPI.

use serde::Serialize;

/// How much can be known of a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Level {
    /// Always shown, and right.
    #[serde(rename = "exact")]
    Exact,
    /// Null in some places, with the reason there.
    #[serde(rename = "partial")]
    Partial,
    /// Always null, or a queue of which there is no information, with the reason.
    #[serde(rename = "not available")]
    NotAvailable,
}

/// What can be known of a fact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Capability {
    /// `communicators`, `receives`, `unexpected`, `sends` or `handles`, and where its parts differ a part, such as
    /// `sends.tag`: the names of docs/mpis.md. What differs where messages leave the node is under `network`.
    pub fact: &'static str,
    /// How much of it.
    pub level: Level,
    /// Why not all; `None` where all of it is.
    pub reason: Option<String>,
}

impl Capability {
    /// Always shown, and right.
    pub const fn exact(fact: &'static str) -> Self {
        Self { fact, level: Level::Exact, reason: None }
    }

    /// Null in some places.
    pub fn partial(fact: &'static str, reason: impl Into<String>) -> Self {
        Self { fact, level: Level::Partial, reason: Some(reason.into()) }
    }

    /// Not to be had.
    pub fn not_available(fact: &'static str, reason: impl Into<String>) -> Self {
        Self { fact, level: Level::NotAvailable, reason: Some(reason.into()) }
    }
}
