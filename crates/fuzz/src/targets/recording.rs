//! Recordings: frames with right checksums around what the input says, or the input as it is.

#[path = "../../../recording/tests/recording/support.rs"]
#[allow(dead_code)]
mod support;

use std::io::Write;

use recording::{Range, Replay};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{Target, TargetAbi};

const START: &[u8] = b"mpi-queues recording 1\n";
const KINDS: [&[u8; 4]; 8] = [b"RNGS", b"MEMO", b"SYMS", b"STAK", b"TYPE", b"PROF", b"FALT", b"PROC"];

pub fn run(data: &[u8]) {
    let Some((first, rest)) = data.split_first() else { return };
    let bytes = if first % 4 == 0 { [START, rest].concat() } else { framed(rest) };
    let (_place, opened) = support::open(&bytes);
    let Ok(opened) = opened else { return };
    for index in 0..opened.sections.len().min(16) {
        let _ = support::everything(&opened, index);
        let Ok(replay) = Replay::open(&opened, index) else { continue };
        let _ = (replay.symbol("a"), replay.function_at(TargetAddr::new(0x1000)), replay.symbols());
        let _ = (replay.images(), replay.read_bytes(TargetAddr::new(0x1000), 64));
    }
}

/// A whole file, and one of each frame.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut target = MockTarget::new(TargetAbi::LITTLE_64);
    target.add_segment(TargetAddr::new(0x1000), (0..64).collect());
    let part = support::process(&target, 1, vec![Range::new(0x1000, 40)], |target| {
        let _ = target.symbol("some_symbol");
    });
    let whole = support::file(&[part]);
    let ranges: Vec<u8> = [0x1000_u64, 4, 0x2000, 2].iter().flat_map(|word| word.to_le_bytes()).collect();
    let about = serde_json::to_vec(&support::description(&target, 0)).unwrap();
    let pieces: [(u8, &[u8]); 8] = [
        (0, &ranges),
        (1, b"abcdef"),
        (2, b"1000 4 one\n2000 - two words\nabsent - three\n"),
        (3, b"[]"),
        (4, b"{}"),
        (5, b"{}"),
        (6, &ranges),
        (7, &about[..about.len().min(255)]),
    ];
    let framed = |pieces: &[(u8, &[u8])]| {
        let piece = |(kind, content): &(u8, &[u8])| [&[*kind, content.len() as u8][..], content].concat();
        [&[1][..], &pieces.iter().flat_map(piece).collect::<Vec<u8>>()].concat()
    };
    let mut seeds = vec![[&[0], &whole[START.len()..]].concat(), framed(&pieces), framed(&pieces[..3])];
    seeds.extend(pieces.iter().map(|piece| framed(std::slice::from_ref(piece))));
    seeds
}

/// A file of one process: each piece is a kind, a length and that many bytes.
fn framed(mut data: &[u8]) -> Vec<u8> {
    let about = support::description(&MockTarget::new(TargetAbi::LITTLE_64), 0);
    let mut out = START.to_vec();
    out.extend(frame(b"PROC", &serde_json::to_vec(&about).unwrap()));
    while let [kind, len, rest @ ..] = data {
        let (content, after) = rest.split_at(rest.len().min(usize::from(*len)));
        out.extend(frame(KINDS[usize::from(*kind) % KINDS.len()], content));
        data = after;
    }
    out.extend(frame(b"PEND", b"{}"));
    out.extend(frame(b"DONE", br#"{"processes":1}"#));
    out
}

/// As `crates/recording/src/frame.rs` describes it.
fn frame(kind: &[u8; 4], raw: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(raw).unwrap();
    let body = encoder.finish().unwrap();
    let mut out = [kind.as_slice(), &[0; 4]].concat();
    out.extend((body.len() as u64).to_le_bytes());
    out.extend((raw.len() as u64).to_le_bytes());
    out.extend(checksum(&body).to_le_bytes());
    out.extend(checksum(&out.clone()).to_le_bytes());
    out.extend(body);
    out
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}
