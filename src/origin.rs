//! Where a session's process comes from: a debugger or a recording.

use std::rc::Rc;

use super::target::{Debugger, DebuggerTarget};
use model::Facts;
use recording::Replay;
use target::address::TargetAddr;
use target::{CacheStatistics, Image, PageCache, Symbol, Target, TargetAbi, TargetError};

/// A process under a debugger, or a recorded one.
pub enum Origin {
    /// Under a debugger.
    Debugger(Rc<Debugger>, PageCache<DebuggerTarget>),
    /// Recorded.
    Recording(Box<Replay>),
}

impl Origin {
    fn target(&self) -> &dyn Target {
        match self {
            Self::Debugger(_, cached) => cached,
            Self::Recording(replay) => &**replay,
        }
    }

    /// What is known besides memory; `variables` are those of the environment.
    pub fn facts(&self, variables: &[&str]) -> Facts {
        match self {
            Self::Debugger(debugger, _) => debugger.facts(variables),
            Self::Recording(replay) => replay.description.facts.clone(),
        }
    }

    /// How memory is read now, where that is not how the debugger read it.
    pub fn via(&self) -> Option<&'static str> {
        match self {
            Self::Debugger(..) => None,
            Self::Recording(_) => Some("recording"),
        }
    }

    /// When the process was as it is read, for a recording.
    pub fn captured_at(&self) -> Option<String> {
        match self {
            Self::Debugger(..) => None,
            Self::Recording(replay) => replay.description.captured_at.clone(),
        }
    }

    /// A new reading begins: what a recording lacked in the last one does not count.
    pub fn begin(&self) {
        if let Self::Recording(replay) = self {
            replay.forget_missing();
        }
    }

    /// The errors of reads for which the recording has nothing.
    pub fn missing(&self) -> Vec<TargetError> {
        match self {
            Self::Debugger(..) => Vec::new(),
            Self::Recording(replay) => replay.missing(),
        }
    }

    /// Forgets memory, and with `images` what follows from the list of images. A recording never changes.
    pub fn forget(&self, images: bool) {
        if let Self::Debugger(_, cached) = self {
            cached.drop_memory();
            if images {
                cached.drop_symbols();
                cached.inner().drop_images();
            }
        }
    }

    /// What the page cache has done.
    pub fn statistics(&self) -> CacheStatistics {
        match self {
            Self::Debugger(_, cached) => cached.statistics(),
            Self::Recording(_) => CacheStatistics::default(),
        }
    }

    /// How many times the debugger itself was asked for a symbol.
    pub fn slow_lookups(&self) -> u64 {
        match self {
            Self::Debugger(_, cached) => cached.inner().slow_lookups.get(),
            Self::Recording(_) => 0,
        }
    }
}

impl Target for Origin {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.target().read(addr, buf)
    }
    fn read_once(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.target().read_once(addr, buf)
    }
    fn read_c_string(&self, addr: TargetAddr, max: usize) -> Result<Vec<u8>, TargetError> {
        self.target().read_c_string(addr, max)
    }
    fn abi(&self) -> TargetAbi {
        self.target().abi()
    }
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        self.target().symbol(name)
    }
    fn symbols(&self) -> Result<Option<Vec<(String, Symbol)>>, TargetError> {
        self.target().symbols()
    }
    fn function_at(&self, addr: TargetAddr) -> Result<Option<String>, TargetError> {
        self.target().function_at(addr)
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.target().images()
    }
}
