//! What a thread waits for in the kernel that cannot be stopped: told from `/proc`, while it waits.

use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use calls::system_calls;
use target::files::file_system_of;
use target::processes;
use target::registers::Machine;
use target::{printable, printable_path};

use super::memory::Memory;
use super::threads;

/// PATH_MAX (include/uapi/linux/limits.h), in bytes.
const MOST_PATH: usize = 4096;

/// Calls that name a file by its path, and which argument that is.
const BY_PATH: [(&str, usize); 13] = [
    ("access", 0),
    ("faccessat", 1),
    ("lstat", 0),
    ("mkdir", 0),
    ("mkdirat", 1),
    ("newfstatat", 1),
    ("open", 0),
    ("openat", 1),
    ("rename", 0),
    ("stat", 0),
    ("statx", 1),
    ("unlink", 0),
    ("unlinkat", 1),
];

/// Where threads are while their control group is frozen by the first version of these (Linux, kernel/freezer.c).
const FROZEN: &str = "__refrigerator";

/// A wait in the kernel that nothing interrupts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KernelWait {
    /// The system call.
    call: Option<String>,
    /// The file on which it works, and the file system that is waited for.
    file: Option<(PathBuf, String)>,
    /// The function of the kernel in which the thread waits, where the kernel tells.
    function: Option<String>,
}

impl KernelWait {
    /// That of a thread.
    pub(super) fn of(thread: u32) -> Self {
        let status = threads::status(thread);
        let text = threads::system_call(thread).unwrap_or_default();
        let call = system_calls::of_proc(Machine::ours(), &text, None);
        let name = call.as_ref().and_then(|call| call.name.clone());
        let path = call.as_ref().and_then(|call| call.descriptor).map_or_else(
            || named_path(thread, name.as_deref()?, &text),
            |descriptor| Some(processes::place(thread).join(format!("fd/{descriptor}"))),
        );
        Self {
            call: name,
            file: path.and_then(|path| file_system_of(&path)),
            function: status.and_then(|status| status.waits_in),
        }
    }
}

/// The file that a call names, as the process sees it.
fn named_path(thread: u32, call: &str, text: &str) -> Option<PathBuf> {
    let (_, at) = BY_PATH.into_iter().find(|(name, _)| *name == call)?;
    let address = *system_calls::arguments(text)?.get(at)?;
    let memory = Memory::open(thread).ok()?;
    let mut name = Vec::new();
    // A path may end before its page does, and the next page may not be there.
    while name.len() < MOST_PATH {
        let mut byte = [0];
        memory.read_one(address.wrapping_add(name.len() as u64), &mut byte).ok()?;
        if byte == [0] {
            break;
        }
        name.extend(byte);
    }
    Some(threads::seen_by(thread, Path::new(OsStr::from_bytes(&name))))
}

impl fmt::Display for KernelWait {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.function.as_deref() == Some(FROZEN) {
            return f.write_str("because its cgroup is frozen");
        }
        match (&self.file, self.call.as_deref()) {
            (Some((path, system)), Some(call)) => {
                write!(f, "in {} of {}, for {system}", printable(call.as_bytes()), printable_path(path))?;
            }
            _ => f.write_str("for a disk or a file server perhaps")?,
        }
        match &self.function {
            Some(function) => write!(f, " (in {function})"),
            None => Ok(()),
        }
    }
}
