//! The process table of a launcher that is stripped of its symbols, as MPICH's hydra is in packages.
//!
//! MPIR_proctable is a variable, with or without its name, so the table begins where some word among the variables of
//! the launcher points to: that gives its true beginning, which an array found by its contents alone would not. Such a
//! word counts only where
//! - from there on stand entries as the document has them: a host's name, the executable's name or NULL, a process id;
//! - how many of these stand there is the number beside that word, MPIR_proctable_size: the two are defined one after the
//!   other (hydra: pmodels/mpich, src/pm/hydra/tools/debugger/debugger.c in 3.4 to 4.0, mpiexec/debugger.c later);
//! - at least one process of the job that lives here stands in it at the index that is its rank, and none at another.
//!
//! The names of executables are not compared: the process may be a script, or something else that it has become since.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::entries::{MAX_ENTRIES, Texts};
use super::procdesc::Place;
use super::{Candidates, ProcDesc};
use target::address::TargetAddr;
use target::{Image, PageCache, Range, Reason, Target, TargetError, segments};

/// Variables that are looked through, in bytes: a launcher has a few hundred kilobytes.
const MAX_DATA: u64 = 64 << 20;

/// Entries that are looked at in all, each word that may point to a table counted as one.
const MAX_LOOKED_AT: u64 = 2 * MAX_ENTRIES;

/// Variables are read in pieces of this length, in bytes.
const PIECE: u64 = 64 << 10;

/// Largest process id of Linux (PID_MAX_LIMIT, include/linux/threads.h).
const MAX_PID: i64 = 4 << 20;

/// No object lies below (vm.mmap_min_addr is 64 KiB, or 4 KiB).
const MIN_ADDRESS: u64 = 4096;

/// A table that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Located {
    /// Where MPIR_proctable is.
    pub pointer: TargetAddr,
    /// Where the table begins.
    pub start: TargetAddr,
    /// How many entries it has.
    pub count: u64,
}

/// Searches the variables of all images, those of the executable first.
///
/// # Errors
/// A sentence that says why there is none, or none that is certain.
pub(super) fn search(target: &dyn Target, candidates: &Candidates) -> Result<Located, Reason> {
    let images = target.images().map_err(|error| format!("its variables cannot be found: {error}"))?;
    let mut search = Search {
        target,
        memory: PageCache::new(target),
        texts: Texts::new(target),
        candidates,
        layout: ProcDesc::built_in(target.abi()),
        looked_at: 0,
        found: BTreeMap::new(),
        refused: None,
    };
    let mut rest = MAX_DATA;
    for image in &images {
        for range in variables(target, image) {
            let len = range.len.min(rest);
            rest -= len;
            search.look_through(Range { len, ..range });
        }
        if !search.found.is_empty() {
            break;
        }
    }
    let found: Vec<Located> = search.found.into_values().collect();
    match (found.as_slice(), search.refused) {
        ([one], _) => Ok(*one),
        ([], Some(reason)) => Err(reason),
        ([], None) if rest == 0 || search.looked_at >= MAX_LOOKED_AT => Err(Reason::new(format!(
            "there are too many variables to look through: more than {MAX_DATA} bytes, or damaged ones"
        ))),
        ([], None) => Err(Reason::new("no variable of it points to a table that has its processes by rank")),
        (many, _) => Err(Reason::new(format!("{} tables were found that have its processes by rank", many.len()))),
    }
}

fn variables(target: &dyn Target, image: &Image) -> Vec<Range> {
    // An image whose headers cannot be read is the kernel's own, or not there any more.
    segments(target, image).map(|segments| segments.writable).unwrap_or_default()
}

struct Search<'t> {
    target: &'t dyn Target,
    memory: PageCache<&'t dyn Target>,
    texts: Texts<'t>,
    candidates: &'t Candidates,
    layout: ProcDesc,
    looked_at: u64,
    /// Tables by their beginning.
    found: BTreeMap<TargetAddr, Located>,
    /// Why something that looked like the table was not taken.
    refused: Option<Reason>,
}

impl Search<'_> {
    /// Looks at what each word of some variables points to.
    fn look_through(&mut self, range: Range) {
        let width = self.target.abi().pointer_width.bytes();
        let start = range.start.align_up(width);
        let end = range.start.get().saturating_add(range.len);
        let mut at = start.get();
        while at < end && end - at >= width {
            // Up to the end of a page, so that pages that cannot be read cost only themselves.
            let len = (PIECE - at % PIECE).min(end - at);
            let piece = self.target.read_bytes(TargetAddr::new(at), len as usize);
            let page = (4096 - at % 4096).min(len);
            let (bytes, len) = match piece {
                Ok(bytes) => (bytes, len),
                Err(TargetError::Gone) => return,
                Err(_) => match self.target.read_bytes(TargetAddr::new(at), page as usize) {
                    Ok(bytes) => (bytes, page),
                    Err(_) => (Vec::new(), page),
                },
            };
            for (index, word) in bytes.chunks_exact(width as usize).enumerate() {
                let value = self.target.abi().uint(word);
                if value >= MIN_ADDRESS && value.is_multiple_of(width) {
                    self.look_at(TargetAddr::new(at + index as u64 * width), TargetAddr::new(value), range);
                }
            }
            at += len;
        }
    }

    /// Whether a table begins at `start`, to which the word at `pointer` points.
    fn look_at(&mut self, pointer: TargetAddr, start: TargetAddr, range: Range) {
        if self.found.contains_key(&start) || self.looked_at >= MAX_LOOKED_AT {
            return;
        }
        let (mut count, mut agreeing, mut unknown, mut elsewhere) = (0, 0_u64, 0_u64, Vec::new());
        let mut hosts = BTreeSet::new();
        while count < MAX_ENTRIES {
            let Some((host, pid)) = self.entry(start.wrapping_add(count * self.layout.stride)) else { break };
            match self.candidates.get(&pid) {
                Some(Some(rank)) if *rank == count => {
                    agreeing += 1;
                    hosts.insert(host);
                }
                Some(Some(rank)) => elsewhere.push((host, pid, count, *rank)),
                Some(None) => {
                    unknown += 1;
                    hosts.insert(host);
                }
                None => {}
            }
            count += 1;
        }
        // The counter stands also for first entries that are none, which almost all are.
        self.looked_at += count.max(1);
        // Of another host a process may have the number of one of ours.
        let wrong = elsewhere.iter().find(|(host, ..)| hosts.contains(host));
        let any_rank = self.candidates.values().any(Option::is_some);
        let certain = if any_rank { agreeing > 0 } else { unknown > 0 && unknown == count };
        if !certain || wrong.is_some() {
            if let Some((_, pid, index, rank)) = wrong.or_else(|| elsewhere.first().filter(|_| count > 1)) {
                self.refuse(format!(
                    "the table at {start} has process {pid} as rank {index}, while its environment says rank {rank}"
                ));
            }
            return;
        }
        let sizes = self.sizes_beside(pointer, range);
        // A larger number may be the size, and an entry in the middle be damaged.
        let is_larger = sizes.iter().any(|size| *size > count);
        if sizes.contains(&count) && (!is_larger || self.fills_its_block(start, count)) {
            self.found.insert(start, Located { pointer, start, count });
        } else {
            self.refuse(format!(
                "not certain how many entries the table at {start} has: {count} look like entries, and the numbers \
                 beside its pointer are {sizes:?}"
            ));
        }
    }

    fn refuse(&mut self, reason: String) {
        self.refused.get_or_insert(reason.into());
    }

    /// Host and process id of what looks like an entry.
    fn entry(&mut self, at: TargetAddr) -> Option<(Arc<str>, i64)> {
        let abi = self.target.abi();
        let bytes = self.memory.read_bytes(at, self.layout.stride as usize).ok()?;
        let field = |place: Place| &bytes[place.offset as usize..(place.offset + place.size) as usize];
        let pid = abi.int(field(self.layout.pid));
        let host = abi.uint(field(self.layout.host));
        let executable = abi.uint(field(self.layout.executable));
        if !(1..=MAX_PID).contains(&pid) || host < MIN_ADDRESS {
            return None;
        }
        let host = self.texts.at(TargetAddr::new(host)).ok()?;
        let is_name = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        let mut has_executable = || self.texts.at(TargetAddr::new(executable)).is_ok_and(|text| !text.is_empty());
        (is_name && (executable == 0 || has_executable())).then_some((host, pid))
    }

    /// What MPIR_proctable_size may be: it is defined behind MPIR_proctable, and compilers lay out the variables of a file in
    /// the order of their definitions or in its reverse. Of hydra's releases both were seen: the number stands directly
    /// behind the pointer (MPICH 4.0), or directly before it (all others from 3.4 to 5.0).
    fn sizes_beside(&self, pointer: TargetAddr, range: Range) -> Vec<u64> {
        let width = self.target.abi().pointer_width.bytes();
        let places = [pointer.get().checked_add(width), pointer.get().checked_sub(4), pointer.get().checked_sub(8)];
        let inside = places.into_iter().flatten().map(TargetAddr::new).filter(|at| range.holds(*at, 4));
        let numbers = inside.filter_map(|at| self.memory.read_uint(at, 4).ok());
        numbers.filter(|number| (1..=MAX_ENTRIES).contains(number)).collect()
    }

    /// Whether the block of the heap in which the table lies has no room for more entries, by the size that glibc notes
    /// before each block (malloc/malloc.c: `mchunk_size`, with flags in three bits). A block is up to a whole free block of
    /// the smallest size larger than what was asked for; one that is mapped for itself ends with its page.
    fn fills_its_block(&self, start: TargetAddr, count: u64) -> bool {
        const IS_MMAPPED: u64 = 2;
        let width = self.target.abi().pointer_width.bytes();
        let noted = start.get().checked_sub(width).map(TargetAddr::new);
        let Some(noted) = noted.and_then(|at| self.memory.read_uint(at, width).ok()) else { return false };
        let needed = count * self.layout.stride;
        let slack = if noted & IS_MMAPPED == 0 { 6 * width } else { 64 << 10 };
        let usable = (noted & !7).saturating_sub(width);
        usable >= needed && usable - needed < slack
    }
}
