//! When calls began.

use std::mem::offset_of;
use std::time::{Duration, UNIX_EPOCH};

use record_format::Calibration;

use crate::rows::Row;

/// The process's clock (CLOCK_MONOTONIC, ns) against that of the world.
pub(crate) struct Clock {
    monotonic: u64,
    realtime: u64,
}

impl Clock {
    /// By a time that was taken by both.
    pub(crate) fn new(row: Row<'_>, at: usize) -> Self {
        Self {
            monotonic: row.u64(at + offset_of!(Calibration, monotonic)),
            realtime: row.u64(at + offset_of!(Calibration, realtime)),
        }
    }

    /// RFC 3339 in UTC with milliseconds.
    pub(crate) fn told(&self, monotonic: u64) -> String {
        let since = self.realtime.saturating_sub(self.monotonic).saturating_add(monotonic);
        // What lies far away is damage, and needs no more digits than others.
        let since = Duration::from_nanos(since.min(4_000_000_000 * 1_000_000_000));
        model::time::milliseconds(UNIX_EPOCH + since)
    }
}
