//! A live process of this machine, read from `/proc` without a debugger: it is neither stopped nor traced.
//!
//! This serves launchers and directories of processes, of which a few variables are wanted. What they hold may change
//! between two reads; whoever reads them looks at the whole for sense.

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::{
    ByteOrder, ElfSymbols, Image, PageCache, PointerWidth, Symbol, Target, TargetAbi, TargetError,
    images_from_link_map, printable_path, r_debug_from_program_headers,
};
use crate::address::TargetAddr;
use crate::files::{self, Reader, is_root};
use crate::heap::page_size;
use crate::processes;

/// The entries of the auxiliary vector that name the program headers (Linux, include/uapi/linux/auxvec.h).
const AT_PHDR: u64 = 3;
const AT_PHNUM: u64 = 5;

/// An auxiliary vector or a list of mappings larger than this is not read on.
const MAX_FACTS: u64 = 16 << 20;

/// A live process of this machine.
pub struct LiveProcess {
    pid: u32,
    memory: File,
    abi: TargetAbi,
    executable: String,
    symbols: OnceCell<Result<ElfSymbols, TargetError>>,
    reader: OnceCell<Option<Reader>>,
}

/// One mapping of a process's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// First address.
    pub start: TargetAddr,
    /// First address after it.
    pub end: TargetAddr,
    /// Whether it can be read.
    pub readable: bool,
    /// Whether it can be written to.
    pub writable: bool,
    /// Whether it is code.
    pub code: bool,
    /// Whether it is shared with other processes (MAP_SHARED).
    pub shared: bool,
    /// Where it begins in the mapped file, in bytes.
    pub offset: u64,
    /// The device of that file, as the kernel writes it, and its number there.
    pub file: (String, u64),
    /// The mapped file as the kernel writes it: a newline is `\012`, and what was deleted has ` (deleted)` behind it; `[heap]`,
    /// `[stack]`; empty for other anonymous memory.
    pub name: OsString,
}

impl LiveProcess {
    /// Opens the memory of the process `pid` for reading.
    ///
    /// # Errors
    /// [`TargetError::Gone`] where there is no such process, [`TargetError::Denied`] where it may not be read,
    /// [`TargetError::File`] where its executable is no ELF file.
    pub fn open(pid: u32) -> Result<Self, TargetError> {
        let place = processes::place(pid);
        let path = |name: &str| place.join(name).to_string_lossy().into_owned();
        let fail = |name: &str, error: &std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => TargetError::Gone,
            // It has ended, and its parent does not know yet: ESRCH, and to others than root EACCES, because what a process
            // without memory has under /proc is root's (task_dump_owner, fs/proc/base.c, Linux 6.1).
            _ if error.raw_os_error() == Some(libc::ESRCH) => TargetError::Gone,
            std::io::ErrorKind::PermissionDenied if processes::has_ended(pid) => TargetError::Gone,
            std::io::ErrorKind::PermissionDenied => TargetError::Denied { path: path(name) },
            _ => TargetError::File { path: path(name), reason: error.to_string() },
        };
        let memory = File::open(path("mem")).map_err(|error| fail("mem", &error))?;
        let exe = path("exe");
        let ident = head(pid, &memory).map_err(|error| fail("exe", &error))?;
        let no_elf = || TargetError::File { path: exe.clone(), reason: "it is not an ELF file".to_owned() };
        if ident[..4] != *b"\x7fELF" {
            return Err(no_elf());
        }
        // e_ident: EI_CLASS and EI_DATA (System V ABI).
        let pointer_width = match ident[4] {
            1 => PointerWidth::Four,
            2 => PointerWidth::Eight,
            _ => return Err(no_elf()),
        };
        let byte_order = match ident[5] {
            1 => ByteOrder::Little,
            2 => ByteOrder::Big,
            _ => return Err(no_elf()),
        };
        let executable = fs::read_link(&exe).map_err(|error| fail("exe", &error))?;
        Ok(Self {
            pid,
            memory,
            abi: TargetAbi { byte_order, pointer_width },
            executable: printable_path(&without_deleted(pid, executable)),
            symbols: OnceCell::new(),
            reader: OnceCell::new(),
        })
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// The path of its executable.
    pub fn executable(&self) -> &str {
        &self.executable
    }

    /// For whom files are read that it names: root has its rights for that, others their own (`None`).
    pub fn reader(&self) -> Option<&Reader> {
        self.reader.get_or_init(|| if is_root() { reader_of(self.pid) } else { None }).as_ref()
    }

    /// Its mappings by address.
    ///
    /// # Errors
    /// Where the list cannot be read; [`TargetError::Gone`] for a process that has ended.
    pub fn mappings(&self) -> Result<Vec<Mapping>, TargetError> {
        let bytes = self.facts("maps")?;
        if bytes.is_empty() {
            // So the kernel answers for a process that has given up its memory.
            return Err(TargetError::Gone);
        }
        Ok(mappings(&bytes))
    }

    fn facts(&self, name: &str) -> Result<Vec<u8>, TargetError> {
        let path = processes::place(self.pid).join(name).to_string_lossy().into_owned();
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|file| file.take(MAX_FACTS).read_to_end(&mut bytes));
        read.map_err(|error| TargetError::File { path, reason: error.to_string() })?;
        Ok(bytes)
    }

    /// Address and number of the executable's program headers in memory (AT_PHDR and AT_PHNUM); `None` where they are not known.
    ///
    /// # Errors
    /// Where the auxiliary vector cannot be read.
    pub fn program_headers(&self) -> Result<Option<(TargetAddr, u64)>, TargetError> {
        let width = usize::try_from(self.abi.pointer_width.bytes()).unwrap_or(8);
        let (mut headers, mut count) = (0, 0);
        for entry in self.facts("auxv")?.chunks_exact(2 * width) {
            let value = self.abi.uint(&entry[width..]);
            match self.abi.uint(&entry[..width]) {
                AT_PHDR => headers = value,
                AT_PHNUM => count = value,
                _ => {}
            }
        }
        Ok((headers != 0 && count != 0).then_some((TargetAddr::new(headers), count)))
    }

    fn list_images(&self) -> Result<Vec<Image>, TargetError> {
        let Some((headers, count)) = self.program_headers()? else { return Ok(Vec::new()) };
        let cached = PageCache::new(self);
        match r_debug_from_program_headers(&cached, headers, count)? {
            Some(r_debug) => images_from_link_map(&cached, r_debug, Some(&self.executable)),
            // A static executable, or one that has not been linked yet: it is the only image. What is added to its
            // addresses follows from where its first bytes are mapped.
            None => {
                let own = |mapping: &Mapping| mapping.name == *self.executable;
                let bias = self.mappings()?.into_iter().find(own).map(|mapping| mapping.start);
                let bias = bias.filter(|_| self.is_position_independent()).unwrap_or_default();
                Ok(vec![Image { path: self.executable.clone(), bias, build_id: None, is_executable: true }])
            }
        }
    }

    /// Whether the executable's type is ET_DYN (System V ABI, e_type at 16).
    fn is_position_independent(&self) -> bool {
        head(self.pid, &self.memory).is_ok_and(|head| self.abi.uint(&head[16..]) == 3)
    }

    fn elf(&self) -> Result<&ElfSymbols, TargetError> {
        let open = || {
            let roots = vec![processes::place(self.pid).join("root"), PathBuf::from("/")];
            let pid = self.pid;
            let reader = self.reader().cloned();
            Ok(ElfSymbols::new(self.list_images()?, roots)
                .for_reader(reader)
                .or_at(Box::new(move |image| running_file(pid, image)))
                .or_in_memory())
        };
        self.symbols.get_or_init(open).as_ref().map_err(Clone::clone)
    }
}

impl Target for LiveProcess {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        let fault = TargetError::Fault { addr, len: buf.len() as u64 };
        self.memory.read_exact_at(buf, addr.get()).map_err(|_| {
            // The file stays open when the process has ended, and its reads are empty then.
            if processes::has_ended(self.pid) { TargetError::Gone } else { fault }
        })
    }

    fn abi(&self) -> TargetAbi {
        self.abi
    }

    /// # Errors
    /// Also where the file of the executable or of an MPI library cannot be had, so that the name may be defined there.
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        let elf = self.elf()?;
        match elf.lookup(name, self) {
            Some(found) => Ok(Some(found)),
            None if elf.is_complete(self) => Ok(None),
            None => {
                let (path, why) =
                    elf.missing(self).unwrap_or((self.executable.as_str(), "nothing is loaded yet".to_owned()));
                Err(TargetError::NoSymbols { path: path.to_owned(), why, symbol: name.to_owned() })
            }
        }
    }

    fn symbols(&self) -> Result<Option<Vec<(String, Symbol)>>, TargetError> {
        let elf = self.elf()?;
        Ok(elf.is_complete(self).then(|| elf.dynamic_symbols(self)))
    }

    fn function_at(&self, addr: TargetAddr) -> Result<Option<String>, TargetError> {
        Ok(self.elf()?.function_at(addr, self))
    }

    fn images(&self) -> Result<Vec<Image>, TargetError> {
        Ok(self.elf()?.images_with_build_ids(self))
    }
}

/// The beginning of a program's file, which is in memory as well; the file is opened where it is not there any more: to bring
/// it there waits for the file system.
fn head(pid: u32, memory: &File) -> std::io::Result<[u8; 18]> {
    let mut head = [0; 18];
    if let Some(start) = start_of_program(pid)
        && is_resident(pid, start)
        && memory.read_exact_at(&mut head, start.get()).is_ok()
    {
        return Ok(head);
    }
    files::open_regular(&processes::place(pid).join("exe"))?.read_exact_at(&mut head, 0)?;
    Ok(head)
}

/// Where the first byte of a program's file lies.
fn start_of_program(pid: u32) -> Option<TargetAddr> {
    let own = processes::place(pid);
    let program = fs::read_link(own.join("exe")).ok()?;
    let mut bytes = Vec::new();
    File::open(own.join("maps")).ok()?.take(MAX_FACTS).read_to_end(&mut bytes).ok()?;
    let is_first = |mapping: &Mapping| mapping.offset == 0 && mapping.readable && mapping.name == *program.as_os_str();
    mappings(&bytes).into_iter().find(is_first).map(|mapping| mapping.start)
}

/// Whether the page with this address is in memory (`/proc/pid/pagemap`, Linux, Documentation/admin-guide/mm/pagemap.rst).
fn is_resident(pid: u32, address: TargetAddr) -> bool {
    let mut page = [0; 8];
    let Some(number) = page_size().and_then(|size| address.get().checked_div(size)) else { return false };
    let table = File::open(processes::place(pid).join("pagemap"));
    let read = table.and_then(|file| file.read_exact_at(&mut page, number * 8));
    read.is_ok() && u64::from_ne_bytes(page) >> 63 == 1
}

/// The rights of a process to files; those of nobody where they cannot be told.
fn reader_of(pid: u32) -> Option<Reader> {
    const NOBODY: u32 = 65534;
    let status = Status::of(pid);
    let number = |name: &[u8]| status.field(name)?.split_whitespace().next()?.parse().ok();
    let groups =
        status.field(b"Groups:").map(|groups| groups.split_whitespace().filter_map(|word| word.parse().ok()).collect());
    Some(match (number(b"Uid:"), number(b"Gid:")) {
        (Some(uid), Some(gid)) => Reader { uid, gid, groups: groups.unwrap_or_default() },
        _ => Reader { uid: NOBODY, gid: NOBODY, groups: Vec::new() },
    })
}

/// What the kernel tells everybody of a process (proc(5), `/proc/pid/status`).
struct Status(Vec<u8>);

impl Status {
    /// Without fields where there is no such process.
    fn of(pid: u32) -> Self {
        Self(fs::read(format!("/proc/{pid}/status")).unwrap_or_default())
    }

    fn field(&self, name: &[u8]) -> Option<&str> {
        let line = self.0.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(name))?;
        std::str::from_utf8(line).ok()
    }
}

/// The kernel's own links to a file that is mapped: they lead to it also where it was deleted or replaced. Those to libraries
/// may be followed with CAP_SYS_ADMIN only, or with CAP_CHECKPOINT_RESTORE.
fn running_file(pid: u32, image: &Image) -> Vec<PathBuf> {
    let own = processes::place(pid);
    if image.is_executable {
        return vec![own.join("exe")];
    }
    let mut bytes = Vec::new();
    let read = File::open(own.join("maps")).and_then(|file| file.take(MAX_FACTS).read_to_end(&mut bytes));
    let first = mappings(&bytes).into_iter().find(|mapping| read.is_ok() && mapping.start == image.bias);
    let link = |mapping: Mapping| format!("{:x}-{:x}", mapping.start.get(), mapping.end.get());
    first.map(|mapping| own.join("map_files").join(link(mapping))).into_iter().collect()
}

/// The path of an executable without what the kernel adds to it where it leads there no more.
fn without_deleted(pid: u32, path: PathBuf) -> PathBuf {
    let Some(plain) = path.as_os_str().as_bytes().strip_suffix(b" (deleted)") else { return path };
    let same = |one: &Path, two: &Path| {
        let (Ok(one), Ok(two)) = (files::about(one), files::about(two)) else { return false };
        one.is_one(&two)
    };
    // A file may really be called so.
    let own = processes::place(pid);
    let inside = own.join("root").join(path.strip_prefix("/").unwrap_or(&path));
    if same(&inside, &own.join("exe")) { path } else { PathBuf::from(OsStr::from_bytes(plain)) }
}

/// The mappings in a list of the kernel's (`/proc/PID/maps`, proc(5)). What is no line of such a list is left out.
fn mappings(list: &[u8]) -> Vec<Mapping> {
    list.split(|byte| *byte == b'\n').filter_map(mapping).collect()
}

fn mapping(line: &[u8]) -> Option<Mapping> {
    let mut words = line.splitn(6, |byte| *byte == b' ');
    let mut word = || words.next().and_then(|word| std::str::from_utf8(word).ok());
    let (start, end) = word()?.split_once('-')?;
    let allowed = word()?.as_bytes();
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let offset = number(word()?)?;
    let (device, inode) = (word()?.to_owned(), word()?.parse().ok()?);
    let name = words.next().unwrap_or_default().trim_ascii_start();
    let is = |place: usize, letter: u8| allowed.get(place) == Some(&letter);
    Some(Mapping {
        start: TargetAddr::new(number(start)?),
        end: TargetAddr::new(number(end)?),
        readable: is(0, b'r'),
        writable: is(1, b'w'),
        code: is(2, b'x'),
        shared: is(3, b's'),
        offset,
        file: (device, inode),
        name: OsString::from_vec(name.to_vec()),
    })
}
