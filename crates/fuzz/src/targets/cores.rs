//! Core files: a made-up one that the input damages, or the input as it is; compressed ones.

use std::cell::Cell;
use std::io::Write;

use made_up::core_file::{Directory, whole};
use target::cores::CoreFile;

/// What compressed files begin with: zstd, lz4, xz, gzip.
const MAGICS: [&[u8]; 4] = [b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18", b"\xfd7zXZ\0", b"\x1f\x8b\x08"];
/// So much is unpacked, in pieces of a MiB: what zeros become has no end.
const PIECES: u32 = 4;

pub fn run(data: &[u8]) {
    let _ = made_up::core_file::fuzz(data);
}

pub fn seeds() -> Vec<Vec<u8>> {
    let whole = whole(b"/nowhere/program", b"/nowhere/libc.so.6").bytes();
    // Its headers and notes: longer ones are no better.
    let whole = [&[0][..], &whole[..whole.len().min(4095)]].concat();
    (0..24).map(made_up::core_file::damage_from_seed).chain([whole]).collect()
}

/// The first byte says how the others are compressed.
pub fn packed(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let directory = Directory::new();
    let path = directory.file("core", &[MAGICS[usize::from(*first) % MAGICS.len()], rest].concat());
    let pieces = Cell::new(0);
    let go_on = || pieces.replace(pieces.get() + 1) < PIECES;
    if let Err(error) = CoreFile::open_while(&path, &go_on) {
        assert!(!error.to_string().is_empty() && !error.help().contains('\n'));
    }
}

pub fn packed_seeds() -> Vec<Vec<u8>> {
    let core = whole(b"/nowhere/program", b"/nowhere/libc.so.6").bytes();
    let mut seeds = Vec::new();
    for bytes in [&core[..core.len().min(3000)], &core[..core.len().min(500)], b"no core\n", b""] {
        let zstd = ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest);
        seeds.push(seed(0, &zstd));
        let mut lz4 = lz4_flex::frame::FrameEncoder::new(Vec::new());
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        if lz4.write_all(bytes).is_ok() && gzip.write_all(bytes).is_ok() {
            seeds.extend(lz4.finish().ok().map(|made| seed(1, &made)));
            seeds.extend(gzip.finish().ok().map(|made| seed(3, &made)));
        }
    }
    // A stream with a CRC64, one block of LZMA2, in which a byte stands as it is (xz-file-format.txt, 2.1.1, 3.1, 5.3.1).
    seeds.push(seed(2, b"\xfd7zXZ\0\0\x04\xe6\xd6\xb4\x46\x02\0\x21\x01\x16\0\0\0\x74\x2f\xe5\xa3\x01\0\0a\0"));
    seeds
}

/// Without what `packed` puts before it.
fn seed(kind: u8, packed: &[u8]) -> Vec<u8> {
    let magic = MAGICS[usize::from(kind)];
    [&[kind][..], packed.strip_prefix(magic).unwrap_or(packed)].concat()
}
