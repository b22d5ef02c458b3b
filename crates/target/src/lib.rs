//! What is read: a live process, a core file ([`cores`]), a recording; in tests, a mock.
//!
//! One read is required; typed reads are default methods. A target never fails by panicking: bad addresses, dead
//! processes and lying debuggers all come back as [`TargetError`].

mod abi;
pub mod address;
mod budget;
mod cache;
mod code_place;
pub mod cores;
pub mod detached;
mod elf;
mod exports;
pub mod file_budget;
pub mod files;
pub mod heap;
pub mod libraries;
mod link_map;
mod live;
mod memory_image;
pub mod mock;
pub mod processes;
pub mod registers;
mod segments;
pub mod source_path;
pub mod text;

pub use abi::{ByteOrder, PointerWidth, TargetAbi};
pub use budget::{Budget, Limit, Limits, Metered, OverLimit, collect, fit, zeroed, zeroed_shared};
pub use cache::{CacheStatistics, PageCache};
pub use code_place::CodePlace;
pub use elf::{ElfImage, ElfSymbols, OtherFiles, build_id, build_id_in_memory, is_before_mpi, search_order};
pub use exports::Exports;
pub use link_map::{Module, images_from_link_map, images_of, modules_from_link_map, r_debug_from_program_headers};
pub use live::{LiveProcess, Mapping};
pub use memory_image::memory_image;
pub use reason::Reason;
pub use segments::{Range, Segments, segments};

use crate::address::TargetAddr;
pub use crate::text::printable;

/// Why target memory, a symbol or an image could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TargetError {
    /// The bytes are not mapped, or the debugger refuses to read them.
    #[error("cannot read {len} bytes of target memory at {addr}")]
    Fault {
        /// First address of the read that failed.
        addr: TargetAddr,
        /// Length of that read in bytes.
        len: u64,
    },
    /// The process ended while it was read.
    #[error("the process ended while it was read")]
    Gone,
    /// The debugger reported something else.
    #[error("the debugger says: {0}")]
    Debugger(String),
    /// A core file was asked for memory that was left out of it.
    #[error("{text}")]
    NotInCore {
        /// First address that is missing.
        addr: TargetAddr,
        /// How many bytes were asked for from there on.
        len: u64,
        /// What of the process lies there, and how to have it the next time.
        text: String,
    },
    /// A replay was asked for memory that its recording does not have.
    #[error(
        "{len} bytes at {addr} are not in the recording; to have them, record again with `mpi-queues record --full`"
    )]
    NotRecorded {
        /// First address that is missing.
        addr: TargetAddr,
        /// How many bytes were asked for from there on.
        len: u64,
    },
    /// A replay was asked for a symbol that its recording does not tell about.
    #[error("the symbol {name} is not in the recording; to have it, record again with this version of mpi-queues")]
    SymbolNotRecorded {
        /// Its name.
        name: String,
    },
    /// Reading has cost more than it may.
    #[error("{0}")]
    OverLimit(OverLimit),
    /// The kernel does not let this user read a process.
    #[error("reading {path} is not permitted")]
    Denied {
        /// What was to be read.
        path: String,
    },
    /// A file that a live process runs cannot be had, so that what it defines is not known.
    #[error("the symbols of {path} cannot be read ({why}), so it is not known whether the process has {symbol}")]
    NoSymbols {
        /// The file, as the process names it.
        path: String,
        /// What is wrong with it.
        why: String,
        /// What was asked for.
        symbol: String,
    },
    /// An executable or library file could not be used.
    #[error("cannot use the file {path}: {reason}")]
    File {
        /// The file, as the target names it.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl From<TargetError> for Reason {
    fn from(error: TargetError) -> Self {
        Self::of(error)
    }
}

/// A symbol of the target: where an object or function of an image lies in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol {
    /// Its address in target memory.
    pub addr: TargetAddr,
    /// Its size in bytes, where the symbol table says it.
    pub size: Option<u64>,
}

/// An executable or shared library that is loaded in the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// The path by which the target names the file.
    pub path: String,
    /// What is added to the file's virtual addresses (the ELF load bias), in bytes.
    pub bias: TargetAddr,
    /// The ELF build-id as hexadecimal digits, where the file has one.
    pub build_id: Option<String>,
    /// Whether this is the executable itself.
    pub is_executable: bool,
}

impl TargetError {
    /// Whether it is the bytes that cannot be had, so that a part of them may be.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Fault { .. }) || self.is_left_out()
    }

    /// Whether it says nothing of the process that something could not be read: Ctrl-C, a debugger that refuses.
    pub fn is_of_the_debugger(&self) -> bool {
        matches!(self, Self::Debugger(_) | Self::Gone)
    }

    /// Whether the process had these bytes, and its core file or recording does not.
    pub fn is_left_out(&self) -> bool {
        matches!(self, Self::NotInCore { .. } | Self::NotRecorded { .. })
    }

    /// Whether a recording lacks what was asked for.
    pub fn is_not_recorded(&self) -> bool {
        matches!(self, Self::NotRecorded { .. } | Self::SymbolNotRecorded { .. })
    }
}

impl Image {
    /// The last component of the path.
    pub fn file_name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }
}

/// Something whose memory, symbols and images can be read.
///
/// Methods take `&self`: adapters and caches keep their state behind interior mutability, so that a reader can hold
/// several borrowed helpers over one target.
pub trait Target {
    /// Reads exactly `buf.len()` bytes at `addr`.
    ///
    /// # Errors
    /// [`TargetError::Fault`] where any of the bytes cannot be read; the content of `buf` is then unspecified.
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError>;

    /// Byte order and pointer width of the target.
    fn abi(&self) -> TargetAbi;

    /// Where the symbol `name` is defined, `None` where no image defines it.
    ///
    /// # Errors
    /// Where the symbol tables could not be consulted at all.
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError>;

    /// The images of the target, in the order of the dynamic linker (the executable first).
    ///
    /// # Errors
    /// Where the list could not be read.
    fn images(&self) -> Result<Vec<Image>, TargetError>;

    /// All symbols of the executable and of the MPI's images, each name once; `None` where some cannot be listed, so that
    /// a name that is not among them may exist all the same.
    ///
    /// # Errors
    /// Where the symbol tables could not be consulted at all.
    fn symbols(&self) -> Result<Option<Vec<(String, Symbol)>>, TargetError> {
        Ok(None)
    }

    /// The name of the function whose code starts at `addr`, by the full symbol table of its file; `None` where no table
    /// says it (a stripped program). Of several names it is the last in the order of their bytes, as gdb 13 chooses.
    ///
    /// # Errors
    /// Where the symbol tables could not be consulted at all.
    fn function_at(&self, _addr: TargetAddr) -> Result<Option<String>, TargetError> {
        Ok(None)
    }

    /// Where the code at an address is from; of a call ask for a byte of it, not for where it returns to. `None` where neither
    /// debug information nor a symbol says it.
    ///
    /// # Errors
    /// Where nobody could be asked.
    fn place_of(&self, _addr: TargetAddr) -> Result<Option<CodePlace>, TargetError> {
        Ok(None)
    }

    /// Where the stack of each thread ends now: what a library keeps on stacks alone is searched for from there on.
    ///
    /// # Errors
    /// Why that is not known.
    fn stack_pointers(&self) -> Result<Vec<TargetAddr>, Reason> {
        Err("where its threads are is not known here".into())
    }

    /// As [`Target::read`], for memory that will not be read again: a cache passes it on without keeping it.
    ///
    /// # Errors
    /// As [`Target::read`].
    fn read_once(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.read(addr, buf)
    }

    /// Reads several pieces, as far as they can be read; which of them could be. By one system call, where there is such a one.
    fn read_many(&self, pieces: &mut [(TargetAddr, &mut [u8])]) -> Vec<bool> {
        pieces.iter_mut().map(|(addr, buf)| self.read(*addr, buf).is_ok()).collect()
    }

    /// Whether these bytes may be asked for at all: not where a recording that was made before anybody wanted them lacks them. Who
    /// asks first is not told to have missed them.
    fn is_held(&self, _addr: TargetAddr, _len: usize) -> bool {
        true
    }

    /// Sets `count` members of a group off against what may be read of this process: whoever keeps them asks first.
    ///
    /// # Errors
    /// Where they are too many.
    fn claim_members(&self, count: u64) -> Result<(), TargetError> {
        Budget::new(Limits::default()).claim_members(count)
    }

    /// Reads `len` bytes at `addr` into a new vector.
    ///
    /// # Errors
    /// As [`Target::read`]; and where `len` is larger than any read may be.
    fn read_bytes(&self, addr: TargetAddr, len: usize) -> Result<Vec<u8>, TargetError> {
        let mut buf = zeroed(len)?;
        self.read(addr, &mut buf)?;
        Ok(buf)
    }

    /// Reads an unsigned integer of `size` bytes (1, 2, 4 or 8).
    ///
    /// # Errors
    /// As [`Target::read`]; also a fault where `size` is none of these.
    fn read_uint(&self, addr: TargetAddr, size: u64) -> Result<u64, TargetError> {
        let mut buf = [0; 8];
        let len = usize::try_from(size).ok().filter(|len| (1..=8).contains(len));
        let Some(len) = len else {
            return Err(TargetError::Fault { addr, len: size });
        };
        self.read(addr, &mut buf[..len])?;
        Ok(self.abi().uint(&buf[..len]))
    }

    /// Reads a pointer of the target's own width.
    ///
    /// # Errors
    /// As [`Target::read`].
    fn read_pointer(&self, addr: TargetAddr) -> Result<TargetAddr, TargetError> {
        self.read_uint(addr, self.abi().pointer_width.bytes()).map(TargetAddr::new)
    }

    /// Reads a NUL-terminated string of at most `max` bytes; returns what stands before the NUL, or `max` bytes.
    ///
    /// # Errors
    /// Where the first byte cannot be read. A fault after that ends the string.
    fn read_c_string(&self, addr: TargetAddr, max: usize) -> Result<Vec<u8>, TargetError> {
        // Read up to page boundaries, so that a string at the end of a mapping does not fault.
        const PAGE: u64 = 4096;
        let mut out = Vec::new();
        let mut at = addr;
        while out.len() < max {
            let to_page_end = usize::try_from(PAGE - at.get() % PAGE).unwrap_or(1);
            let len = to_page_end.min(max - out.len());
            let chunk = match self.read_bytes(at, len) {
                Ok(chunk) => chunk,
                Err(error) if out.is_empty() => return Err(error),
                Err(_) => break,
            };
            if let Some(end) = chunk.iter().position(|&byte| byte == 0) {
                out.extend_from_slice(&chunk[..end]);
                break;
            }
            out.extend_from_slice(&chunk);
            at = at.wrapping_add(len as u64);
        }
        Ok(out)
    }
}

impl<T: Target + ?Sized> Target for &T {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        (**self).read(addr, buf)
    }
    fn read_once(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        (**self).read_once(addr, buf)
    }
    fn is_held(&self, addr: TargetAddr, len: usize) -> bool {
        (**self).is_held(addr, len)
    }
    fn claim_members(&self, count: u64) -> Result<(), TargetError> {
        (**self).claim_members(count)
    }
    fn abi(&self) -> TargetAbi {
        (**self).abi()
    }
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        (**self).symbol(name)
    }
    fn symbols(&self) -> Result<Option<Vec<(String, Symbol)>>, TargetError> {
        (**self).symbols()
    }
    fn function_at(&self, addr: TargetAddr) -> Result<Option<String>, TargetError> {
        (**self).function_at(addr)
    }
    fn place_of(&self, addr: TargetAddr) -> Result<Option<CodePlace>, TargetError> {
        (**self).place_of(addr)
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        (**self).images()
    }
    fn stack_pointers(&self) -> Result<Vec<TargetAddr>, Reason> {
        (**self).stack_pointers()
    }
    fn read_c_string(&self, addr: TargetAddr, max: usize) -> Result<Vec<u8>, TargetError> {
        (**self).read_c_string(addr, max)
    }
}

/// Whether all bytes are zero. In pieces, which compilers turn into wide instructions: most of what is looked through is.
pub fn is_zero(bytes: &[u8]) -> bool {
    bytes.chunks(64).all(|piece| piece.iter().fold(0, |any, byte| any | byte) == 0)
}

/// A path as text: what is no UTF-8 becomes `\xNN`, as [`printable`] has it.
pub fn printable_path(path: &std::path::Path) -> String {
    printable(std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()))
}
