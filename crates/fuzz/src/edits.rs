//! Changes to bytes, as an input says them: of something whole they leave most as it is, which random bytes never are.

use target::Target;
use target::mock::MockTarget;

/// The length of one change in an input: a kind, a place of three bytes, a value of four.
const PIECE: usize = 8;

/// One change.
struct Edit {
    kind: u8,
    place: usize,
    value: u32,
}

fn edits(data: &[u8]) -> impl Iterator<Item = Edit> + '_ {
    data.chunks_exact(PIECE).take(64).map(|piece| Edit {
        kind: piece[0],
        place: usize::from(piece[1]) | usize::from(piece[2]) << 8 | usize::from(piece[3]) << 16,
        value: u32::from_le_bytes([piece[4], piece[5], piece[6], piece[7]]),
    })
}

/// Changes bytes that lie at the address `base`: single ones, numbers, pointers into them, copies of what stands elsewhere.
pub fn apply(bytes: &mut [u8], base: u64, data: &[u8]) {
    if bytes.len() < 8 {
        return;
    }
    for Edit { kind, place, value } in edits(data) {
        let (len, wide) = (bytes.len() as u64, bytes.len() - 7);
        let (number, size) = match kind % 8 {
            0 => (u64::from(value), 1),
            1 => (u64::from(value), 4),
            2 => (value.cast_signed() as i64 as u64, 8),
            3 => (base + u64::from(value) % len, 8),
            4 => (1 << (value % 64), 8),
            5 => (u64::MAX - u64::from(value), 8),
            6 => {
                let from = value as usize % wide;
                bytes.copy_within(from..from + 8, place % wide);
                continue;
            }
            _ => (u64::from(value), 2),
        };
        // Most of what decides anything is aligned.
        let at = if kind & 0x80 == 0 && size > 1 { place % wide / size * size } else { place % wide };
        bytes[at..at + size].copy_from_slice(&number.to_le_bytes()[..size]);
    }
}

/// Inputs of changes by chance.
pub fn seeds(count: u64) -> Vec<Vec<u8>> {
    let one = |seed: u64| {
        let mut rng = made_up::rng::Rng::new(seed);
        let length = 1 + rng.index(16) * (PIECE + 1);
        (0..length).map(|_| rng.next() as u8).collect()
    };
    // And that which changes nothing.
    (0..count).map(one).chain([vec![0]]).collect()
}

/// What is read of memory must stay within what this says, whatever stands there.
pub fn read_count(target: &MockTarget, most: u64) {
    let _ = target.abi();
    assert!(target.reads() < most, "{} reads", target.reads());
}
