//! A job in which anything may stand.

use drafts::mpi2dd::walk;

use super::job::job;
use super::support::ABIS;

/// Processes that a walk begins at.
const STARTS: [i32; 5] = [1, 2, 3, 5, 10];

/// A job whose processes' bytes and words the input changes: the walk ends with a bounded answer.
pub fn fuzz(data: &[u8]) {
    let Some((first, pieces)) = data.split_first() else { return };
    let first = usize::from(*first);
    let mut machine = job(ABIS[first % ABIS.len()]);
    for piece in pieces.chunks_exact(13) {
        let count = machine.processes.len();
        let target = machine.processes.values_mut().nth(usize::from(piece[0]) % count).unwrap();
        let mut segments: Vec<_> =
            target.segments_mut().map(|(_, bytes)| bytes).filter(|bytes| !bytes.is_empty()).collect();
        let at = u32::from_le_bytes(std::array::from_fn(|index| piece[1 + index])) as usize;
        let value = u64::from_le_bytes(std::array::from_fn(|index| piece[5 + index]));
        let segment = at % 2 % segments.len();
        let bytes = &mut segments[segment];
        // Addresses that lead somewhere do more harm than any others.
        let value = if value % 3 == 0 { 0x10_0000 + value % 512 } else { value };
        let from = at / 2 % bytes.len();
        let len = [1, 4, 8][(value % 3) as usize].min(bytes.len() - from);
        bytes[from..from + len].copy_from_slice(&value.to_le_bytes()[..len]);
    }
    if let Ok(Some(report)) = walk(&machine, STARTS[first / ABIS.len() % STARTS.len()]) {
        assert!(report.problems.len() <= 101);
        assert!(report.directories.len() <= 4096);
        assert!(machine.opened.borrow().len() < 20_000);
        for text in &report.problems {
            assert!(!text.chars().any(char::is_control), "{text:?}");
        }
    }
}
