//! What the system tells of a process, and of this machine.

use std::fs;
use std::io::Read as _;
use std::time::{SystemTime, UNIX_EPOCH};

/// The environment that a process began with (proc(5), `/proc/PID/environ`).
#[derive(Debug, Clone, Default)]
pub struct Environment(Vec<u8>);

impl Environment {
    /// That of a live process; `None` where it may not be read.
    pub fn of(pid: u32) -> Option<Self> {
        /// A larger environment is not searched (bytes).
        const MOST: u64 = 4 << 20;
        let mut bytes = Vec::new();
        fs::File::open(target::processes::place(pid).join("environ")).ok()?.take(MOST).read_to_end(&mut bytes).ok()?;
        Some(Self(bytes))
    }

    /// Names and values, as far as they are text.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.split(|byte| *byte == 0).filter_map(|entry| std::str::from_utf8(entry).ok()?.split_once('='))
    }

    /// The value of a variable.
    pub fn value(&self, name: &str) -> Option<String> {
        let mut entries = self.0.split(|byte| *byte == 0);
        let value = entries.find_map(|one| one.strip_prefix(name.as_bytes())?.strip_prefix(b"="))?;
        Some(target::printable(value))
    }
}

/// The name of this machine.
pub fn host() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/hostname").ok().map(|name| name.trim_end().to_owned())
}

/// Seconds since 1970.
pub fn since_1970(at: SystemTime) -> f64 {
    at.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}
