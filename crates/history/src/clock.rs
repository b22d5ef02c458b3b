//! When calls began.

use std::mem::offset_of;
use std::time::{Duration, UNIX_EPOCH};

use record_format::{Calibration, TO_THE_SECOND};

use crate::rows::Row;

/// Set in a time that is a second since 1970, and no more is known of it.
const SECOND: u64 = 1 << 63;
const NANOSECONDS: u64 = 1_000_000_000;
/// What lies far away is damage, and needs no more digits than others (seconds since 1970).
const LATEST: u64 = 4_000_000_000;

/// When a call began whose row is not written yet, by what its frame says: as rows have it, or with [`SECOND`].
pub(crate) fn in_frame(seconds: u64, nanoseconds: u64) -> u64 {
    if nanoseconds == TO_THE_SECOND {
        return SECOND | seconds;
    }
    seconds.wrapping_mul(NANOSECONDS).wrapping_add(nanoseconds)
}

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

    /// RFC 3339 in UTC with milliseconds, or to the second where no more is known.
    pub(crate) fn told(&self, time: u64) -> String {
        if time & SECOND != 0 {
            return model::time::seconds(UNIX_EPOCH + Duration::from_secs((time & !SECOND).min(LATEST)));
        }
        let since = self.realtime.saturating_sub(self.monotonic).saturating_add(time);
        let since = Duration::from_nanos(since.min(LATEST * NANOSECONDS));
        model::time::milliseconds(UNIX_EPOCH + since)
    }
}
