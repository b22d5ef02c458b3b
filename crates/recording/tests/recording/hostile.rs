//! Files that somebody made to do harm: valid checksums around contents that no recording has.
//!
//! The frames are put together here from the description of the format, not by the code that writes them.

use std::io::Write;
use std::time::{Duration, Instant};

use flate2::write::ZlibEncoder;
use recording::{RecordingError, Replay};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{Target, TargetAbi};

use super::support::{TempFile, description, open, open_path};

const START: &[u8] = b"mpi-queues recording 1\n";

fn zlib(raw: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(raw).unwrap();
    encoder.finish().unwrap()
}

fn crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// A frame whose header may lie about the raw length.
fn frame_saying(kind: &[u8; 4], body: &[u8], raw_len: u64) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend_from_slice(kind);
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(&(body.len() as u64).to_le_bytes());
    out.extend_from_slice(&raw_len.to_le_bytes());
    out.extend_from_slice(&crc(body).to_le_bytes());
    let header = crc(&out);
    out.extend_from_slice(&header.to_le_bytes());
    out.extend_from_slice(body);
    out
}

fn frame(kind: &[u8; 4], raw: &[u8]) -> Vec<u8> {
    frame_saying(kind, &zlib(raw), raw.len() as u64)
}

fn pairs(ranges: &[(u64, u64)]) -> Vec<u8> {
    ranges.iter().flat_map(|(at, len)| [at.to_le_bytes(), len.to_le_bytes()].concat()).collect()
}

/// A file of one process with `frames` in it.
fn with(frames: &[Vec<u8>]) -> Vec<u8> {
    let target = MockTarget::new(TargetAbi::LITTLE_64);
    let described = serde_json::to_vec(&description(&target, 0)).unwrap();
    let mut out = START.to_vec();
    out.extend(frame(b"PROC", &described));
    frames.iter().for_each(|frame| out.extend_from_slice(frame));
    out.extend(frame(b"PEND", b"{}"));
    out.extend(frame(b"DONE", br#"{"processes":1}"#));
    out
}

fn refusal(bytes: &[u8]) -> Option<String> {
    let start = Instant::now();
    let (_place, opened) = open(bytes);
    let result = Replay::open(&opened.unwrap(), 0);
    assert!(start.elapsed() < Duration::from_secs(20));
    result.err().map(|error| error.to_string())
}

#[test]
fn the_format_is_as_described() {
    let bytes = with(&[
        frame(b"RNGS", &pairs(&[(0x1000, 4), (0x2000, 2)])),
        frame(b"MEMO", b"abcdef"),
        frame(b"SYMS", b"1000 4 one\n2000 - two words\nabsent - three\n"),
        frame(b"NEWS", b"of a later version"),
    ]);
    let (_place, opened) = open(&bytes);
    let opened = opened.unwrap();
    assert_eq!(opened.problems, Vec::<String>::new());
    let replay = Replay::open(&opened, 0).unwrap();
    assert_eq!(replay.read_bytes(TargetAddr::new(0x2000), 2).unwrap(), b"ef");
    assert_eq!(replay.symbol("two words").unwrap().unwrap().size, None);
    assert_eq!(replay.symbol("three"), Ok(None));
}

#[test]
fn contents_that_make_no_sense_are_refused() {
    let bomb = zlib(&vec![0; 200 << 20]);
    let cases: Vec<(&str, Vec<Vec<u8>>)> = vec![
        ("a part does not have its length", vec![frame_saying(b"SYMS", &bomb, 10)]),
        ("parts of it are lost", vec![frame_saying(b"SYMS", &bomb, 200 << 20)]),
        ("a part does not have its length", vec![frame_saying(b"RNGS", &zlib(b"abc"), 1 << 20)]),
        ("makes no sense", vec![frame(b"RNGS", b"abc")]),
        ("not in order", vec![frame(b"RNGS", &pairs(&[(0x2000, 2), (0x1000, 2)])), frame(b"MEMO", b"abcd")]),
        ("not in order", vec![frame(b"RNGS", &pairs(&[(0x1000, 2), (0x1001, 2)])), frame(b"MEMO", b"abcd")]),
        ("not in order", vec![frame(b"RNGS", &pairs(&[(0x1000, 0)])), frame(b"MEMO", b"")]),
        ("out of its part", vec![frame(b"RNGS", &pairs(&[(0x1000, 5)])), frame(b"MEMO", b"abcd")]),
        ("out of its part", vec![frame(b"RNGS", &pairs(&[(0x1000, u64::MAX)])), frame(b"MEMO", b"abcd")]),
        ("out of its part", vec![frame(b"RNGS", &pairs(&[(1, 1 << 32), (1 << 33, 3)])), frame(b"MEMO", b"abcd")]),
        ("parts of it are lost", vec![frame(b"RNGS", &pairs(&[(1, 3 << 20)])), frame(b"MEMO", &vec![0; 3 << 20])]),
        ("more than any", vec![frame(b"SYMS", &vec![b'a'; 30 << 20]); 5]),
        ("makes no sense", vec![frame(b"SYMS", b"zz 1 name\n")]),
        ("makes no sense", vec![frame(b"SYMS", b"1000\n")]),
        ("not text", vec![frame(b"SYMS", b"\xff\xfe")]),
        ("expected", vec![frame(b"TYPE", b"[1,2]")]),
        ("", vec![frame(b"PROF", b"{}")]),
        ("deflate", vec![frame_saying(b"STAK", b"no zlib at all", 100)]),
    ];
    for (said, frames) in cases {
        let error = refusal(&with(&frames)).unwrap_or_else(|| panic!("{said}: it was accepted"));
        assert!(error.contains(said), "{said}: {error}");
        assert!(error.contains("process 0 of the recording"), "{error}");
    }
}

#[test]
fn a_damaged_part_of_memory_is_an_error_of_the_read() {
    // Its checksum is right, its contents are not: that is seen when it is read.
    let bytes = with(&[frame(b"RNGS", &pairs(&[(0x1000, 4)])), frame_saying(b"MEMO", b"no zlib at all", 4)]);
    let (_place, opened) = open(&bytes);
    let replay = Replay::open(&opened.unwrap(), 0).unwrap();
    let error = replay.read_bytes(TargetAddr::new(0x1000), 4).unwrap_err().to_string();
    assert!(error.contains("deflate"), "{error}");
}

#[test]
fn many_tiny_processes_open_quickly() {
    let mut bytes = START.to_vec();
    let one = frame(b"PROC", b"x");
    for _ in 0..50_000 {
        bytes.extend_from_slice(&one);
    }
    let start = Instant::now();
    let (_place, opened) = open(&bytes);
    let opened = opened.unwrap();
    assert_eq!(opened.sections.len(), 50_000);
    assert!(opened.problems.len() < 30);
    assert!(Replay::open(&opened, 17).is_err());
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[test]
fn other_files_are_not_recordings() {
    for bytes in [&b""[..], b"\n", b"mpi-queues", b"mpi-queues recording x\n", b"\x7fELF\x02\x01", &[b'a'; 4096]] {
        assert!(matches!(open(bytes).1, Err(RecordingError::NotARecording { .. })), "{bytes:?}");
    }
    let (_place, opened) = open(b"mpi-queues recording 2\n");
    assert!(matches!(opened, Err(RecordingError::TooNew { version: 2, .. })));
    for path in ["/", "/dev/zero", "/no/such/file"] {
        assert!(matches!(open_path(path.as_ref()), Err(RecordingError::File { .. })), "{path}");
    }
    let pipe = TempFile::new(b"");
    std::fs::remove_file(&pipe.0).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&pipe.0).status().unwrap().success());
    assert!(matches!(open_path(&pipe.0), Err(RecordingError::File { .. })));
    let (_place, opened) = open(START);
    let opened = opened.unwrap();
    assert_eq!(opened.problems, ["its end is missing"]);
    assert!(Replay::open(&opened, 0).is_err());
}
