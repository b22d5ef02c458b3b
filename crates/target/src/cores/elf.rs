//! The beginning of an ELF file of 64 bits in little endian (System V ABI, chapters 4 and 5), in pieces of the file.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::budget::zeroed;
use crate::files::{self, About, FileError, RegularFile};

pub(super) const PT_LOAD: u32 = 1;
pub(super) const PT_DYNAMIC: u32 = 2;
pub(super) const PT_NOTE: u32 = 4;
pub(super) const PT_PHDR: u32 = 6;
pub(super) const EXECUTABLE: u32 = 1;
pub(super) const WRITABLE: u32 = 2;
pub(super) const READABLE: u32 = 4;

/// Bytes of an ELF header and of a program header.
pub(super) const HEADER: u64 = 64;
pub(super) const PROGRAM_HEADER: u64 = 56;

/// More program headers than this has no program and no library.
const MAX_HEADERS: u16 = 1024;

/// A number in little endian; `None` behind the end.
pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at.checked_add(8)?)?.try_into().ok().map(u64::from_le_bytes)
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at.checked_add(2)?)?.try_into().ok().map(u16::from_le_bytes)
}

/// A file of which pieces are read. It may claim any size, so nothing is allocated that it does not have.
#[derive(Debug)]
pub(super) struct Pieces {
    file: RegularFile,
    about: About,
    len: u64,
}

impl Pieces {
    pub fn open(path: &Path) -> Result<Self, FileError> {
        files::open_regular(path).map(Self::of)
    }

    /// Those of a file that the person who looks has named.
    pub fn named(path: &Path) -> Result<Self, FileError> {
        files::open_named(path).map(Self::of)
    }

    fn of(file: RegularFile) -> Self {
        let about = *file.about();
        Self { file, len: about.size, about }
    }

    /// The same file with other contents, of `len` bytes.
    pub fn replaced(&self, file: File, len: u64) -> Self {
        Self { file: file.into(), about: self.about, len }
    }

    pub fn about(&self) -> &About {
        &self.about
    }

    /// Its length in bytes, as it was when it was opened.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// At most `len` bytes at `offset`, fewer where it ends; whoever asks bounds it.
    pub fn read(&self, offset: u64, len: u64) -> io::Result<Vec<u8>> {
        let len = len.min(self.len().saturating_sub(offset));
        let len = usize::try_from(len).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let mut bytes = zeroed(len).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        let read = self.read_into(offset, &mut bytes)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    /// Fills the beginning of `to`; returns how many bytes the file has.
    pub fn read_into(&self, offset: u64, to: &mut [u8]) -> io::Result<usize> {
        let mut done = 0;
        while done < to.len() {
            let Some(at) = offset.checked_add(done as u64).filter(|at| *at < self.len()) else { break };
            match self.file.read_at(&mut to[done..], at) {
                Ok(0) => break,
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }
}

/// An ELF header, whatever its class.
#[derive(Debug, Clone, Copy)]
pub(super) struct Header {
    /// Whether it is of 64 bits in little endian: else all that follows means nothing.
    pub is_little_64: bool,
    pub kind: u16,
    pub machine: u16,
    pub entry: u64,
    pub table_at: u64,
    pub sections_at: u64,
    pub entry_size: u16,
    pub count: u16,
}

impl Header {
    /// `None` where no ELF file begins so.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        if !bytes.starts_with(b"\x7fELF") || (bytes.len() as u64) < HEADER {
            return None;
        }
        Some(Self {
            is_little_64: bytes[4..6] == [2, 1],
            kind: u16_at(bytes, 16)?,
            machine: u16_at(bytes, 18)?,
            entry: u64_at(bytes, 24)?,
            table_at: u64_at(bytes, 32)?,
            sections_at: u64_at(bytes, 40)?,
            entry_size: u16_at(bytes, 54)?,
            count: u16_at(bytes, 56)?,
        })
    }
}

/// A program header (`Elf64_Phdr`).
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub kind: u32,
    pub flags: u32,
    pub offset: u64,
    pub address: u64,
    pub held: u64,
    pub size: u64,
}

/// The program headers in a table; what is too short for one at its end does not count.
pub(super) fn segments(table: &[u8]) -> Vec<Segment> {
    let segment = |entry: &[u8]| {
        Some(Segment {
            kind: u32_at(entry, 0)?,
            flags: u32_at(entry, 4)?,
            offset: u64_at(entry, 8)?,
            address: u64_at(entry, 16)?,
            held: u64_at(entry, 32)?,
            size: u64_at(entry, 40)?,
        })
    };
    table.chunks_exact(PROGRAM_HEADER as usize).filter_map(segment).collect()
}

/// The segments of a program or library; `None` where the file is none.
pub(super) fn image_segments(file: &Pieces) -> Option<Vec<Segment>> {
    let header = Header::parse(&file.read(0, HEADER).ok()?).filter(|header| header.is_little_64)?;
    if u64::from(header.entry_size) != PROGRAM_HEADER || header.count > MAX_HEADERS {
        return None;
    }
    Some(segments(&file.read(header.table_at, u64::from(header.count) * PROGRAM_HEADER).ok()?))
}
