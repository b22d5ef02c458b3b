//! Why a core file is not read, and what it does not hold.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::file::ROOM;
use super::packed::Packing;
use super::storage;
use crate::address::TargetAddr;
use crate::files::Irregular;
use crate::{TargetError, printable};

/// Why a core file is not used. Paths are as they are shown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CoreError {
    /// It is no regular file.
    #[error("{path}: not a core file, but {what}")]
    Irregular {
        /// The core file.
        path: String,
        /// What it is.
        what: Irregular,
    },
    /// The kernel refuses.
    #[error("{path}: the core file cannot be read: {reason}")]
    Unreadable {
        /// The core file.
        path: String,
        /// What the kernel says.
        reason: String,
    },
    /// It is compressed, and no debugger reads it so.
    #[error("{path}: compressed by {}: debuggers read only uncompressed core files", packing.program())]
    Packed {
        /// The core file.
        path: String,
        /// How it is compressed.
        packing: Packing,
    },
    /// It is compressed, and damaged.
    #[error("{path}: compressed by {}, and cannot be unpacked: {reason}", packing.program())]
    NotUnpacked {
        /// The core file.
        path: String,
        /// How it is compressed.
        packing: Packing,
        /// What is wrong with it.
        reason: String,
    },
    /// It is compressed, and there is no place to unpack it.
    #[error("{path}: compressed, and no file can be written in {directory} to unpack it: {reason}")]
    NoPlace {
        /// The core file.
        path: String,
        /// The directory for temporary files.
        directory: String,
        /// What the kernel says.
        reason: String,
    },
    /// It is compressed, and there is too little space to unpack it.
    #[error("{path}: compressed, and {directory} has too little space to unpack it: {} MiB are free there", free >> 20)]
    NoRoom {
        /// The core file.
        path: String,
        /// The directory for temporary files.
        directory: String,
        /// How many bytes are free.
        free: u64,
    },
    /// It is compressed, and unpacked larger than any.
    #[error("{path}: compressed, and unpacked it exceeds the limit of {} GiB", most >> 30)]
    TooLong {
        /// The core file.
        path: String,
        /// How it is compressed.
        packing: Packing,
        /// The limit in bytes.
        most: u64,
    },
    /// Unpacking it was ended.
    #[error("{path}: unpacking it was interrupted")]
    Interrupted {
        /// The core file.
        path: String,
    },
    /// It is no ELF file.
    #[error("{path}: not a core file")]
    NotElf {
        /// The core file.
        path: String,
    },
    /// It is one of another kind of machine.
    #[error("{path}: a file of {machine}, and this machine is {}", std::env::consts::ARCH)]
    OtherMachine {
        /// The core file.
        path: String,
        /// What kind.
        machine: String,
    },
    /// It is an ELF file of another type.
    #[error("{path}: a program or library, not a core file")]
    NotCore {
        /// The core file.
        path: String,
    },
    /// It tells of no memory.
    #[error("{path}: a damaged core file: it has no memory segments")]
    NoSegments {
        /// The core file.
        path: String,
    },
    /// What tells of the process is missing at its end.
    #[error("{path}: the core file is truncated: {missing} bytes that describe the process are missing")]
    Truncated {
        /// The core file.
        path: String,
        /// How many bytes.
        missing: u64,
    },
    /// A file that was mapped is a FIFO now: debuggers open it.
    #[error("{path}: it names {name} as a file that was mapped, which is a FIFO: a debugger would wait there")]
    MappedFifo {
        /// The core file.
        path: String,
        /// The FIFO.
        name: String,
    },
    /// It does not tell its program, and nobody else did.
    #[error("{path}: does not say which program dumped it")]
    NoProgram {
        /// The core file.
        path: String,
    },
    /// Its program cannot be read.
    #[error("{path}: {program}{} cannot be read: {reason}", by_whom(named.as_ref()))]
    ProgramUnreadable {
        /// The core file.
        path: String,
        /// The program.
        program: String,
        /// Who named it: `None` for the core file itself, else what that names, if anything.
        named: Option<Option<String>>,
        /// What the kernel says.
        reason: String,
    },
    /// Another program dumped it.
    #[error("{path}: was not dumped by {program}, or that was recompiled since{}", also(named.as_deref()))]
    OtherProgram {
        /// The core file.
        path: String,
        /// The program that does not fit.
        program: String,
        /// What the core file names.
        named: Option<String>,
    },
    /// Its memory names something as a library that is no regular file.
    #[error(
        "{path}: it names {name} as a library, which is {what}: a debugger could wait there for ever, so none is used"
    )]
    IrregularLibrary {
        /// The core file.
        path: String,
        /// What it names.
        name: String,
        /// What that is.
        what: Irregular,
    },
}

fn by_whom(named: Option<&Option<String>>) -> String {
    named.map_or_else(|| ", the program that dumped it,".to_owned(), |named| also(named.as_deref()))
}

fn also(named: Option<&str>) -> String {
    named.map_or_else(String::new, |named| format!(" (the core file names {named})"))
}

impl CoreError {
    /// A stable word for scripts.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Unreadable { .. } => "no_core",
            Self::MappedFifo { .. } | Self::IrregularLibrary { .. } => "irregular",
            Self::NoProgram { .. } | Self::ProgramUnreadable { .. } => "no_exe",
            Self::OtherProgram { .. } => "wrong_exe",
            Self::Packed { .. } => "packed",
            Self::NoPlace { .. } | Self::NoRoom { .. } | Self::TooLong { .. } => "no_room",
            Self::Interrupted { .. } => "interrupted",
            _ => "not_core",
        }
    }

    /// The next thing to type, may be empty.
    pub fn help(&self) -> String {
        match self {
            Self::Irregular { .. } | Self::NoSegments { .. } | Self::Interrupted { .. } => String::new(),
            Self::Unreadable { path, .. } => storage::help(path),
            Self::Packed { path, packing } | Self::TooLong { path, packing, .. } => unpack(path, *packing),
            Self::NotUnpacked { path, packing, .. } => {
                format!("to see whether it is whole, type: {} -t {}", packing.program(), a_word(path))
            }
            Self::NoPlace { .. } | Self::NoRoom { .. } => {
                "name a directory with more space before the command: TMPDIR=DIRECTORY mpi-queues ...".to_owned()
            }
            Self::NotElf { path } => format!("to see what it is, type: file {path}"),
            Self::OtherMachine { .. } => "read it on a machine of its own kind".to_owned(),
            Self::NotCore { .. } => "name the core file with --core and the program with --exe".to_owned(),
            Self::Truncated { .. } => format!("dump it again; {ROOM}"),
            Self::MappedFifo { name, .. } => {
                format!("remove or rename it if it is yours, then type the same again: rm {}", a_word(name))
            }
            Self::NoProgram { .. } => "name it: --exe EXE".to_owned(),
            Self::ProgramUnreadable { path, .. } => {
                format!("name the program where it is now: --core {path} --exe EXE")
            }
            Self::OtherProgram { path, .. } => format!("name the one that dumped it: --core {path} --exe EXE"),
            Self::IrregularLibrary { name, .. } => format!("to see what is there, type: ls -l {}", a_word(name)),
        }
    }
}

/// How to have it as debuggers read it.
fn unpack(path: &str, packing: Packing) -> String {
    format!("type: {} -dc {} > core, and name that one", packing.program(), a_word(path))
}

/// One word of a shell's command (POSIX, "Quoting").
fn a_word(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"@%+=:,./_-".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\"'\"'"))
}

/// A path as it is shown.
pub(super) fn shown(path: impl AsRef<OsStr>) -> String {
    printable(path.as_ref().as_bytes())
}

/// Memory that a core file does not hold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{len} bytes at {addr} are not in the core file: {part}; {remedy}")]
pub struct LeftOut {
    /// First address that is missing.
    pub addr: TargetAddr,
    /// How many bytes were asked for from there on.
    pub len: u64,
    /// What of the process lies there, in words.
    pub part: String,
    /// What to do to have it.
    pub remedy: String,
}

/// Why memory of a core file could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// It is not there.
    #[error("{0}")]
    LeftOut(Box<LeftOut>),
    /// The kernel refuses.
    #[error("the core file {path} cannot be read: {reason}")]
    File {
        /// The core file.
        path: String,
        /// What the kernel says.
        reason: String,
    },
}

impl From<Unread> for TargetError {
    fn from(error: Unread) -> Self {
        match error {
            Unread::LeftOut(left_out) => {
                Self::NotInCore { addr: left_out.addr, len: left_out.len, text: left_out.to_string() }
            }
            // Nothing is said of the process: a disk fails.
            other @ Unread::File { .. } => Self::Debugger(other.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::a_word;

    #[test]
    fn words_of_a_shell() {
        assert_eq!(a_word("/tmp/a-b_1.so"), "/tmp/a-b_1.so");
        assert_eq!(a_word(""), "''");
        assert_eq!(a_word("/tmp/it's here"), "'/tmp/it'\"'\"'s here'");
    }
}
