//! Process tables of a made-up launcher whose memory the input damages.
#![no_main]

#[path = "../../rust/mpir_launcher.rs"]
#[allow(dead_code)]
mod mpir_launcher;
#[path = "../../rust/support/mod.rs"]
mod support;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    mpir_launcher::fuzz(data);
});
