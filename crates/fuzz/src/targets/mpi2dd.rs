//! Tables of the draft MPI2DD in a made-up job whose memory the input changes.

#[path = "../../../drafts/tests/drafts/mpi2dd/damage.rs"]
mod damage;
#[path = "../../../drafts/tests/drafts/mpi2dd/job.rs"]
#[allow(dead_code, unused_imports)]
mod job;
#[path = "../../../drafts/tests/drafts/mpi2dd/support.rs"]
#[allow(dead_code)]
mod support;

pub fn run(data: &[u8]) {
    damage::fuzz(data);
}

pub fn seeds() -> Vec<Vec<u8>> {
    super::pieces(13)
}
