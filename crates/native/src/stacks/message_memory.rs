//! The memory through which messages come to a process of this machine: what it shares with others.
//!
//! MPI libraries write to it where messages move, and leave it alone while they look for some: the counters of queues in it tell
//! a loop of calls from one call that lasts, where the program has no counter of its own (as measured with Open MPI's vader,
//! MPICH's nemesis and UCX).

use std::collections::HashMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;

use target::Mapping;

/// So much of each mapping, and of all together, is looked at (bytes): the queues lie at the beginning, data behind.
const OF_EACH: u64 = 512 << 10;
const OF_ALL: u64 = 8 << 20;

/// Devices are no memory; these are.
const NO_DEVICES: [&[u8]; 2] = [b"/dev/shm/", b"/dev/zero"];

/// Addresses and lengths. Segments that are known to be other processes' own are left out.
pub(super) fn message_memory(pid: u32, mappings: &[Mapping]) -> Vec<(u64, u64)> {
    let makers = makers();
    let mut found: Vec<(u64, u64)> = Vec::new();
    for one in mappings.iter().filter(|one| one.shared && one.writable) {
        let name = one.name.as_bytes();
        let device = name.starts_with(b"/dev/") || name.starts_with(b"anon_inode:");
        if device && !NO_DEVICES.iter().any(|memory| name.starts_with(memory)) {
            continue;
        }
        // A segment of System V: its number is where other files have their inode.
        if name.starts_with(b"/SYSV") && makers.get(&one.file.1).is_some_and(|maker| *maker != pid) {
            continue;
        }
        found.push((one.start.get(), (one.end.get() - one.start.get()).min(OF_EACH)));
    }
    // The smaller ones are queues.
    found.sort_by_key(|(_, length)| *length);
    let mut left = OF_ALL;
    let fits = |(_, length): &(u64, u64)| {
        let rest = left.checked_sub(*length);
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    found.into_iter().take_while(fits).collect()
}

/// Who made each segment of System V (proc(5), `/proc/sysvipc/shm`).
fn makers() -> HashMap<u64, u32> {
    let text = fs::read_to_string("/proc/sysvipc/shm").unwrap_or_default();
    let row = |line: &str| {
        let mut words = line.split_whitespace();
        Some((words.nth(1)?.parse().ok()?, words.nth(2)?.parse().ok()?))
    };
    text.lines().skip(1).filter_map(row).collect()
}
