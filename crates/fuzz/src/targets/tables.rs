//! Process tables of a made-up launcher whose memory the input changes.

#[path = "../../../acquisition/tests/acquisition/mpir/launcher.rs"]
#[allow(dead_code)]
mod launcher;

pub fn run(data: &[u8]) {
    launcher::fuzz(data);
}

pub fn seeds() -> Vec<Vec<u8>> {
    super::pieces(12)
}
