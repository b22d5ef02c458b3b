//! The built-in reader for Open MPI on a made-up process whose memory the input damages.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    made_up::rich::fuzz(data);
});
