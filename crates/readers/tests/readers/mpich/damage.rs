//! Damaged memory: sentences, no panic, no endless walk.

use model::QueueState;

use super::{everywhere, on_ch4};
use made_up::mpich::{MPI_INT, REQUEST, WORLD_CONTEXT};
use made_up::rng::Rng;
use made_up::share::rounds;

#[test]
fn a_broken_list_is_told_and_its_receives_are_still_there() {
    on_ch4(|mut process| {
        let world = process.world();
        let at: Vec<_> = (0..4).map(|tag| process.receive(world, [1, tag, WORLD_CONTEXT], 10, MPI_INT)).collect();
        process.list(0, &at);
        for (to, what) in [(at[1].get(), "circle"), (0x10, "nowhere"), (world.get(), "elsewhere")] {
            process.set(at[2], REQUEST, "next", to as i64);
            let queue = process.read_world().pending_receives;
            assert_eq!((queue.state, queue.operations.len()), (QueueState::Error, 4), "{what}");
            assert!(queue.detail.as_deref().unwrap().contains("order is not known"), "{what}");
        }
    });
}

#[test]
fn random_bytes_are_survived() {
    everywhere(|mut process| {
        let world = process.world();
        let at: Vec<_> = (0..6).map(|tag| process.receive(world, [1, tag, WORLD_CONTEXT], 10, MPI_INT)).collect();
        process.list(0, &at);
        let mut rng = Rng::new(7);
        let whole = process.target();
        let mut read = 0;
        for _ in 0..rounds(50, 150) {
            let mut target = whole.clone();
            for (_, bytes) in target.segments_mut() {
                for _ in 0..rng.below(60) {
                    let place = rng.below(bytes.len() as u64) as usize;
                    bytes[place] = rng.below(256) as u8;
                }
            }
            if let Some(report) = process.read_of(&target) {
                read += 1;
                assert!(report.problems.len() <= 101 && report.communicators.len() <= 40);
            }
        }
        assert!(read > 0);
    });
}
