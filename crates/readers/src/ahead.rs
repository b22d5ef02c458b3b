//! Reading ahead, where what is read lies at equal distances: of a list whose elements were allocated one after the other, one read
//! brings many.

use target::address::TargetAddr;
use target::{Target, fit};

/// At most so many bytes are read at once: what is looked at soon stays in the processor's cache.
const AT_ONCE: u64 = 1 << 20;

/// What was read ahead.
#[derive(Debug, Default)]
pub struct Ahead {
    at: u64,
    bytes: Vec<u8>,
    /// The last element.
    last: Option<u64>,
    /// The distance to it of the one before, and how many more elements were read at once the last time.
    distance: u64,
    more: u64,
}

impl Ahead {
    /// The bytes at `at`, where they were read ahead.
    pub fn get(&self, at: TargetAddr, len: usize) -> Option<&[u8]> {
        let offset = usize::try_from(at.get().checked_sub(self.at)?).ok()?;
        self.bytes.get(offset..offset.checked_add(len)?)
    }

    /// The next element of the list is at `at`: reads it and those that follow if the last ones lay at equal distances, more each time
    /// that this holds. What cannot be read so is not there: it is to be read by itself.
    pub fn next(&mut self, target: &dyn Target, at: TargetAddr) {
        let at = at.get();
        let distance = self.last.map_or(0, |last| at.wrapping_sub(last));
        let regular = self.last.is_some() && distance == self.distance;
        (self.last, self.distance) = (Some(at), distance);
        let down = distance.cast_signed() < 0;
        let size = distance.cast_signed().unsigned_abs();
        if !regular {
            // Those that were read are still there: a gap is no reason to read them again.
            self.more = 0;
            return;
        }
        if size == 0
            || size > AT_ONCE / 2
            || self.get(TargetAddr::new(at), usize::try_from(size).unwrap_or(usize::MAX)).is_some()
        {
            return;
        }
        self.more = (2 * self.more + 1).min(AT_ONCE / size - 1);
        let start = if down { at.checked_sub(self.more * size) } else { Some(at) };
        let read = start.is_some_and(|start| self.read(target, start, (self.more + 1) * size));
        if !read {
            self.bytes.clear();
            self.more = 0;
        }
    }

    fn read(&mut self, target: &dyn Target, start: u64, len: u64) -> bool {
        let (at, Ok(len)) = (TargetAddr::new(start), usize::try_from(len)) else { return false };
        self.at = start;
        target.is_held(at, len) && fit(&mut self.bytes, len).is_ok() && target.read_once(at, &mut self.bytes).is_ok()
    }
}
