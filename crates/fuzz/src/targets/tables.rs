//! Process tables of a made-up launcher whose memory the input changes.

#[path = "../../../acquisition/tests/acquisition/mpir/launcher.rs"]
#[allow(dead_code)]
mod launcher;

pub fn run(data: &[u8]) {
    launcher::fuzz(data);
}

pub fn seeds() -> Vec<Vec<u8>> {
    let one = |seed: u64| {
        let mut rng = made_up::rng::Rng::new(seed);
        let pieces = rng.index(8);
        [seed as u8].into_iter().chain((0..12 * pieces).map(|_| rng.next() as u8)).collect()
    };
    (0..24).map(one).collect()
}
