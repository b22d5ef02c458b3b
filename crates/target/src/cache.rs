//! A page cache over any target.
//!
//! Memory is read in pages, each once. The cache knows nothing of time: its owner drops it when the debugger says
//! that the target ran or its memory was changed.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};

use super::{CodePlace, Image, Reason, Symbol, Target, TargetAbi, TargetError, zeroed};
use crate::address::TargetAddr;

const PAGE: u64 = 4096;

/// Pages that are read together once two of them were asked for.
const BLOCK: u64 = 8;

/// So many pieces that are visited once are known, with so many bytes in all.
const MAX_ONCE: usize = 1024;
const MAX_ONCE_BYTES: usize = 64 << 20;

/// So many bytes are one piece of many that are read together.
const RUN: usize = 64 << 10;

/// More pages than this (256 MiB) are dropped and read again, so that damaged memory cannot make us grow without bound.
const MAX_PAGES: usize = 65_536;

/// What a cache has done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheStatistics {
    /// Reads of the target underneath.
    pub reads: u64,
    /// Pages of 4096 bytes held now.
    pub pages: u64,
    /// Bytes read from the target underneath.
    pub bytes: u64,
}

/// An address, and a length in bytes.
type Extent = (u64, usize);

/// A target whose memory is read in pages and remembered.
pub struct PageCache<T: Target> {
    inner: T,
    /// `None` marks a page that could not be read as a whole.
    pages: RefCell<HashMap<u64, Option<Box<[u8]>>>>,
    /// Large pieces that are visited once: which there were, and those that were read ahead.
    once: RefCell<BTreeMap<Extent, Option<Vec<u8>>>>,
    /// Whether it stands for the target: what it knows to be unreadable is not tried again.
    complete: Cell<bool>,
    symbols: RefCell<HashMap<String, Option<Symbol>>>,
    reads: Cell<u64>,
    bytes: Cell<u64>,
}

impl<T: Target> PageCache<T> {
    /// An empty cache over `inner`.
    pub fn new(inner: T) -> Self {
        let (pages, once, complete, symbols, reads, bytes) = Default::default();
        Self { inner, pages, once, complete, symbols, reads, bytes }
    }

    /// The target underneath.
    pub fn inner(&self) -> &T {
        &self.inner
    }

    /// Forgets all memory: the target ran, or somebody wrote to it.
    pub fn drop_memory(&self) {
        self.pages.borrow_mut().clear();
        self.once.borrow_mut().clear();
    }

    /// Forgets all symbols: an image was loaded or unloaded.
    pub fn drop_symbols(&self) {
        self.symbols.borrow_mut().clear();
    }

    /// Reads these pages ahead, neighbours together; those that cannot be read are read again where they are asked for.
    pub fn prefetch_pages(&self, numbers: &[u64]) {
        let read = self.read_ahead(numbers);
        let mut pages = self.pages.borrow_mut();
        pages.extend(read.into_iter().filter(|(_, bytes)| bytes.is_some()));
    }

    /// From now on it stands for the target, which may run, or no more.
    pub fn stands_for_target(&self, complete: bool) {
        self.complete.set(complete);
    }

    /// Reads everything anew that it holds, by as few calls of the target as can be; what could not be read before neither can
    /// now, if it still cannot.
    pub fn read_again(&self) {
        let mut known: Vec<u64> = self.pages.borrow().keys().copied().collect();
        known.sort_unstable();
        let read = self.read_ahead(&known);
        *self.pages.borrow_mut() = read.into_iter().collect();
        let mut once = self.once.borrow_mut();
        for ((address, length), bytes) in once.iter_mut() {
            let Ok(mut piece) = zeroed(*length) else { continue };
            let read = self.inner.read(TargetAddr::new(*address), &mut piece).is_ok();
            *bytes = read.then_some(piece);
        }
    }

    fn is_unreadable(&self, page: u64) -> bool {
        matches!(self.pages.borrow().get(&page), Some(None))
    }

    fn read_ahead(&self, numbers: &[u64]) -> Vec<(u64, Option<Box<[u8]>>)> {
        let mut runs: Vec<(u64, Vec<u8>)> = Vec::new();
        for page in numbers.iter().take(MAX_PAGES) {
            match runs.last_mut() {
                Some((start, bytes)) if bytes.len() < RUN && *start + bytes.len() as u64 / PAGE == *page => {
                    bytes.resize(bytes.len() + PAGE as usize, 0);
                }
                _ => runs.push((*page, vec![0; PAGE as usize])),
            }
        }
        let mut found = Vec::with_capacity(numbers.len());
        // A page that cannot be read spoils its run: its neighbours are read by themselves then.
        for _ in 0..2 {
            let mut pieces: Vec<(TargetAddr, &mut [u8])> =
                runs.iter_mut().map(|(start, bytes)| (TargetAddr::new(*start * PAGE), bytes.as_mut_slice())).collect();
            let read = self.inner.read_many(&mut pieces);
            self.reads.set(self.reads.get() + 1);
            let mut alone = Vec::new();
            for ((start, bytes), read) in runs.into_iter().zip(read) {
                let single = bytes.len() as u64 == PAGE;
                let pages = (start..).zip(bytes.chunks_exact(PAGE as usize));
                if read {
                    self.bytes.set(self.bytes.get() + bytes.len() as u64);
                    found.extend(pages.map(|(page, bytes)| (page, Some(bytes.into()))));
                } else if single {
                    found.push((start, None));
                } else {
                    alone.extend(pages.map(|(page, _)| (page, vec![0; PAGE as usize])));
                }
            }
            runs = alone;
            if runs.is_empty() {
                break;
            }
        }
        found
    }

    /// What the cache has done so far.
    pub fn statistics(&self) -> CacheStatistics {
        CacheStatistics { reads: self.reads.get(), pages: self.pages.borrow().len() as u64, bytes: self.bytes.get() }
    }

    fn read_inner(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.reads.set(self.reads.get() + 1);
        self.inner.read(addr, buf)?;
        self.bytes.set(self.bytes.get() + buf.len() as u64);
        Ok(())
    }

    /// Makes the pages `first..=last` (page numbers) present, up to the first that is not readable, which is marked.
    fn fill(&self, first: u64, last: u64) -> Result<(), TargetError> {
        if self.pages.borrow().len() as u64 + (last - first) + BLOCK > MAX_PAGES as u64 {
            self.pages.borrow_mut().clear();
        }
        let mut page = first;
        while page <= last {
            match self.pages.borrow().get(&page) {
                Some(Some(_)) => {
                    page += 1;
                    continue;
                }
                Some(None) => break,
                None => {}
            }
            // One read for each run of missing pages.
            let mut end = page + 1;
            while end <= last && !self.pages.borrow().contains_key(&end) {
                end += 1;
            }
            if !self.read_neighbours(page, end)? && !self.fill_run(page, end)? {
                break;
            }
            page = end;
        }
        Ok(())
    }

    /// Where a page beside the missing ones `start..end` is known already, reads everything missing around them in their
    /// block of pages at once: a program's small objects lie close together, and each read through a debugger
    /// costs microseconds. False where there is no such page, or not all of the block can be read.
    fn read_neighbours(&self, start: u64, end: u64) -> Result<bool, TargetError> {
        let (block, block_end) = (start / BLOCK * BLOCK, start / BLOCK * BLOCK + BLOCK);
        let (mut from, mut to) = (start, end);
        {
            let pages = self.pages.borrow();
            if end > block_end || !(block..block_end).any(|page| matches!(pages.get(&page), Some(Some(_)))) {
                return Ok(false);
            }
            while from > block && !pages.contains_key(&(from - 1)) {
                from -= 1;
            }
            while to < block_end && !pages.contains_key(&to) {
                to += 1;
            }
        }
        match self.read_pages(from, to) {
            Ok(()) => Ok(true),
            Err(error) if error.is_missing() => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn read_pages(&self, start: u64, end: u64) -> Result<(), TargetError> {
        let mut buf = zeroed(usize::try_from((end - start) * PAGE).unwrap_or(usize::MAX))?;
        self.read_inner(TargetAddr::new(start * PAGE), &mut buf)?;
        let mut pages = self.pages.borrow_mut();
        for (page, bytes) in (start..end).zip(buf.chunks_exact(PAGE as usize)) {
            pages.insert(page, Some(bytes.into()));
        }
        Ok(())
    }

    /// Reads the pages `start..end`; false where one of them is not readable, and then those after it are left out: what
    /// was asked for cannot be had, and a damaged length must not cost a read for each of its pages.
    fn fill_run(&self, start: u64, end: u64) -> Result<bool, TargetError> {
        match self.read_pages(start, end) {
            Ok(()) => Ok(true),
            Err(error) if error.is_missing() && end - start > 1 => {
                // Part of the run is not mapped: halve it, so that the readable part is still read in large pieces.
                let middle = start + (end - start) / 2;
                Ok(self.fill_run(start, middle)? && self.fill_run(middle, end)?)
            }
            Err(error) if error.is_missing() => {
                self.pages.borrow_mut().insert(start, None);
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }
}

impl<T: Target> Target for PageCache<T> {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        if buf.is_empty() {
            return Ok(());
        }
        let fault = || TargetError::Fault { addr, len: buf.len() as u64 };
        let last_byte = addr.checked_add(buf.len() as u64 - 1).ok_or_else(fault)?;
        let (first, last) = (addr.get() / PAGE, last_byte.get() / PAGE);
        if last - first >= MAX_PAGES as u64 {
            return self.read_inner(addr, buf);
        }
        self.fill(first, last)?;
        let pages = self.pages.borrow();
        let (mut page, mut skip) = (first, (addr.get() % PAGE) as usize);
        let mut done = 0;
        while done < buf.len() {
            let Some(Some(bytes)) = pages.get(&page) else {
                // A page that cannot be read as a whole may still hold these bytes (a mock, a mapping's odd end).
                drop(pages);
                if self.complete.get() && self.is_unreadable(page) {
                    return Err(TargetError::Fault { addr, len: buf.len() as u64 });
                }
                return self.read_inner(addr, buf);
            };
            let available = &bytes[skip..];
            let len = available.len().min(buf.len() - done);
            buf[done..done + len].copy_from_slice(&available[..len]);
            done += len;
            page += 1;
            skip = 0;
        }
        Ok(())
    }

    /// Large pieces that are visited once, such as pools of requests, would only fill the cache.
    fn read_once(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        let key = (addr.get(), buf.len());
        if let Some(Some(ahead)) = self.once.borrow_mut().get_mut(&key).map(Option::take) {
            buf.copy_from_slice(&ahead);
            return Ok(());
        }
        let mut once = self.once.borrow_mut();
        if once.len() < MAX_ONCE && once.keys().map(|(_, length)| length).sum::<usize>() + buf.len() <= MAX_ONCE_BYTES {
            once.insert(key, None);
        }
        drop(once);
        self.read_inner(addr, buf)
    }

    fn is_held(&self, addr: TargetAddr, len: usize) -> bool {
        self.inner.is_held(addr, len)
    }

    fn claim_members(&self, count: u64) -> Result<(), TargetError> {
        self.inner.claim_members(count)
    }

    fn stack_pointers(&self) -> Result<Vec<TargetAddr>, Reason> {
        self.inner.stack_pointers()
    }

    fn abi(&self) -> TargetAbi {
        self.inner.abi()
    }

    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        if let Some(known) = self.symbols.borrow().get(name) {
            return Ok(*known);
        }
        let found = self.inner.symbol(name)?;
        self.symbols.borrow_mut().insert(name.to_owned(), found);
        Ok(found)
    }

    fn symbols(&self) -> Result<Option<Vec<(String, Symbol)>>, TargetError> {
        self.inner.symbols()
    }

    fn function_at(&self, addr: TargetAddr) -> Result<Option<String>, TargetError> {
        self.inner.function_at(addr)
    }

    fn place_of(&self, addr: TargetAddr) -> Result<Option<CodePlace>, TargetError> {
        self.inner.place_of(addr)
    }

    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.inner.images()
    }
}
