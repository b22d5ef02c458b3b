//! Core files of Linux, without a debugger: memory, threads, and the files that were mapped.
//!
//! ELF(5), core(5). The notes are written by fs/binfmt_elf.c of Linux, and alike by gdb's gcore.
//!
//! Debuggers answer zeros for memory that a core file names but does not hold (gdb 13, `core_target::xfer_partial` in
//! gdb/corelow.c), so that a list left out of the dump would look empty. Here what the file's own segments do not hold
//! comes from the files that were mapped, where nobody can have changed it, or is an error that names the missing part.

mod check;
mod elf;
mod environment;
mod error;
mod file;
mod libraries;
mod mapped;
mod notes;
mod packed;
mod places;
mod process;
mod program;
mod storage;

pub use crate::registers::Registers;
pub use check::checked;
pub use error::{CoreError, LeftOut, Unread};
pub use file::CoreFile;
pub use libraries::named_libraries;
pub use notes::{MappedFile, Thread};
pub use packed::{Packing, packing};
pub use places::Region;
pub use process::CoreProcess;
