//! Rows of tables, as bytes.

use target::address::TargetAddr;
use target::{Target, zeroed};

use crate::HistoryError;

/// The numbers of a row, by their places in it (bytes); 0 beyond its end.
#[derive(Clone, Copy)]
pub(crate) struct Row<'b>(pub &'b [u8]);

impl Row<'_> {
    pub(crate) fn u64(&self, at: usize) -> u64 {
        self.0.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    pub(crate) fn u32(&self, at: usize) -> u32 {
        self.0.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    pub(crate) fn i32(&self, at: usize) -> i32 {
        self.u32(at) as i32
    }
}

/// A table of the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Table {
    /// Where it begins in memory.
    pub at: u64,
    /// From one row to the next (bytes).
    pub stride: u64,
    pub count: u64,
}

impl Table {
    /// So many rows, as bytes; fewer where the table ends.
    pub(crate) fn rows<T: Target>(&self, target: &T, first: u64, count: u64) -> Result<Vec<u8>, HistoryError> {
        let count = count.min(self.count.saturating_sub(first));
        // The header was checked: none of this overflows.
        let mut bytes = zeroed(usize::try_from(count * self.stride).unwrap_or(usize::MAX))?;
        target.read(TargetAddr::new(self.at + first * self.stride), &mut bytes)?;
        Ok(bytes)
    }

    /// The rows that these bytes are.
    pub(crate) fn each<'b>(&self, bytes: &'b [u8]) -> impl Iterator<Item = Row<'b>> {
        bytes.chunks_exact(usize::try_from(self.stride).unwrap_or(usize::MAX)).map(Row)
    }

    pub(crate) fn row<T: Target>(&self, target: &T, number: u64) -> Result<Vec<u8>, HistoryError> {
        if number >= self.count {
            return Err(HistoryError::Damaged("a row lies behind the end of its table"));
        }
        self.rows(target, number, 1)
    }
}
