//! The targets. What makes their processes and files is what the tests of each crate make them with.

pub mod cores;
pub mod digest;
pub mod dwarf;
pub mod elf;
pub mod history;
pub mod layouts;
pub mod mpi2dd;
pub mod mpich;
pub mod networks;
pub mod openmpi;
pub mod python;
pub mod recording;
pub mod session;
pub mod snapshot;
pub mod sources;
pub mod tables;
pub mod unwind;
pub mod variables;

/// Seeds of a first byte and some pieces of so many bytes, each of which changes something that is made up.
fn pieces(len: usize) -> Vec<Vec<u8>> {
    let one = |seed: u64| {
        let mut rng = made_up::rng::Rng::new(seed);
        let pieces = rng.index(8);
        [seed as u8].into_iter().chain((0..len * pieces).map(|_| rng.next() as u8)).collect()
    };
    (0..24).map(one).collect()
}
