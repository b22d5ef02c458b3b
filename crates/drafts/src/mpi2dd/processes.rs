//! The processes that tables name.

use target::Target;

/// The processes of this machine, and which those are.
pub trait Processes {
    /// Whether a host's name or address means this machine.
    fn is_here(&self, host: &str) -> bool;

    /// A process of this machine. `named` is its executable as a table says.
    ///
    /// # Errors
    /// Where it has ended, or cannot be read.
    fn open(&self, pid: i32, named: Option<&str>) -> Result<Opened, NotOpened>;
}

/// A process that can be read.
pub struct Opened {
    /// Its memory and symbols.
    pub target: Box<dyn Target>,
    /// Its executable as the kernel says.
    pub executable: String,
    /// Whether that is the file that was named; also where none was.
    pub agrees: bool,
}

/// Why a process cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotOpened {
    /// There is none of that id.
    Ended,
    /// A sentence.
    Failed(String),
}

/// A process on a host; on this machine, whatever its name, where there is no host.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub(super) elsewhere: Option<String>,
    pub(super) pid: i32,
}

impl Place {
    pub(super) fn of(processes: &dyn Processes, host: Option<&str>, pid: i32) -> Self {
        // A table that does not name the host is taken to mean its own: the process must prove to be meant anyway.
        let elsewhere = host.filter(|host| !processes.is_here(host)).map(ToOwned::to_owned);
        Self { elsewhere, pid }
    }

    /// How sentences call it.
    pub(super) fn name(&self) -> String {
        match &self.elsewhere {
            None => format!("pid {}", self.pid),
            Some(host) => format!("pid {} on {host}", self.pid),
        }
    }
}
