//! How far processes under the flight recorder are, by its record (docs/recorder.md): read while they run, for it takes no time of
//! theirs. A number that differs says that a thread has gone on; one that does not says nothing.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::mem::{offset_of, size_of};
use std::os::unix::fs::FileExt as _;

use record_format::{Header, MAGIC, SYMBOL, Section, Thread, VERSION, thread_state};
use target::{LiveProcess, PointerWidth, Target as _, processes, zeroed};

/// The recorder's library: where it is not mapped there is no record.
const LIBRARY: &str = "libmpi_queues_recorder.so";

/// No record is larger (bytes), none has longer rows of threads, and of no more is it looked at.
const LARGEST: u64 = 256 << 20;
const LONGEST_ROW: u32 = 4096;
const MOST_THREADS: u32 = 1 << 12;

/// The number of a thread (gettid), and how many steps it has made.
pub type Steps = Vec<(u32, u64)>;

/// Records that were found before.
#[derive(Debug, Default)]
pub struct Recorded {
    /// Where it lies; none: the process had none.
    places: HashMap<u32, Option<u64>>,
}

impl Recorded {
    /// Nothing is known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The steps of each of these processes; not of those that have no record, or whose record cannot be read. `anew`: those that
    /// had none are looked at again.
    pub fn steps(&mut self, pids: &[u32], anew: bool) -> BTreeMap<u32, Steps> {
        self.places.retain(|pid, _| pids.contains(pid));
        pids.iter().filter_map(|pid| Some((*pid, self.of(*pid, anew)?))).collect()
    }

    fn of(&mut self, pid: u32, anew: bool) -> Option<Steps> {
        match self.places.get(&pid) {
            Some(Some(place)) => {
                let found = read(pid, *place);
                if found.is_none() {
                    // Another process has the number now, or another program.
                    self.places.remove(&pid);
                }
                found
            }
            Some(None) if !anew => None,
            _ => {
                let place = place_of(pid);
                self.places.insert(pid, place);
                read(pid, place?)
            }
        }
    }
}

/// Where the record of a process lies.
fn place_of(pid: u32) -> Option<u64> {
    let process = LiveProcess::open(pid).ok()?;
    let has_library = |name: &std::ffi::OsStr| std::path::Path::new(name).file_name() == Some(LIBRARY.as_ref());
    if process.abi().pointer_width != PointerWidth::Eight
        || !process.mappings().ok()?.iter().any(|mapping| has_library(&mapping.name))
    {
        return None;
    }
    let symbol = process.symbol(SYMBOL).ok()??;
    let place = process.read_pointer(symbol.addr).ok()?.get();
    // Before the first call there is none.
    (place != 0).then_some(place)
}

fn read(pid: u32, place: u64) -> Option<Steps> {
    let memory = File::open(processes::place(pid).join("mem")).ok()?;
    let mut header = [0; size_of::<Header>()];
    memory.read_exact_at(&mut header, place).ok()?;
    let threads = offset_of!(Header, threads);
    let is_record = header.starts_with(&MAGIC)
        && u32_at(&header, offset_of!(Header, version)) == VERSION
        && u32_at(&header, offset_of!(Header, pid)) == pid
        && u64_at(&header, offset_of!(Header, address)) == place;
    let total = u64_at(&header, offset_of!(Header, total_bytes));
    let (offset, stride) = (
        u64_at(&header, threads + offset_of!(Section, offset)),
        u32_at(&header, threads + offset_of!(Section, stride)),
    );
    let count = u32_at(&header, threads + offset_of!(Section, count)).min(MOST_THREADS);
    let bytes = u64::from(stride) * u64::from(count);
    let is_inside = total <= LARGEST && offset.checked_add(bytes).is_some_and(|end| end <= total);
    if !is_record || !is_inside || (stride as usize) < size_of::<Thread>() || stride > LONGEST_ROW {
        return None;
    }
    let mut rows = zeroed(usize::try_from(bytes).ok()?).ok()?;
    memory.read_exact_at(&mut rows, place.checked_add(offset)?).ok()?;
    let used = rows
        .chunks_exact(stride as usize)
        .filter(|row| u32_at(row, offset_of!(Thread, state)) != thread_state::FREE)
        .map(|row| (u32_at(row, offset_of!(Thread, id)), u64_at(row, offset_of!(Thread, steps))));
    Some(used.collect())
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |found| u32::from_ne_bytes(*found))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).map_or(0, |found| u64::from_ne_bytes(*found))
}
