//! Every fuzz target takes its seeds, and some changes of each; within a limit of memory and of the processor's time.
#![allow(clippy::unwrap_used, clippy::panic)]

use made_up::rng::Rng;
use rlimit::Resource;
use target::heap::WithReserve;

/// As in all programs of ours.
#[global_allocator]
static ALLOCATOR: WithReserve<std::alloc::System> = WithReserve(std::alloc::System);

/// What all of them together may take: memory in bytes, and seconds of the processor. A hang ends by SIGXCPU, and an allocation that
/// nothing bounds by SIGABRT.
const MEMORY: u64 = 1 << 30;
const SECONDS: u64 = 1200;

fn changed(seed: &[u8], longest: usize, random: &mut Rng) -> Vec<u8> {
    let mut data = seed.to_vec();
    for _ in 0..=random.index(4) {
        let at = random.index(data.len().max(1));
        match random.index(5) {
            0 => data.truncate(at),
            1 => data.insert(at.min(data.len()), random.next() as u8),
            _ => {
                if let Some(byte) = data.get_mut(at) {
                    *byte = match random.index(3) {
                        0 => random.next() as u8,
                        1 => *byte ^ 1 << random.index(8),
                        _ => [0, 0xff, 0x80, b'"', b'9'][random.index(5)],
                    };
                }
            }
        }
    }
    data.truncate(longest);
    data
}

/// The target whose programs gdb stops.
const OF_GDB: &str = "dwarf-variables";

#[test]
fn every_target_takes_its_seeds_and_changes_of_them() {
    take_seeds(|name| name != OF_GDB);
}

#[test]
#[ignore = "needs gdb"]
fn the_target_of_stopped_programs_does_so_too() {
    take_seeds(|name| name == OF_GDB);
}

fn take_seeds(chosen: impl Fn(&str) -> bool) {
    Resource::AS.set(MEMORY, MEMORY).unwrap();
    Resource::CPU.set(SECONDS, SECONDS).unwrap();
    // Changes of each seed.
    let rounds = made_up::share::rounds(1, 4);
    let targets: Vec<_> = fuzz::TARGETS.iter().filter(|target| chosen(target.name)).collect();
    assert!(!targets.is_empty());
    for target in targets {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        for (number, seed) in seeds.iter().enumerate().step_by(made_up::share::every(2)) {
            assert!(seed.len() <= target.longest, "seed {number} of {} has {} bytes", target.name, seed.len());
            target::file_budget::begin_look(None);
            (target.run)(seed);
            for round in 0..rounds {
                // What panics tells which it was.
                println!("{} seed {number} round {round}", target.name);
                let mut random = Rng::new(number as u64 * 1000 + round);
                (target.run)(&changed(seed, target.longest, &mut random));
            }
        }
    }
}

#[test]
fn names_are_there_once() {
    let mut names: Vec<&str> = fuzz::TARGETS.iter().map(|target| target.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), fuzz::TARGETS.len());
    assert!(names.iter().all(|name| fuzz::target(name).is_some()) && fuzz::target("").is_none());
}
