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
        match self.in_bucket(first, word) {
            None if spilled.0.load(Ordering::Relaxed) => self.in_second(second, word),
            found => found,
        }
    }

    #[cold]
    fn in_second(&self, number: usize, word: u64) -> Option<usize> {
        self.in_bucket(number, word)
    }

    /// All rows of a word: more than one where threads were at it at once.
    pub fn rows_of(&self, word: u64) -> impl Iterator<Item = usize> {
        let [first, second] = self.buckets(word);
        let rows = move |number: usize| (0..BUCKET).map(move |place| number * BUCKET + place);
        let second = rows(second).filter(move |_| second != first);
        rows(first).chain(second).filter(move |row| {
            // SAFETY: rows are below their number.
            unsafe { &*self.first.add(*row) }.load(Ordering::Acquire) == word
        })
    }

    /// The row of a word, or of none a free one in its first bucket, which must still be taken.
    #[inline(always)]
    pub fn find_or_free(&self, word: u64, spilled: &Spilled) -> (Option<usize>, Option<usize>) {
        let [first, second] = self.buckets(word);
        // A bit for each row: no branch that depends on what stands there.
        let (mut found, mut free) = (0_u32, 0_u32);
        for (place, key) in self.bucket(first).iter().enumerate() {
            let key = key.load(Ordering::Relaxed);
            found |= u32::from(key == word) << place;
            free |= u32::from(key == 0) << place;
        }
        let row = |bits: u32| (bits != 0).then(|| first * BUCKET + bits.trailing_zeros() as usize);
        match row(found) {
            None if spilled.0.load(Ordering::Relaxed) => (self.in_second(second, word), row(free)),
            found => (found, row(free)),
        }
    }

    /// Takes a free row; not where another thread was faster. `shared` where other threads may take rows at the same time.
    #[inline(always)]
    pub fn take(&self, row: usize, word: u64, shared: bool) -> bool {
        // SAFETY: rows are below their number.
        let key = unsafe { &*self.first.add(row) };
        if shared {
            return key.compare_exchange(0, word, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        }
        key.store(word, Ordering::Relaxed);
        true
    }

    /// A free row in either bucket, which has the word now.
    #[cold]
    pub fn take_any(&self, word: u64, shared: bool, spilled: &Spilled) -> Option<usize> {
        let [first, second] = self.buckets(word);
        for number in [first, second] {
            for (place, key) in self.bucket(number).iter().enumerate() {
                let row = number * BUCKET + place;
                if key.load(Ordering::Relaxed) == 0 && self.take(row, word, shared) {
                    if number != first {
                        spilled.0.store(true, Ordering::Relaxed);
                    }
                    return Some(row);
                }
            }
        }
        None
    }
}
