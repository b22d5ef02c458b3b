//! A process as the callbacks give it: memory, byte order, and what the debugger calls by a name.

use std::cell::RefCell;
use std::collections::HashMap;

use target::address::TargetAddr;
use target::{Image, Symbol, Target, TargetAbi, TargetError};

use crate::debugger::Debuggee;

/// A process without images: only the debugger knows its symbols.
pub struct Memory {
    /// Whom to ask.
    pub debuggee: Debuggee,
    /// What the debugger has said of names: each question may cost it milliseconds.
    known: RefCell<HashMap<String, Option<u64>>>,
}

impl Memory {
    /// Nothing is asked yet.
    pub fn new(debuggee: Debuggee) -> Self {
        Self { debuggee, known: RefCell::default() }
    }

    /// A library may have been loaded: names are asked for anew.
    pub fn forget(&self) {
        self.known.borrow_mut().clear();
    }
}

impl Target for Memory {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        let fault = TargetError::Fault { addr, len: buf.len() as u64 };
        // Some debuggers read from 0 without a word.
        if buf.is_empty() || (!addr.is_null() && self.debuggee.fetch(addr.get(), buf)) { Ok(()) } else { Err(fault) }
    }

    fn abi(&self) -> TargetAbi {
        self.debuggee.abi
    }

    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        if let Some(known) = self.known.borrow().get(name) {
            return Ok(known.map(symbol));
        }
        let found = self.debuggee.find_symbol(name);
        self.known.borrow_mut().insert(name.to_owned(), found);
        Ok(found.map(symbol))
    }

    fn images(&self) -> Result<Vec<Image>, TargetError> {
        Ok(Vec::new())
    }
}

/// Its size the interface does not tell.
fn symbol(address: u64) -> Symbol {
    Symbol { addr: TargetAddr::new(address), size: None }
}
