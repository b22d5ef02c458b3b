//! A table of words in buckets, each of one cache line: a word stands in the first of two buckets that its hash names, or in
//! the second where the first was full.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Words of a bucket.
const BUCKET: usize = 8;

/// A table; its rows are numbered as their keys are.
pub struct Keys {
    /// The keys; 0: free.
    pub first: *mut AtomicU64,
    /// How many there are: a power of two.
    pub count: usize,
}

/// Whether any word of a table stands in its second bucket.
pub struct Spilled(pub AtomicBool);

impl Keys {
    #[inline(always)]
    fn buckets(&self, word: u64) -> [usize; 2] {
        let hash = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mask = self.count / BUCKET - 1;
        [(hash >> 40) as usize & mask, (hash >> 20) as usize & mask]
    }

    #[inline(always)]
    fn bucket(&self, number: usize) -> &[AtomicU64] {
        // SAFETY: the number is below that of the buckets.
        unsafe { std::slice::from_raw_parts(self.first.add(number * BUCKET), BUCKET) }
    }

    #[inline(always)]
    fn in_bucket(&self, number: usize, word: u64) -> Option<usize> {
        let found = self.bucket(number).iter().position(|key| key.load(Ordering::Relaxed) == word)?;
        Some(number * BUCKET + found)
    }

    /// The row of a word.
    #[inline(always)]
    pub fn find(&self, word: u64, spilled: &Spilled) -> Option<usize> {
        let [first, second] = self.buckets(word);
        self.in_bucket(first, word).or_else(|| {
            if spilled.0.load(Ordering::Relaxed) { self.in_bucket(second, word) } else { None }
        })
    }

    /// A free row, which has the word now; `shared` where other threads may take rows at the same time.
    #[inline(always)]
    pub fn take(&self, word: u64, shared: bool, spilled: &Spilled) -> Option<usize> {
        let [first, second] = self.buckets(word);
        if let Some(found) = self.take_in(first, word, shared) {
            return Some(found);
        }
        let found = self.take_in(second, word, shared);
        if found.is_some() {
            spilled.0.store(true, Ordering::Relaxed);
        }
        found
    }

    #[inline(always)]
    fn take_in(&self, number: usize, word: u64, shared: bool) -> Option<usize> {
        for (place, key) in self.bucket(number).iter().enumerate() {
            if key.load(Ordering::Relaxed) != 0 {
                continue;
            }
            if shared {
                if key.compare_exchange(0, word, Ordering::AcqRel, Ordering::Relaxed).is_err() {
                    continue;
                }
            } else {
                key.store(word, Ordering::Relaxed);
            }
            return Some(number * BUCKET + place);
        }
        None
    }
}
