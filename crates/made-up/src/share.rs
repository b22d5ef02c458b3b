//! How much of a long repetition a test does: a share by `make test`, all of it by `make test-all` (`MPI_QUEUES_ROUNDS=all`), and
//! as many rounds as one likes with a number in their place.

/// What asks for more than the usual.
const ROUNDS: &str = "MPI_QUEUES_ROUNDS";

/// Rounds with other seeds.
pub fn rounds(usual: u64, all: u64) -> u64 {
    match std::env::var(ROUNDS).as_deref() {
        Ok("all") => all,
        Ok(number) => number.parse().expect("MPI_QUEUES_ROUNDS is a number or \"all\""),
        Err(_) => usual,
    }
}

/// Of things that are gone through one after another: each so many-th is taken.
pub fn every(usual: usize) -> usize {
    if std::env::var_os(ROUNDS).is_some() { 1 } else { usual }
}

/// Words of an object that are gone through, of `count`. Objects of one type begin at different words, so that together they have
/// most of its fields.
pub fn words(object: usize, count: u64, usual: usize) -> impl Iterator<Item = u64> {
    let every = every(usual);
    ((object % every) as u64..count).step_by(every)
}
