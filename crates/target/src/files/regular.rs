//! Regular files that were opened for others' names, and what is read of them.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use object::read::{ReadCache, ReadRef};

use super::asking::{self, Held};
use super::opening;
use super::{About, Reader, io_error};

/// One piece of a file that is larger is not read at once: a sparse file costs nothing and may claim anything.
const MAX_PIECE: u64 = 96 << 20;
/// Nor are more bytes than this read of one file for its tables: symbols of 24 bytes each.
const MAX_READ: u64 = 128 << 20;

/// A regular file, open for reading. One of this machine's own file systems is read here; of others an attendant reads,
/// who can be left behind.
#[derive(Debug)]
pub struct RegularFile {
    about: About,
    at: u64,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Here(File),
    There(There),
}

/// A file that an attendant has open.
#[derive(Debug)]
struct There {
    path: PathBuf,
    reader: Option<Reader>,
    /// `None` once the attendant was left behind.
    held: Mutex<Option<Held>>,
}

impl RegularFile {
    /// One that is waited for as long as it takes.
    pub(super) fn here(file: OwnedFd, about: About) -> Self {
        Self { about, at: 0, source: Source::Here(File::from(file)) }
    }

    /// One that an attendant has.
    pub(super) fn there(held: Held, about: About, path: PathBuf, reader: Option<Reader>) -> Self {
        Self { about, at: 0, source: Source::There(There { path, reader, held: Mutex::new(Some(held)) }) }
    }

    /// What it was when it was opened.
    pub fn about(&self) -> &About {
        &self.about
    }

    /// What it is now.
    ///
    /// # Errors
    /// Where it cannot be looked at.
    pub fn looked_again(&self) -> io::Result<About> {
        match &self.source {
            Source::Here(file) => opening::about(file).map_err(io_error),
            Source::There(there) => there.with(&self.about, asking::looked_again),
        }
    }

    /// Its length in bytes, as it was when it was opened.
    pub fn len(&self) -> u64 {
        self.about.size
    }

    /// Whether it was empty then.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What of it is read without an attendant.
    pub fn into_file(self) -> Option<File> {
        match self.source {
            Source::Here(file) => Some(file),
            Source::There(_) => None,
        }
    }

    /// Bytes at a place, as many as there are at once; none at its end.
    ///
    /// # Errors
    /// Where the kernel refuses, or its file system does not answer.
    pub fn read_at(&self, to: &mut [u8], offset: u64) -> io::Result<usize> {
        match &self.source {
            Source::Here(file) => file.read_at(to, offset),
            Source::There(there) => there.with(&self.about, |held| asking::read(held, &mut *to, offset)),
        }
    }

    /// All of these bytes.
    ///
    /// # Errors
    /// As [`RegularFile::read_at`]; also where it ends before.
    pub fn read_exact_at(&self, to: &mut [u8], offset: u64) -> io::Result<()> {
        let mut done = 0;
        while done < to.len() {
            match self.read_at(&mut to[done..], offset + done as u64) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => done += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl From<File> for RegularFile {
    /// One of our own.
    fn from(file: File) -> Self {
        let about = opening::about(&file).unwrap_or_default();
        Self { about, at: 0, source: Source::Here(file) }
    }
}

impl There {
    /// Asks; where the attendant was left behind meanwhile, because another file system did not answer, another opens the
    /// same file again.
    fn with<T>(&self, about: &About, mut ask: impl FnMut(&Held) -> Result<T, asking::Failure>) -> io::Result<T> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..2 {
            if held.is_none() {
                *held = Some(self.again(about)?);
            }
            let Some(known) = held.as_ref() else { continue };
            match ask(known) {
                Ok(told) => return Ok(told),
                Err(asking::Failure::Lost) => drop(held.take()),
                Err(asking::Failure::Error(error)) => return Err(error.into()),
            }
        }
        Err(io::Error::other("the process that read it has ended"))
    }

    fn again(&self, about: &About) -> io::Result<Held> {
        match asking::open(&self.path, self.reader.as_ref())?.source {
            Source::There(again) => {
                let held = again.held.into_inner().unwrap_or_else(PoisonError::into_inner);
                let held = held.ok_or(io::ErrorKind::NotFound)?;
                let now = asking::looked_again(&held).map_err(|_| io::ErrorKind::NotFound)?;
                if now.is_same(about) { Ok(held) } else { Err(io::ErrorKind::NotFound.into()) }
            }
            Source::Here(_) => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl Read for RegularFile {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.read_at(to, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl Seek for RegularFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.looked_again()?.size.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = at.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.at)
    }
}

/// The bytes of a file for a parser of ELF files, which reads pieces as long as the file says: none is too long, nor
/// are all together.
pub struct Contents {
    cache: ReadCache<RegularFile>,
    read: Cell<u64>,
}

impl Contents {
    /// Those of an open file.
    pub fn new(file: RegularFile) -> Self {
        Self { cache: ReadCache::new(file), read: Cell::new(0) }
    }

    /// The file.
    pub fn into_file(self) -> RegularFile {
        self.cache.into_inner()
    }
}

impl<'a> ReadRef<'a> for &'a Contents {
    fn len(self) -> Result<u64, ()> {
        self.cache.len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        let read = self.read.get().saturating_add(size);
        if size > MAX_PIECE || read > MAX_READ {
            return Err(());
        }
        self.read.set(read);
        self.cache.read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: std::ops::Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        self.cache.read_bytes_at_until(range, delimiter)
    }
}
