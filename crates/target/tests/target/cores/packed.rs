//! Core files that are compressed are read as any other.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use made_up::core_file::{Directory, Elf, READ, whole};
use made_up::rng::Rng;
use target::cores::{CoreError, CoreFile, Packing};

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let blocks = lz4_flex::frame::FrameInfo::new().block_size(lz4_flex::frame::BlockSize::Max64KB);
    let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(blocks, Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let mut child = Command::new("xz").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("xz is needed");
    let mut to = child.stdin.take().unwrap();
    let bytes = bytes.to_vec();
    let writing = std::thread::spawn(move || to.write_all(&bytes).unwrap());
    let done = child.wait_with_output().unwrap();
    writing.join().unwrap();
    done.stdout
}

type Pack = fn(&[u8]) -> Vec<u8>;
const ALL: [(Packing, Pack); 4] =
    [(Packing::Zstd, zstd), (Packing::Lz4, lz4), (Packing::Xz, xz), (Packing::Gzip, gzip)];

/// A core file of some megabytes: numbers, and zeros in between.
fn large() -> (Elf, Vec<u8>) {
    let mut rng = Rng::new(7);
    let mut memory: Vec<u8> = (0..1 << 20).map(|_| (rng.below(200) as u8).wrapping_add(1)).collect();
    memory.extend(vec![0; 3 << 20]);
    memory.extend(b"at the end");
    let mut elf = whole(b"/nowhere", b"");
    elf.memory(0x7000_0000_0000, &memory, READ);
    (elf, memory)
}

#[test]
fn they_are_unpacked() {
    let (elf, memory) = large();
    let (directory, bytes) = (Directory::new(), elf.bytes());
    let plain = CoreFile::open(&directory.file("plain", &bytes)).unwrap();
    assert_eq!(plain.packing(), None);
    for (packing, pack) in ALL {
        let core = CoreFile::open(&directory.file("core", &pack(&bytes))).unwrap();
        assert_eq!(core.packing(), Some(packing));
        assert_eq!(core.truncated(), 0);
        assert_eq!((core.pid(), core.owner()), (plain.pid(), plain.owner()));
        assert_eq!(core.read_held_bytes(0x7000_0000_0000, memory.len() as u64).unwrap(), memory, "{packing:?}");
    }
    assert_eq!(std::fs::read_dir(&directory.0).unwrap().count(), 2, "nothing was left");
}

#[test]
fn one_frame_after_another() {
    let (elf, memory) = large();
    let (directory, bytes) = (Directory::new(), elf.bytes());
    let (first, second) = bytes.split_at(bytes.len() / 2);
    for (packing, pack) in ALL {
        let mut packed = pack(first);
        if packing == Packing::Zstd {
            // One with something else in it (RFC 8878, 3.1.2).
            packed.extend(b"\x53\x2a\x4d\x18\x03\0\0\0abc");
        }
        packed.extend(pack(second));
        let core = CoreFile::open(&directory.file("core", &packed)).unwrap();
        assert_eq!(core.read_held_bytes(0x7000_0000_0000, memory.len() as u64).unwrap(), memory, "{packing:?}");
    }
}

#[test]
fn one_that_is_cut_short_is_read_as_far_as_it_goes() {
    let (elf, _) = large();
    let (directory, bytes) = (Directory::new(), elf.bytes());
    for (packing, pack) in ALL {
        let packed = pack(&bytes);
        let core = CoreFile::open(&directory.file("core", &packed[..packed.len() / 2])).unwrap();
        assert!(core.truncated() > 0, "{packing:?}");
        assert_eq!(core.pid(), Some(4711));
        let mut damaged = packed.clone();
        damaged[6..40].fill(0xff);
        let error = CoreFile::open(&directory.file("core", &damaged)).unwrap_err();
        assert!(matches!(error, CoreError::NotUnpacked { .. }), "{error}");
        let program = packing.program();
        assert!(error.to_string().contains(&format!("core: compressed by {program}, and cannot be unpacked: ")));
        assert!(error.help().contains(&format!("type: {program} -t ")), "{}", error.help());
    }
}

#[test]
fn what_is_no_core_file_within_says_so() {
    let directory = Directory::new();
    for (_, pack) in ALL {
        let error = CoreFile::open(&directory.file("core", &pack(b"no core\n"))).unwrap_err();
        assert!(matches!(error, CoreError::NotElf { .. }), "{error}");
    }
}

#[test]
fn unpacking_can_be_interrupted() {
    let directory = Directory::new();
    let path = directory.file("core", &zstd(&large().0.bytes()));
    let error = CoreFile::open_while(&path, &|| false).unwrap_err();
    assert_eq!(error.kind(), "interrupted");
}

#[test]
fn errors_name_the_place_and_what_to_type() {
    let path = "/tmp/a core".to_owned();
    let error = CoreError::NoRoom { path: path.clone(), directory: "/tmp".to_owned(), free: 5 << 20 };
    assert!(error.to_string().ends_with("/tmp has too little space to unpack it: 5 MiB are free there"), "{error}");
    assert!(error.help().contains("TMPDIR=DIRECTORY"));
    let error = CoreError::Packed { path, packing: Packing::Zstd };
    assert_eq!(error.help(), "type: zstd -dc '/tmp/a core' > core, and name that one");
    assert_eq!(error.kind(), "packed");
}

#[test]
fn damage_is_an_error() {
    let (elf, _) = large();
    let (directory, bytes) = (Directory::new(), elf.bytes());
    let mut rng = Rng::new(11);
    for (_, pack) in ALL {
        let packed = pack(&bytes[..200_000]);
        for _ in 0..100 {
            let mut damaged = packed.clone();
            for _ in 0..=rng.below(4) {
                let at = 6 + rng.below(damaged.len() as u64 - 6) as usize;
                damaged[at] = rng.below(256) as u8;
            }
            let _ = CoreFile::open(Path::new(&directory.file("core", &damaged)));
        }
    }
}
