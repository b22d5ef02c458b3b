//! A thread, as `calls` asks for it.

use std::rc::Rc;

use calls::Unknown;
use target::address::TargetAddr;
use target::{Target, TargetAbi};

use super::caller::NativeCaller;
use super::walked::Walked;
use crate::process::Process;
use crate::stacks::Shared;

/// A thread with its stack.
pub(super) struct NativeThread<P: Process> {
    pub(super) shared: Rc<Shared<P>>,
    pub(super) walked: Rc<Walked>,
}

impl<P: Process + 'static> calls::Thread for NativeThread<P> {
    type Caller = NativeCaller<P>;

    fn abi(&self) -> Result<TargetAbi, Unknown> {
        Ok(self.shared.memory.abi())
    }

    fn counter(&self, at: usize) -> Result<u64, Unknown> {
        self.walked.shown.get(at).and_then(|shown| self.walked.pc(shown)).ok_or_else(gone)
    }

    fn read(&self, address: u64, length: usize) -> Result<Vec<u8>, Unknown> {
        read(&self.shared, address, length)
    }

    fn function_at(&self, address: u64) -> Result<Option<String>, Unknown> {
        let function = || {
            let loaded = self.shared.images.loaded(address)?;
            loaded.file.as_ref()?.object.function_starting_at(address.wrapping_sub(loaded.bias))
        };
        Ok(function())
    }

    fn fingerprint(&self, at: usize, outermost: usize) -> Result<Option<String>, Unknown> {
        Ok(self.shared.fingerprints.of(&self.shared, &self.walked, at, outermost))
    }

    fn caller(&self, at: usize) -> Result<NativeCaller<P>, Unknown> {
        NativeCaller::new(Rc::clone(&self.shared), Rc::clone(&self.walked), at)
    }
}

pub(super) fn gone() -> Unknown {
    Unknown::new("the frame is not there")
}

/// Memory of the process.
pub(super) fn read<P: Process>(shared: &Shared<P>, address: u64, length: usize) -> Result<Vec<u8>, Unknown> {
    shared
        .memory
        .read_bytes(TargetAddr::new(address), length)
        .map_err(|_| Unknown::new(format!("the memory at {address:#x} cannot be read")))
}
