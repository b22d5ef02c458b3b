//! A second processor for large jobs.

use std::thread::{Builder, scope};

/// From so many processes on a job is worth it.
const LARGE: usize = 4096;

/// Does both, of a job of many processes at the same time.
pub fn both<A, B: Send>(processes: usize, first: impl FnOnce() -> A, second: impl Fn() -> B + Sync) -> (A, B) {
    if processes < LARGE {
        return (first(), second());
    }
    scope(|threads| {
        let thread = Builder::new().spawn_scoped(threads, &second);
        let first = first();
        let joined = thread.map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        // Where there may be no further thread, this one does it.
        (first, joined.unwrap_or_else(|_| second()))
    })
}

/// What is made of each of so many, in their order.
pub fn map<R: Send>(count: usize, make: impl Fn(usize) -> R + Sync) -> Vec<R> {
    let half = if count < LARGE { count } else { count / 2 };
    let first = || {
        let mut all = Vec::with_capacity(count);
        all.extend((0..half).map(&make));
        all
    };
    let (mut all, rest): (Vec<R>, Vec<R>) = both(count, first, || (half..count).map(&make).collect());
    all.extend(rest);
    all
}
