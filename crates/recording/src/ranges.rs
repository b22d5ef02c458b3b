//! Ranges of target memory: noted while somebody reads, merged when they are written.

/// Merged when this many are noted, so that a long reading takes bounded memory.
const COMPACT_AT: usize = 1 << 18;

/// A range of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Range {
    /// Its first address.
    pub start: u64,
    /// The address after its last byte.
    pub end: u64,
}

impl Range {
    /// The range of `len` bytes at `start`, cut at the top of the address space.
    pub fn new(start: u64, len: u64) -> Self {
        Self { start, end: start.saturating_add(len) }
    }

    /// Its length in bytes.
    pub fn bytes(self) -> u64 {
        self.end - self.start
    }
}

/// Ranges in any order.
#[derive(Debug, Default)]
pub struct RangeSet {
    ranges: Vec<Range>,
    merged: usize,
}

impl RangeSet {
    /// Adds a range.
    pub fn add(&mut self, range: Range) {
        if range.start >= range.end {
            return;
        }
        if let Some(last) = self.ranges.last_mut()
            && last.start <= range.start
            && range.start <= last.end
        {
            // Most reads follow the one before, or repeat it.
            last.end = last.end.max(range.end);
            return;
        }
        self.ranges.push(range);
        if self.ranges.len() >= 2 * self.merged.max(COMPACT_AT) {
            self.merge();
        }
    }

    /// The ranges by address; none of them overlap or touch.
    pub fn into_sorted(mut self) -> Vec<Range> {
        self.merge();
        self.ranges
    }

    fn merge(&mut self) {
        self.ranges.sort_unstable();
        self.ranges.dedup_by(|next, last| {
            let joined = next.start <= last.end;
            if joined {
                last.end = last.end.max(next.end);
            }
            joined
        });
        self.merged = self.ranges.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_sorted_and_merged() {
        let mut set = RangeSet::default();
        for (start, len) in [(100, 10), (50, 10), (60, 5), (110, 1), (300, 0), (105, 2), (u64::MAX - 1, 9)] {
            set.add(Range::new(start, len));
        }
        let range = |start, end| Range { start, end };
        assert_eq!(set.into_sorted(), [range(50, 65), range(100, 111), range(u64::MAX - 1, u64::MAX)]);
    }

    #[test]
    fn many_ranges_take_bounded_memory() {
        let mut set = RangeSet::default();
        for index in 0..4 * COMPACT_AT as u64 {
            set.add(Range::new(index % 1000 * 16, 8));
        }
        assert!(set.ranges.len() <= 2 * COMPACT_AT);
        assert_eq!(set.into_sorted().len(), 1000);
    }
}
