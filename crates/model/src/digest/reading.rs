//! Reads digests, which are what strangers wrote.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::groups::Groups;
use super::parts::{Part, reading};
use super::{Head, MAX_PARTS, VERSION};
use crate::{SCHEMA, Snapshot};

/// What is no digest, or not the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestError(String);

impl std::fmt::Display for DigestError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for DigestError {}

/// What was read of the digests of many senders.
#[derive(Debug, Default)]
pub struct Digests {
    /// By sender. While one's digest is read its parts are not here.
    senders: Mutex<HashMap<String, Vec<Part>>>,
    groups: Arc<Mutex<Groups>>,
}

impl Digests {
    /// The snapshot of the next digest of a sender. Several threads may read those of several senders.
    ///
    /// # Errors
    /// Where it is none, is damaged, is of another version, or one before it is missing. Nothing more can be read of this sender
    /// then.
    pub fn read(&self, sender: &str, digest: &str) -> Result<Snapshot, DigestError> {
        let senders = || self.senders.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parts = senders().remove(sender).unwrap_or_default();
        let snapshot = next(&mut parts, &self.groups, digest)?;
        senders().insert(sender.to_owned(), parts);
        Ok(snapshot)
    }
}

fn next(parts: &mut Vec<Part>, groups: &Arc<Mutex<Groups>>, digest: &str) -> Result<Snapshot, DigestError> {
    let wrong = |error: serde_json::Error| DigestError(format!("not a digest: {error}"));
    let mut lines = digest.split('\n');
    let head: Head = serde_json::from_str(lines.next().unwrap_or_default()).map_err(wrong)?;
    if head.digest != VERSION {
        return Err(DigestError(format!("a digest of version {}; this one reads {VERSION}", head.digest)));
    }
    if head.known == 0 {
        parts.clear();
    }
    let before = parts.len();
    if head.known != before || head.parts > MAX_PARTS.saturating_sub(before) {
        return Err(DigestError(format!("a digest that begins with part {}, not {before}", head.known)));
    }
    let place = |text: &str| {
        let start = text.as_ptr().addr() - digest.as_ptr().addr();
        Part::Text(start..start + text.len())
    };
    // Each has a line of its own.
    parts.reserve_exact(head.parts.min(digest.len()));
    parts.extend(lines.by_ref().take(head.parts).map(place));
    let last = lines.next().filter(|_| lines.next().is_none());
    let text = last.ok_or_else(|| DigestError("a digest of another length than it says".to_owned()))?;
    let snapshot: Snapshot = reading(digest, parts, before, groups, || serde_json::from_str(text)).map_err(wrong)?;
    // What nobody has asked for is nothing that later ones may have.
    for part in parts.iter_mut().skip(before) {
        if let Part::Text(place) = part {
            *place = 0..0;
        }
    }
    if snapshot.schema != SCHEMA {
        return Err(DigestError("a snapshot of another schema".to_owned()));
    }
    Ok(snapshot)
}
