//! Writes digests.

use super::parts::{Written, writing};
use super::{Head, MAX_PARTS, VERSION};
use crate::Snapshot;

/// Parts of so much JSON are kept (32 MiB), of which a reader builds some times as much; of one digest all are.
const MAX_KEPT: usize = 32 << 20;

/// Writes digests for one reader, one after the other.
#[derive(Debug, Default)]
pub struct Digester {
    parts: Written,
}

impl Digester {
    /// The next digest.
    ///
    /// # Errors
    /// Where the snapshot has no JSON.
    pub fn write(&mut self, snapshot: &Snapshot) -> serde_json::Result<String> {
        // After very many looks anew: both ends keep all of them.
        if self.parts.numbers.len() > MAX_PARTS / 4 || self.parts.length > MAX_KEPT {
            self.parts = Written::default();
        }
        let known = self.parts.numbers.len();
        let text = writing(&mut self.parts, || serde_json::to_string(snapshot));
        self.parts.groups.clear();
        self.parts.forms.clear();
        self.parts.told = 0;
        let parts = std::mem::take(&mut self.parts.new);
        let head = serde_json::to_string(&Head { digest: VERSION, known, parts: parts.len() })?;
        Ok(std::iter::once(head).chain(parts).chain([text?]).collect::<Vec<_>>().join("\n"))
    }
}
