//! Snapshots as agents of nodes send them: what is equal in several ranks, or was so at an earlier look, is there once.
//!
//! A digest is text of lines: a head, `{"digest":2,"known":K,"parts":N}`; N parts, each in the JSON of what it stands for, or told
//! by an earlier one of this digest that has the same form (`form.rs`); and the snapshot. Where a part belongs ([`crate::Shared`],
//! [`crate::Common`], [`crate::Text`], groups) there is its number: parts are numbered through all digests of one sender, of which
//! K were sent before, and name only parts with lesser numbers. Groups are runs of ranks.
//!
//! Both ends keep the parts of a sender, so the second look at a job that stands is short, and costs next to nothing in memory.
//! What is read is a stranger's: parts are bounded, and one that does not fit is an error of the whole digest.

mod cut;
mod form;
pub(crate) mod groups;
mod parts;
mod reading;
mod walk;
mod writing;

pub(crate) use parts::{Naming, is_read, is_written, parsed, put, take, take_by};
pub use reading::{DigestError, Digests};
pub use writing::Digester;

use serde::{Deserialize, Serialize};

/// The version of what is said here.
const VERSION: u32 = 2;

/// A sender's parts are at most so many.
const MAX_PARTS: usize = 1 << 22;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    digest: u32,
    /// How many parts were sent before.
    known: usize,
    /// How many follow.
    parts: usize,
}
