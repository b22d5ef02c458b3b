//! Process tables of a made-up launcher whose memory the input damages.
#![no_main]

#[path = "../../../crates/acquisition/tests/acquisition/mpir/launcher.rs"]
#[allow(dead_code)]
mod launcher;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    launcher::fuzz(data);
});
