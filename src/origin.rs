//! Where a session's process comes from: the system, a core file, a debugger or a recording.

use std::rc::Rc;

use super::target::{Debugger, DebuggerTarget};
use model::Facts;
use native::{Core, Live, Native, Process as _};
use recording::Replay;
use session::Known;
use target::address::TargetAddr;
use target::files::Reader;
use target::{CacheStatistics, CodePlace, Image, Reason, Symbol, Target, TargetAbi, TargetError};

/// A process of any kind.
pub enum Origin {
    /// Under a debugger, by its memory: a remote target, or one of another machine.
    Debugger(Native<DebuggerTarget>),
    /// Under a debugger, which knows where its threads stand; all else is read as without one.
    Held(Rc<Debugger>, Box<Origin>),
    /// A live process of this machine, without a debugger.
    Live(Native<Live>),
    /// A core file, without a debugger.
    Core(Native<Core>),
    /// Recorded.
    Recording(Box<Replay>),
}

impl Origin {
    fn target(&self) -> &dyn Target {
        match self {
            Self::Debugger(native) => native,
            Self::Held(_, origin) => origin.target(),
            Self::Live(native) => native,
            Self::Core(native) => native,
            Self::Recording(replay) => &**replay,
        }
    }

    fn known(&self) -> Option<&dyn Known> {
        match self {
            Self::Debugger(native) => Some(native),
            Self::Held(_, origin) => origin.known(),
            Self::Live(native) => Some(native),
            Self::Core(native) => Some(native),
            Self::Recording(replay) => Some(&**replay),
        }
    }

    /// Forgets memory, and with `images` what follows from the list of images. A recording never changes.
    pub fn forget(&self, images: bool) {
        match self {
            Self::Debugger(native) => {
                native.forget(images);
                if images {
                    native.memory().inner().drop_images();
                }
            }
            Self::Held(_, origin) => origin.forget(images),
            Self::Live(native) => native.forget(images),
            Self::Core(_) | Self::Recording(_) => {}
        }
    }

    /// Whose process it is, where root reads it.
    pub fn reader(&self) -> Option<Reader> {
        match self {
            Self::Held(_, origin) => origin.reader(),
            Self::Live(native) => native.memory().inner().reader(),
            Self::Core(native) => native.memory().inner().reader(),
            Self::Debugger(_) | Self::Recording(_) => None,
        }
    }

    /// What the page cache has done.
    pub fn statistics(&self) -> CacheStatistics {
        match self {
            Self::Debugger(native) => native.statistics(),
            Self::Held(_, origin) => origin.statistics(),
            Self::Live(native) => native.statistics(),
            Self::Core(native) => native.statistics(),
            Self::Recording(_) => CacheStatistics::default(),
        }
    }

    /// How many times the debugger itself was asked for a symbol.
    pub fn slow_lookups(&self) -> u64 {
        match self {
            Self::Debugger(native) => native.memory().inner().slow_lookups.get(),
            _ => 0,
        }
    }
}

impl Known for Origin {
    fn facts(&self, variables: &[&str]) -> Facts {
        match self {
            Self::Debugger(native) => {
                let mut facts = native.facts(variables);
                native.memory().inner().debugger().add_frames(&mut facts);
                facts
            }
            Self::Held(debugger, origin) => {
                let mut facts = origin.facts(variables);
                debugger.add_name(&mut facts);
                facts
            }
            Self::Live(native) => native.facts(variables),
            Self::Core(native) => native.facts(variables),
            Self::Recording(replay) => Known::facts(&**replay, variables),
        }
    }
    fn via(&self) -> Option<&'static str> {
        self.known().and_then(Known::via)
    }
    fn captured_at(&self) -> Option<String> {
        self.known().and_then(Known::captured_at)
    }
    fn begin(&self) -> bool {
        self.known().is_some_and(Known::begin)
    }
    fn missing(&self) -> Vec<TargetError> {
        self.known().map(Known::missing).unwrap_or_default()
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
    fn is_held(&self, addr: TargetAddr, len: usize) -> bool {
        self.target().is_held(addr, len)
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
    fn place_of(&self, addr: TargetAddr) -> Result<Option<CodePlace>, TargetError> {
        self.target().place_of(addr)
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.target().images()
    }
    fn stack_pointers(&self) -> Result<Vec<TargetAddr>, Reason> {
        self.target().stack_pointers()
    }
}
