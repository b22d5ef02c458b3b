//! A target made of segments and symbols, for tests, fuzzing and benchmarks.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::{Image, Reason, Symbol, Target, TargetAbi, TargetError};
use crate::address::TargetAddr;

/// Memory, symbols and images given by hand.
#[derive(Debug, Clone)]
pub struct MockTarget {
    abi: TargetAbi,
    segments: BTreeMap<u64, Vec<u8>>,
    symbols: BTreeMap<String, Symbol>,
    images: Vec<Image>,
    stacks: Vec<TargetAddr>,
    reads: Cell<u64>,
}

impl MockTarget {
    /// An empty target.
    pub fn new(abi: TargetAbi) -> Self {
        Self {
            abi,
            segments: BTreeMap::new(),
            symbols: BTreeMap::new(),
            images: Vec::new(),
            stacks: Vec::new(),
            reads: Cell::new(0),
        }
    }

    /// Maps `bytes` at `addr`. Segments must not overlap.
    pub fn add_segment(&mut self, addr: TargetAddr, bytes: Vec<u8>) -> &mut Self {
        self.segments.insert(addr.get(), bytes);
        self
    }

    /// Defines a symbol.
    pub fn add_symbol(&mut self, name: &str, addr: TargetAddr, size: Option<u64>) -> &mut Self {
        self.symbols.insert(name.to_owned(), Symbol { addr, size });
        self
    }

    /// Adds an image to the end of the list.
    pub fn add_image(&mut self, image: Image) -> &mut Self {
        self.images.push(image);
        self
    }

    /// Adds a thread whose stack ends there.
    pub fn add_stack(&mut self, pointer: TargetAddr) -> &mut Self {
        self.stacks.push(pointer);
        self
    }

    /// All segments, so that a test can damage them.
    pub fn segments_mut(&mut self) -> impl Iterator<Item = (TargetAddr, &mut Vec<u8>)> {
        self.segments.iter_mut().map(|(addr, bytes)| (TargetAddr::new(*addr), bytes))
    }

    /// How many reads there have been.
    pub fn reads(&self) -> u64 {
        self.reads.get()
    }
}

impl Target for MockTarget {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.reads.set(self.reads.get() + 1);
        let fault = TargetError::Fault { addr, len: buf.len() as u64 };
        let mut at = addr.get();
        let mut rest = buf;
        while !rest.is_empty() {
            // A read may run over the border of two segments that touch.
            let (start, bytes) = self.segments.range(..=at).next_back().ok_or_else(|| fault.clone())?;
            let skip = usize::try_from(at - start).map_err(|_| fault.clone())?;
            let available = bytes.get(skip..).filter(|tail| !tail.is_empty()).ok_or_else(|| fault.clone())?;
            let len = available.len().min(rest.len());
            rest[..len].copy_from_slice(&available[..len]);
            rest = &mut rest[len..];
            at = at.checked_add(len as u64).ok_or_else(|| fault.clone())?;
        }
        Ok(())
    }

    fn abi(&self) -> TargetAbi {
        self.abi
    }

    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        Ok(self.symbols.get(name).copied())
    }

    fn function_at(&self, addr: TargetAddr) -> Result<Option<String>, TargetError> {
        Ok(self.symbols.iter().rfind(|(_, symbol)| symbol.addr == addr).map(|(name, _)| name.clone()))
    }

    fn stack_pointers(&self) -> Result<Vec<TargetAddr>, Reason> {
        Ok(self.stacks.clone())
    }

    fn images(&self) -> Result<Vec<Image>, TargetError> {
        Ok(self.images.clone())
    }
}
