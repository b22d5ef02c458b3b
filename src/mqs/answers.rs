//! The host's answers to what a plug-in asks through its callbacks.

use super::error::PluginError;
use super::server::PluginServer;
use super::wire::{MAX_FETCH, PAGE, Put, RUN, RUN_PAGES, Take};
use crate::address::TargetAddr;
use crate::layouts::LayoutError;
use crate::target::{TargetError, printable};

impl PluginServer<'_> {
    /// A source that failed, or knows something impossible, is another matter than one that does not know.
    fn layout_failure(&mut self, error: &LayoutError) {
        if !matches!(error, LayoutError::NoType { .. } | LayoutError::NoField { .. }) {
            self.message(error.to_string());
        }
    }

    pub(super) fn answer_run(&mut self, take: &mut Take<'_>, out: &mut Vec<u8>) -> Result<(), PluginError> {
        let start = take.u64().ok_or_else(|| self.nonsense("a short request"))?;
        let Some(asked) = &self.asked else { return Err(self.nonsense("a read without a target")) };
        let mut bytes = vec![0; RUN];
        match asked.target.read(TargetAddr::new(start), &mut bytes) {
            Ok(()) => {
                out.u32((1 << RUN_PAGES) - 1);
                out.bytes(&bytes);
                return Ok(());
            }
            Err(error @ TargetError::Gone) => return Err(error.into()),
            Err(_) => {}
        }
        let mut readable = 0_u32;
        let at = out.len();
        out.u32(0);
        for page in 0..RUN_PAGES {
            let piece = &mut bytes[..PAGE];
            match asked.target.read(TargetAddr::new(start).wrapping_add((page * PAGE) as u64), piece) {
                Ok(()) => {
                    readable |= 1 << page;
                    out.bytes(piece);
                }
                Err(error @ TargetError::Gone) => return Err(error.into()),
                Err(_) => {}
            }
        }
        out[at..at + 4].copy_from_slice(&readable.to_ne_bytes());
        Ok(())
    }

    pub(super) fn answer_read(&mut self, take: &mut Take<'_>, out: &mut Vec<u8>) -> Result<(), PluginError> {
        let (Some(addr), Some(len)) = (take.u64(), take.u32()) else { return Err(self.nonsense("a short request")) };
        let Some(asked) = &self.asked else { return Err(self.nonsense("a read without a target")) };
        let wanted = usize::try_from(len).ok().filter(|len| *len <= MAX_FETCH);
        let read = wanted.map(|len| asked.target.read_bytes(TargetAddr::new(addr), len));
        match read {
            Some(Ok(bytes)) => {
                out.u8(1);
                out.bytes(&bytes);
            }
            Some(Err(error @ TargetError::Gone)) => return Err(error.into()),
            _ => {
                out.u8(0);
                self.count_failed_read(addr, u64::from(len));
            }
        }
        Ok(())
    }

    pub(super) fn answer_symbol(&mut self, take: &mut Take<'_>, out: &mut Vec<u8>) -> Result<(), PluginError> {
        let name = take.text().ok_or_else(|| self.nonsense("a short request"))?;
        let Some(asked) = &self.asked else { return Err(self.nonsense("a symbol without a target")) };
        let name = printable(name);
        match asked.target.symbol(&name) {
            Ok(Some(symbol)) => {
                out.u8(1);
                out.u64(symbol.addr.get());
            }
            Ok(None) => out.u8(0),
            Err(error @ TargetError::Gone) => return Err(error.into()),
            Err(error) => {
                out.u8(0);
                self.message(format!("the symbol {name} could not be looked up: {error}"));
            }
        }
        Ok(())
    }

    pub(super) fn answer_type(&mut self, take: &mut Take<'_>, out: &mut Vec<u8>) -> Result<(), PluginError> {
        let name = take.text().ok_or_else(|| self.nonsense("a short request"))?;
        let Some(asked) = &self.asked else { return Err(self.nonsense("a type without a target")) };
        let name = printable(name);
        // The callback takes names as the debugger's types have them.
        let plain = name.strip_prefix("struct ").unwrap_or(&name);
        match asked.layouts.size_of(plain) {
            Ok(size) => {
                out.u8(1);
                out.u64(size);
            }
            Err(error) => {
                out.u8(0);
                self.miss(format!("the type {name}"));
                self.layout_failure(&error);
            }
        }
        Ok(())
    }

    pub(super) fn answer_field(&mut self, take: &mut Take<'_>, out: &mut Vec<u8>) -> Result<(), PluginError> {
        let (Some(name), Some(field)) = (take.text(), take.text()) else {
            return Err(self.nonsense("a short request"));
        };
        let Some(asked) = &self.asked else { return Err(self.nonsense("a field without a target")) };
        let (name, field) = (printable(name), printable(field));
        let plain = name.strip_prefix("struct ").unwrap_or(&name);
        match asked.layouts.field(plain, &field) {
            Ok(found) => {
                out.u8(1);
                out.u64(found.offset);
            }
            Err(error) => {
                out.u8(0);
                self.miss(format!("the field {name}.{field}"));
                self.layout_failure(&error);
            }
        }
        Ok(())
    }
}
