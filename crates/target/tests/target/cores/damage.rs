//! Damaged core files: nothing panics, nothing runs on, whatever they say.

use std::time::{Duration, Instant};

use made_up::core_file::{damage_from_seed, fuzz};

#[test]
fn some_hundred_rounds_of_the_fuzzer() {
    let mut opened = 0;
    for seed in 0..600 {
        let started = Instant::now();
        opened += u32::from(fuzz(&damage_from_seed(seed)));
        assert!(started.elapsed() < Duration::from_secs(20), "seed {seed}");
    }
    assert!(opened > 150, "only {opened} were core files still");
}
