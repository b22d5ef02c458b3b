//! Core files: a made-up one that the input damages, or the input as it is.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    made_up::core_file::fuzz(data);
});
