//! Reads digests, which are what strangers wrote.

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use super::groups::Groups;
use super::parts::{Part, reading};
use super::{Head, MAX_PARTS, VERSION};
use crate::{SCHEMA, Snapshot, built};

/// What is built of all digests of one sender that belong together is not more, in bytes (512 MiB), and what they have is not
/// either. A sender begins anew long before ([`super::writing`]).
const MAX_BUILT: usize = 512 << 20;

/// No node has more processes of a job.
const MAX_PROCESSES: usize = 1 << 16;

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
    /// By sender. While one's digest is read what it sent before is not here.
    senders: Mutex<HashMap<String, Sent>>,
    groups: Arc<Mutex<Groups>>,
}

/// What one has sent.
#[derive(Debug, Default)]
struct Sent {
    parts: Vec<Part>,
    /// How much was built of it, in bytes.
    built: usize,
}

impl Digests {
    /// The snapshot of the next digest of a sender. Several threads may read those of several senders.
    ///
    /// # Errors
    /// Where it is none, is damaged, is more than may be built, is of another version, or one before it is missing. Nothing more can
    /// be read of this sender then.
    pub fn read(&self, sender: &str, digest: impl Into<String>) -> Result<Snapshot, DigestError> {
        let senders = || self.senders.lock().unwrap_or_else(PoisonError::into_inner);
        let mut sent = senders().remove(sender).unwrap_or_default();
        let snapshot = next(&mut sent, &self.groups, &Rc::new(digest.into()))?;
        senders().insert(sender.to_owned(), sent);
        Ok(snapshot)
    }
}

fn next(sent: &mut Sent, groups: &Arc<Mutex<Groups>>, digest: &Rc<String>) -> Result<Snapshot, DigestError> {
    let wrong = |error: serde_json::Error| DigestError(format!("not a digest: {error}"));
    let mut lines = digest.split('\n');
    let head: Head = serde_json::from_str(lines.next().unwrap_or_default()).map_err(wrong)?;
    if head.digest != VERSION {
        return Err(DigestError(format!("a digest of version {}; this one reads {VERSION}", head.digest)));
    }
    if head.known == 0 {
        *sent = Sent::default();
    }
    let parts = &mut sent.parts;
    let before = parts.len();
    if head.known != before || head.parts > MAX_PARTS.saturating_sub(before) {
        return Err(DigestError(format!("a digest that begins with part {}, not {before}", head.known)));
    }
    let place = |text: &str| {
        let start = text.as_ptr().addr() - digest.as_ptr().addr();
        Part::Text(start..start + text.len())
    };
    let too_much = || DigestError(format!("a node that has more than {} MiB to say", MAX_BUILT >> 20));
    // Its parts may be named while they are read, and where their lines are.
    let each = 2 * size_of::<Part>() + size_of::<Range<usize>>();
    let listed = head.parts.checked_mul(each).and_then(|more| sent.built.checked_add(more));
    let left = listed.and_then(|listed| MAX_BUILT.checked_sub(listed)).ok_or_else(too_much)?;
    // Each has a line of its own.
    parts.reserve_exact(head.parts.min(digest.len()));
    parts.extend(lines.by_ref().take(head.parts).map(place));
    let last = lines.next().filter(|_| lines.next().is_none());
    let text = last.ok_or_else(|| DigestError("a digest of another length than it says".to_owned()))?;
    let read = built::within(left, || reading(digest, parts, before, groups, || built::from_str::<Snapshot>(text)));
    if read.is_too_much {
        return Err(too_much());
    }
    sent.built = MAX_BUILT - left + read.bytes;
    let snapshot = read.result.map_err(wrong)?;
    if snapshot.processes.len() > MAX_PROCESSES {
        return Err(DigestError(format!("a node with more than {MAX_PROCESSES} processes")));
    }
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
