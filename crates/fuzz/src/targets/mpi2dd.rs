//! Tables of the draft MPI2DD in a made-up job whose memory the input changes.

#[path = "../../../acquisition/tests/acquisition/mpi2dd/damage.rs"]
mod damage;
#[path = "../../../acquisition/tests/acquisition/mpi2dd/job.rs"]
#[allow(dead_code, unused_imports)]
mod job;
#[path = "../../../acquisition/tests/acquisition/mpi2dd/support.rs"]
#[allow(dead_code)]
mod support;

pub fn run(data: &[u8]) {
    damage::fuzz(data);
}

pub fn seeds() -> Vec<Vec<u8>> {
    let one = |seed: u64| {
        let mut rng = made_up::rng::Rng::new(seed);
        let pieces = rng.index(8);
        [seed as u8].into_iter().chain((0..13 * pieces).map(|_| rng.next() as u8)).collect()
    };
    (0..24).map(one).collect()
}
