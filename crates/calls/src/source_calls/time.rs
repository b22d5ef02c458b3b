//! How much time may go into the sources of one job: its ranks are stopped meanwhile.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So much without a pause of so long.
const MOST: Duration = Duration::from_secs(4);
const PAUSE: Duration = Duration::from_secs(5);

/// The time that was taken, for all processes.
#[derive(Debug, Default)]
pub struct Time(Mutex<Taken>);

#[derive(Debug, Default)]
struct Taken {
    sum: Duration,
    last: Option<Instant>,
}

/// Notes when it ends how long something took.
pub(super) struct Spent<'t> {
    time: &'t Time,
    since: Instant,
}

impl Time {
    /// None so far.
    pub const fn new() -> Self {
        Self(Mutex::new(Taken { sum: Duration::ZERO, last: None }))
    }

    /// Begins something; `None` where no time is left.
    pub(super) fn spend(&self) -> Option<Spent<'_>> {
        let since = Instant::now();
        // What is spent takes the lock when it ends: one must not be made before it is known that there is time.
        self.is_left(since).then(|| Spent { time: self, since })
    }

    fn is_left(&self, now: Instant) -> bool {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.last.is_none_or(|last| now.duration_since(last) > PAUSE) {
            taken.sum = Duration::ZERO;
        }
        taken.sum < MOST
    }
}

impl Drop for Spent<'_> {
    fn drop(&mut self) {
        let now = Instant::now();
        let mut taken = self.time.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.sum += now.duration_since(self.since);
        taken.last = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_no_time_is_left_nothing_begins() {
        let time = Time(Mutex::new(Taken { sum: MOST, last: Some(Instant::now()) }));
        assert!(time.spend().is_none());
        assert!(time.spend().is_none());
    }

    #[test]
    fn after_a_pause_there_is_time_again() {
        let long_ago = Instant::now().checked_sub(2 * PAUSE);
        let time = Time(Mutex::new(Taken { sum: MOST, last: long_ago }));
        assert!(time.spend().is_some());
        assert_eq!(time.0.lock().map(|taken| taken.sum < MOST).ok(), Some(true));
    }
}
