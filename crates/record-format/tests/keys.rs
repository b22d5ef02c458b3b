//! The recorder's table of words: as a map has it, and with threads at it at once. `make sanitize` runs it under Miri.
#![allow(unsafe_code, dead_code, missing_docs, clippy::unwrap_used)]

// The recorder itself has no standard library, and so no tests of its own.
#[path = "../../recorder/src/keys.rs"]
mod keys;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use keys::{Keys, Spilled};

const COUNT: usize = 64;
const THREADS: u64 = 3;
/// Miri, which runs each seed of its own, takes a thousand times as long.
const STEPS: usize = if cfg!(miri) { 200 } else { 2000 };

/// The rows, and the table over them.
fn table() -> (Vec<AtomicU64>, Spilled) {
    ((0..COUNT).map(|_| AtomicU64::new(0)).collect(), Spilled(AtomicBool::new(false)))
}

fn over(rows: &[AtomicU64]) -> Keys {
    Keys { first: rows.as_ptr().cast_mut(), count: rows.len() }
}

/// As the recorder does it: the row of a word, which is taken where it has none.
fn row(keys: &Keys, word: u64, shared: bool, spilled: &Spilled) -> Option<usize> {
    let (found, free) = keys.find_or_free(word, spilled);
    let taken = || free.filter(|row| keys.take(*row, word, shared)).or_else(|| keys.take_any(word, shared, spilled));
    found.or_else(taken)
}

#[test]
fn it_has_what_a_map_has() {
    let (rows, spilled) = table();
    let keys = over(&rows);
    let mut known: HashMap<u64, usize> = HashMap::new();
    let mut state = 7_u64;
    for step in 0..STEPS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let word = 1 + (state >> 33) % 90;
        if (state >> 20).is_multiple_of(3) {
            if let Some(row) = known.remove(&word) {
                rows[row].store(0, Ordering::Relaxed);
            }
        } else if let Some(row) = row(&keys, word, false, &spilled) {
            assert!(known.values().all(|other| *other != row) || known.get(&word) == Some(&row));
            known.insert(word, row);
        }
        // Rows that are given back and taken again make a second row of a word at most.
        let looked_at = if cfg!(miri) && step % 20 != 0 { 1 } else { known.len() };
        for (word, row) in known.iter().take(looked_at) {
            assert!(keys.rows_of(*word).any(|found| found == *row));
            assert!(keys.find(*word, &spilled).is_some());
        }
        assert_eq!(keys.find(1000, &spilled), None);
    }
    // It was full now and then.
    assert!(spilled.0.load(Ordering::Relaxed) && known.len() > COUNT / 4);
}

#[test]
fn threads_never_share_a_row() {
    let (rows, spilled) = table();
    std::thread::scope(|scope| {
        let taking = |number: u64| {
            let (rows, spilled) = (&rows, &spilled);
            move || {
                let keys = over(rows);
                let taken =
                    |at: u64| Some((at * THREADS + number + 1, row(&keys, at * THREADS + number + 1, true, spilled)?));
                (0..12).filter_map(taken).collect::<Vec<_>>()
            }
        };
        let threads: Vec<_> = (0..THREADS).map(|number| scope.spawn(taking(number))).collect();
        let all: Vec<(u64, usize)> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
        let mut taken: Vec<usize> = all.iter().map(|(_, row)| *row).collect();
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken.len(), all.len());
        assert!(all.len() > 12, "{all:?}");
        let keys = over(&rows);
        assert!(all.iter().all(|(word, row)| keys.find(*word, &spilled) == Some(*row)));
    });
}
