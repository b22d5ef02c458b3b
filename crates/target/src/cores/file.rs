//! A core file, held open: which memory of the process it holds, and what it tells of the process.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use super::elf::{self, HEADER, Header, PROGRAM_HEADER, PT_LOAD, PT_NOTE, Pieces};
use super::error::{CoreError, LeftOut, Unread, shown};
use super::mapped::Constants;
use super::notes::{AT_PHDR, AT_PHNUM, AT_SYSINFO_EHDR, MAX_NOTES, MappedFile, Notes, Thread};
use super::packed::{Packing, unpacked};
use crate::address::TargetAddr;
use crate::files::FileError;
use crate::registers::Machine;

const ET_CORE: u16 = 4;
/// `e_phnum` where there are more segments than it can tell: their number then is `sh_info` of the first section header.
const MANY: u16 = 0xffff;
const SH_INFO: u64 = 44;
const MAX_SEGMENTS: u64 = 1 << 20;

/// A vector is filled in pieces of so many bytes.
const PIECE: u64 = 1 << 16;

/// What to do about truncated ones.
pub(super) const ROOM: &str = "see that there is space on the disk, and that ulimit -c says unlimited";

const FULL_DUMP: &str =
    "to have everything in the next one, type: gcore PID, or before the crash: echo 0x7f > /proc/PID/coredump_filter";

/// Memory of the process; the first `held` bytes of it are in the file, from `offset` on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Memory {
    pub start: u64,
    pub end: u64,
    pub offset: u64,
    pub held: u64,
    pub flags: u32,
}

/// One core file, held open. Threads may share it.
#[derive(Debug)]
pub struct CoreFile {
    pub(super) path: PathBuf,
    pub(super) file: Pieces,
    /// By address.
    pub(super) memory: Vec<Memory>,
    pub(super) notes: Notes,
    pub(super) heap: Option<Memory>,
    truncated: u64,
    packing: Option<Packing>,
    pub(super) environment: OnceLock<Vec<u8>>,
    /// The files that were mapped, as far as they were looked at: `None` for those that stand for no memory.
    pub(super) constants: Mutex<BTreeMap<OsString, Option<Constants>>>,
}

impl CoreFile {
    /// Opens it and reads its notes. One that is compressed is unpacked into a file without a name in the directory for
    /// temporary files.
    ///
    /// # Errors
    /// Where it cannot be read, or is no core file of a program of this kind of machine.
    pub fn open(path: &Path) -> Result<Self, CoreError> {
        Self::open_while(path, &|| true)
    }

    /// The same; while it is unpacked, `go_on` is asked now and then.
    ///
    /// # Errors
    /// As [`CoreFile::open`]; [`CoreError::Interrupted`] where `go_on` says no.
    pub fn open_while(path: &Path, go_on: &dyn Fn() -> bool) -> Result<Self, CoreError> {
        let unreadable = |error: FileError| match error {
            FileError::Irregular(what) => CoreError::Irregular { path: shown(path), what },
            other => CoreError::Unreadable { path: shown(path), reason: other.reason() },
        };
        let mut file = Pieces::named(path).map_err(unreadable)?;
        let packing = Packing::of(&file.read(0, HEADER).map_err(|error| unreadable(error.into()))?);
        if let Some(packing) = packing {
            file = unpacked(path, &file, packing, go_on)?;
        }
        let (machine, segments) = segments(path, &file)?;
        let mut notes = Vec::new();
        let is_note = |segment: &&elf::Segment| segment.kind == PT_NOTE;
        for segment in segments.iter().filter(is_note) {
            let len = segment.held.min(MAX_NOTES - notes.len() as u64);
            notes.extend(file.read(segment.offset, len).map_err(|error| unreadable(error.into()))?);
        }
        let is_memory = |segment: &&elf::Segment| segment.kind == PT_LOAD;
        let to_memory = |segment: &elf::Segment| Memory {
            start: segment.address,
            end: segment.address.saturating_add(segment.size),
            offset: segment.offset,
            held: segment.held.min(segment.size),
            flags: segment.flags,
        };
        let mut memory: Vec<Memory> = segments.iter().filter(is_memory).map(to_memory).collect();
        memory.sort_unstable();
        let ends = segments.iter().filter(|segment| matches!(segment.kind, PT_LOAD | PT_NOTE));
        let end = ends.map(|segment| segment.offset.saturating_add(segment.held)).max().unwrap_or_default();
        let mut core = Self {
            path: path.to_owned(),
            truncated: end.saturating_sub(file.len()),
            packing,
            file,
            memory,
            notes: Notes::parse(machine, &notes),
            heap: None,
            environment: OnceLock::new(),
            constants: Mutex::default(),
        };
        core.heap = core.first_behind_program();
        Ok(core)
    }

    /// How it was named.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How the file is compressed, if it is: no debugger reads it so.
    pub fn packing(&self) -> Option<Packing> {
        self.packing
    }

    /// User id of the process: whose the file is, or, of root's files, who the file says; `None` where neither tells.
    pub fn owner(&self) -> Option<u32> {
        Some(self.file.about().owner).filter(|user| *user != 0).or(self.notes.user)
    }

    /// Process id on its host, where the file tells it.
    pub fn pid(&self) -> Option<u32> {
        self.notes.pid
    }

    /// How many bytes are missing at its end; 0 for a whole one.
    pub fn truncated(&self) -> u64 {
        self.truncated
    }

    /// The threads: the one first that took the signal.
    pub fn threads(&self) -> &[Thread] {
        &self.notes.threads
    }

    /// The thread with this number of the kernel's: the last one, where a damaged file has several.
    pub fn thread(&self, id: u32) -> Option<&Thread> {
        self.notes.threads.iter().rfind(|thread| thread.id == id)
    }

    /// The files that were mapped, by address.
    pub fn mappings(&self) -> &[MappedFile] {
        &self.notes.mappings
    }

    /// The file that was mapped at an address.
    pub fn mapping(&self, address: u64) -> Option<&MappedFile> {
        let index = self.notes.mappings.partition_point(|mapping| mapping.start <= address).checked_sub(1)?;
        self.notes.mappings.get(index).filter(|mapping| address < mapping.end)
    }

    /// An entry of the auxiliary vector, 0 where it is not there.
    pub(super) fn auxiliary(&self, entry: u64) -> u64 {
        self.notes.auxiliary.get(&entry).copied().unwrap_or_default()
    }

    /// Whether it tells of the process at all: what does may stand at the end of one that is truncated.
    pub(super) fn has_auxiliary(&self) -> bool {
        !self.notes.auxiliary.is_empty()
    }

    /// Address and number of the executable's program headers in memory (AT_PHDR and AT_PHNUM).
    pub fn program_headers(&self) -> Option<(u64, u64)> {
        let found = (self.auxiliary(AT_PHDR), self.auxiliary(AT_PHNUM));
        (found.0 != 0 && found.1 != 0).then_some(found)
    }

    /// Where the kernel's own code lies (AT_SYSINFO_EHDR), the vDSO.
    pub fn vdso(&self) -> Option<u64> {
        Some(self.auxiliary(AT_SYSINFO_EHDR)).filter(|start| *start != 0)
    }

    /// Path of the program that dumped it, as the kernel knew it; `None` where the file does not tell.
    pub fn executable(&self) -> Option<&OsStr> {
        self.program_mapping().map(|mapping| mapping.name.as_os_str())
    }

    /// Fills `to` with the process's memory from `address` on, of what the file itself holds.
    ///
    /// # Errors
    /// Where the file does not hold all of it.
    pub fn read_held(&self, address: u64, to: &mut [u8]) -> Result<(), Unread> {
        let done = self.fill(address, to)?;
        if done == to.len() { Ok(()) } else { Err(self.left_out(address, done, to.len())) }
    }

    /// The same; what the file does not hold comes from the files that were mapped, where these are what they were.
    ///
    /// # Errors
    /// Where that does not have all of it either.
    pub fn read(&self, address: u64, to: &mut [u8]) -> Result<(), Unread> {
        let mut done = 0;
        loop {
            let held = address.checked_add(done as u64).map_or(Ok(0), |at| self.fill(at, &mut to[done..]))?;
            done += held;
            if done == to.len() {
                return Ok(());
            }
            let constants = address.checked_add(done as u64).map_or(0, |at| self.constants(at, &mut to[done..]));
            if constants == 0 {
                return Err(self.left_out(address, done, to.len()));
            }
            done += constants;
        }
    }

    /// As [`CoreFile::read`], into a new vector; a length that nothing has is no larger than what is there.
    ///
    /// # Errors
    /// As [`CoreFile::read`].
    pub fn read_bytes(&self, address: u64, len: u64) -> Result<Vec<u8>, Unread> {
        collected(address, len, |at, to| self.read(at, to))
    }

    /// As [`CoreFile::read_held`], into a new vector.
    ///
    /// # Errors
    /// As [`CoreFile::read_held`].
    pub fn read_held_bytes(&self, address: u64, len: u64) -> Result<Vec<u8>, Unread> {
        collected(address, len, |at, to| self.read_held(at, to))
    }

    /// Fills the beginning of `to` with what the file holds; returns how much that is in bytes.
    fn fill(&self, address: u64, to: &mut [u8]) -> Result<usize, Unread> {
        let mut done = 0;
        while done < to.len() {
            let Some(at) = address.checked_add(done as u64) else { break };
            let Some(memory) = self.memory_at(at) else { break };
            let into = at - memory.start;
            let (Some(available), Some(offset)) =
                (memory.held.checked_sub(into).filter(|len| *len > 0), memory.offset.checked_add(into))
            else {
                break;
            };
            let len = usize::try_from(available).unwrap_or(usize::MAX).min(to.len() - done);
            let read = self.file.read_into(offset, &mut to[done..done + len]);
            let read = read
                .map_err(|error| Unread::File { path: shown(&self.path), reason: FileError::from(error).reason() })?;
            if read == 0 {
                break;
            }
            done += read;
        }
        Ok(done)
    }

    fn left_out(&self, address: u64, done: usize, wanted: usize) -> Unread {
        let addr = address.wrapping_add(done as u64);
        Unread::LeftOut(Box::new(LeftOut {
            addr: TargetAddr::new(addr),
            len: (wanted - done) as u64,
            part: self.part(addr),
            remedy: self.remedy(addr),
        }))
    }

    fn remedy(&self, address: u64) -> String {
        let is_cut = |memory: &Memory| self.truncated > 0 && address - memory.start < memory.held;
        if self.memory_at(address).is_some_and(|memory| is_cut(&memory)) {
            let (path, missing) = (shown(&self.path), self.truncated);
            return format!("the file {path} is truncated: {missing} bytes are missing at its end; {ROOM}");
        }
        FULL_DUMP.to_owned()
    }

    pub(super) fn memory_at(&self, address: u64) -> Option<Memory> {
        let index = self.memory.partition_point(|memory| memory.start <= address).checked_sub(1)?;
        self.memory.get(index).copied().filter(|memory| address < memory.end)
    }

    /// Whether the byte at an address is in the file.
    fn holds(&self, address: u64) -> bool {
        self.memory_at(address).is_some_and(|memory| {
            let into = address - memory.start;
            into < memory.held && memory.offset.checked_add(into).is_some_and(|at| at < self.file.len())
        })
    }

    /// Whether the stack of every thread is in the file, at least its innermost frame.
    pub fn holds_stacks(&self) -> bool {
        let threads = &self.notes.threads;
        let held = |thread: &Thread| self.holds(thread.registers.stack_pointer());
        !self.notes.more_threads && !threads.is_empty() && threads.iter().all(held)
    }
}

/// Bytes that are read in pieces: a damaged length allocates no more than what there is.
fn collected(address: u64, len: u64, read: impl Fn(u64, &mut [u8]) -> Result<(), Unread>) -> Result<Vec<u8>, Unread> {
    let mut found = Vec::new();
    while (found.len() as u64) < len {
        let done = found.len();
        let piece = (len - done as u64).min(PIECE);
        found.resize(done + usize::try_from(piece).unwrap_or_default(), 0);
        read(address.wrapping_add(done as u64), &mut found[done..]).map_err(|error| match error {
            Unread::LeftOut(mut left_out) => {
                left_out.len += len - done as u64 - piece;
                Unread::LeftOut(left_out)
            }
            other => other,
        })?;
    }
    Ok(found)
}

/// The machine and the program headers of a core file.
fn segments(path: &Path, file: &Pieces) -> Result<(Machine, Vec<elf::Segment>), CoreError> {
    let read = |at, len| {
        let unreadable = |error| FileError::from(error).reason();
        file.read(at, len).map_err(unreadable).map_err(|reason| CoreError::Unreadable { path: shown(path), reason })
    };
    let Some(header) = Header::parse(&read(0, HEADER)?) else {
        return Err(CoreError::NotElf { path: shown(path) });
    };
    let other = |machine: String| CoreError::OtherMachine { path: shown(path), machine };
    if !header.is_little_64 {
        return Err(other("another architecture".to_owned()));
    }
    let machine = Machine::of_elf(header.machine).ok_or_else(|| other(format!("machine {}", header.machine)))?;
    if machine.name() != std::env::consts::ARCH {
        return Err(other(machine.name().to_owned()));
    }
    if header.kind != ET_CORE {
        return Err(CoreError::NotCore { path: shown(path) });
    }
    let count = if header.count == MANY {
        let info = read(header.sections_at.saturating_add(SH_INFO), 4)?;
        elf::u32_at(&info, 0).map_or(0, u64::from)
    } else {
        u64::from(header.count)
    };
    if u64::from(header.entry_size) != PROGRAM_HEADER || !(1..=MAX_SEGMENTS).contains(&count) {
        return Err(CoreError::NoSegments { path: shown(path) });
    }
    Ok((machine, elf::segments(&read(header.table_at, count * PROGRAM_HEADER)?)))
}
