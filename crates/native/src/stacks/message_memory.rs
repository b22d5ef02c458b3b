//! The memory through which messages come to a process of this machine: what it shares with others.
//!
//! MPI libraries write to it where messages move, and leave it alone while they look for some: the counters of queues in it tell
//! a loop of calls from one call that lasts, where the program has no counter of its own (as measured with Open MPI's vader,
//! MPICH's nemesis and UCX).

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::ffi::OsStrExt;

use model::TcpConnections;
use target::address::TargetAddr;
use target::{LiveProcess, Mapping, Target, zeroed};

use crate::connections::{Tables, connections};

/// So much of each mapping, and of all together, is looked at (bytes): the queues lie at the beginning, data behind.
const OF_EACH: u64 = 512 << 10;
const OF_ALL: u64 = 8 << 20;

/// Devices are no memory; these are.
const NO_DEVICES: [&[u8]; 2] = [b"/dev/shm/", b"/dev/zero"];

/// A part of the memory of a process that it shares.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    address: u64,
    /// In bytes.
    length: u64,
    what: Shared,
}

/// Device, inode, and offset within it: equal for all who share it.
pub(crate) type Shared = (String, u64, u64);

impl Piece {
    /// Which memory it is, whoever shares it.
    pub(crate) fn what(&self) -> &Shared {
        &self.what
    }

    /// A digest of what `read` gives of it, by its address and its length; `None` where it gives nothing.
    pub(crate) fn digest<'a>(&self, read: impl FnOnce(u64, usize) -> Option<&'a [u8]>) -> Option<u64> {
        let bytes = read(self.address, usize::try_from(self.length).ok()?)?;
        let mut word = DefaultHasher::new();
        bytes.hash(&mut word);
        Some(word.finish())
    }
}

/// What there is in memory that processes share, and in the tables of their network, read once for all of them while they stand.
#[derive(Debug, Default)]
pub struct Messages {
    /// By what is shared, and how many bytes of it.
    digests: RefCell<HashMap<(Shared, u64), Option<u64>>>,
    tables: Tables,
}

impl Messages {
    /// A digest of a piece; `None` where it cannot be read.
    pub(super) fn digest(&self, piece: &Piece, process: &impl Target) -> Option<u64> {
        let key = (piece.what.clone(), piece.length);
        if let Some(known) = self.digests.borrow().get(&key) {
            return *known;
        }
        let mut bytes = Vec::new();
        let digest = piece.digest(|at, len| {
            bytes = zeroed(len).ok()?;
            process.read(TargetAddr::new(at), &mut bytes).ok()?;
            Some(&bytes)
        });
        self.digests.borrow_mut().insert(key, digest);
        digest
    }

    /// What the kernel holds for the connections of a process.
    pub(crate) fn connections(&self, pid: u32) -> TcpConnections {
        connections(pid, &self.tables)
    }

    /// The processes go on: what they share changes.
    pub fn forget(&self) {
        self.digests.borrow_mut().clear();
        self.tables.forget();
    }
}

/// By size. Segments that are known to be other processes' own are left out.
pub(crate) fn message_memory(pid: u32, mappings: &[Mapping]) -> Vec<Piece> {
    let makers = makers();
    let mut found: Vec<Piece> = Vec::new();
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
        let length = one.end.get().saturating_sub(one.start.get()).min(OF_EACH);
        let what = (one.file.0.clone(), one.file.1, one.offset);
        found.push(Piece { address: one.start.get(), length, what });
    }
    // The smaller ones are queues.
    found.sort_by_key(|piece| piece.length);
    let mut left = OF_ALL;
    let fits = |piece: &Piece| {
        let rest = left.checked_sub(piece.length);
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    found.into_iter().take_while(fits).collect()
}

/// Address and bytes of each piece of a live process; none where its mappings may not be read.
pub fn message_places(pid: u32) -> Vec<(u64, u64)> {
    let mappings = LiveProcess::open(pid).and_then(|process| process.mappings()).unwrap_or_default();
    message_memory(pid, &mappings).into_iter().map(|piece| (piece.address, piece.length)).collect()
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
