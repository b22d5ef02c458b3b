//! Core files: a made-up one that the input damages, or the input as it is.

pub fn run(data: &[u8]) {
    let _ = made_up::core_file::fuzz(data);
}

pub fn seeds() -> Vec<Vec<u8>> {
    let whole = made_up::core_file::whole(b"/nowhere/program", b"/nowhere/libc.so.6").bytes();
    // Its headers and notes: longer ones are no better.
    let whole = [&[0][..], &whole[..whole.len().min(4095)]].concat();
    (0..24).map(made_up::core_file::damage_from_seed).chain([whole]).collect()
}
