//! A target that notes what is asked of it.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::ranges::{Range, RangeSet};
use target::address::TargetAddr;
use target::{CodePlace, Image, Reason, Symbol, Target, TargetAbi, TargetError};

/// Reads that failed are noted up to this many: a damaged list can fail at any number of places.
const MAX_FAULTS: usize = 10_000;

/// Places of code that are noted at most.
const MAX_PLACES: usize = 1 << 16;

/// Passes everything on to a target and notes it. Exactly the bytes that were asked for are noted, never their page: the
/// rest of it may be the user's data.
pub struct Recorder<'a> {
    inner: &'a dyn Target,
    pub(super) read: RefCell<RangeSet>,
    pub(super) faults: RefCell<Vec<Range>>,
    pub(super) symbols: RefCell<BTreeMap<String, Option<Symbol>>>,
    pub(super) stack_pointers: RefCell<Option<Vec<TargetAddr>>>,
    pub(super) places: RefCell<BTreeMap<u64, CodePlace>>,
}

impl<'a> Recorder<'a> {
    /// Nothing is noted yet.
    pub fn new(inner: &'a dyn Target) -> Self {
        let (read, faults, symbols) = (RefCell::default(), RefCell::default(), RefCell::default());
        Self { inner, read, faults, symbols, stack_pointers: RefCell::default(), places: RefCell::default() }
    }

    /// The target underneath.
    pub fn inner(&self) -> &'a dyn Target {
        self.inner
    }

    fn note<R>(&self, addr: TargetAddr, len: u64, result: Result<R, TargetError>) -> Result<R, TargetError> {
        match &result {
            Ok(_) => self.read.borrow_mut().add(Range::new(addr.get(), len)),
            Err(error) if error.is_missing() => {
                let mut faults = self.faults.borrow_mut();
                if faults.len() < MAX_FAULTS {
                    faults.push(Range::new(addr.get(), len));
                }
            }
            // The process is gone, or the debugger failed: nothing that a replay should repeat.
            Err(_) => {}
        }
        result
    }
}

impl Target for Recorder<'_> {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.note(addr, buf.len() as u64, self.inner.read(addr, buf))
    }

    fn read_once(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.note(addr, buf.len() as u64, self.inner.read_once(addr, buf))
    }

    /// Notes the string and its NUL only, not the bytes behind it that were read on the way.
    fn read_c_string(&self, addr: TargetAddr, max: usize) -> Result<Vec<u8>, TargetError> {
        let result = self.inner.read_c_string(addr, max);
        let len = result.as_ref().map_or(1, |text| (text.len() + 1).min(max));
        self.note(addr, len as u64, result)
    }

    fn stack_pointers(&self) -> Result<Vec<TargetAddr>, Reason> {
        let pointers = self.inner.stack_pointers()?;
        *self.stack_pointers.borrow_mut() = Some(pointers.clone());
        Ok(pointers)
    }

    fn abi(&self) -> TargetAbi {
        self.inner.abi()
    }

    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        let found = self.inner.symbol(name)?;
        self.symbols.borrow_mut().insert(name.to_owned(), found);
        Ok(found)
    }

    /// Notes the name as a symbol, but never instead of what a look-up of that name has said.
    fn function_at(&self, addr: TargetAddr) -> Result<Option<String>, TargetError> {
        let name = self.inner.function_at(addr)?;
        if let Some(name) = &name {
            let mut symbols = self.symbols.borrow_mut();
            symbols.entry(name.clone()).or_insert(Some(Symbol { addr, size: None }));
        }
        Ok(name)
    }

    fn place_of(&self, addr: TargetAddr) -> Result<Option<CodePlace>, TargetError> {
        let found = self.inner.place_of(addr)?;
        if let Some(place) = &found {
            let mut places = self.places.borrow_mut();
            if places.len() < MAX_PLACES {
                places.insert(addr.get(), place.clone());
            }
        }
        Ok(found)
    }

    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.inner.images()
    }
}
