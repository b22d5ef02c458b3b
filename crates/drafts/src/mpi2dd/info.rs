//! The structure `MPI2DD_info`: what one process says of itself.

use serde::Serialize;

use super::strings::{Strings, Text};
use target::address::TargetAddr;
use target::{PointerWidth, TargetError};

/// The variable.
pub const SYMBOL: &str = "MPI2DD_info";

const MAGIC: [u8; 5] = *b"MPI2\x7f";
/// What the draft defines: a higher version or another variant may have other fields.
const VERSION: u8 = 1;
const VARIANT: u8 = 1;

/// `mpi_flags`: the process is a metadirectory.
pub const I_AM_METADIR: u32 = 0x01;
/// `mpi_flags`: the process is a directory.
pub const I_AM_DIR: u32 = 0x02;
/// `mpi_flags`: the process is a starter.
pub const I_AM_STARTER: u32 = 0x04;

/// Bits of `debugger_flags`, which the debugger sets.
const DEBUGGER_FLAGS: [(u32, &str); 3] = [(0x01, "GATE"), (0x02, "BEING_DEBUGGED"), (0x04, "REQUEST_DIRECTORY_EVENTS")];

/// Bits of `mpi_flags`, which the MPI sets.
const MPI_FLAGS: [(u32, &str); 7] = [
    (I_AM_METADIR, "I_AM_METADIR"),
    (I_AM_DIR, "I_AM_DIR"),
    (I_AM_STARTER, "I_AM_STARTER"),
    (0x08, "FORCE_TO_MAIN"),
    (0x10, "IGNORE_QUEUE"),
    (0x20, "ACQUIRED_PRE_MAIN"),
    (0x40, "PARTIAL_ATTACH_OK"),
];

/// Values of `debug_state`, from 1: why `MPI2DD_breakpoint` was called.
const DEBUG_STATES: [&str; 8] =
    ["START", "SPAWN", "CONNECT", "ACCEPT", "JOIN", "DIRECTORY_CHANGED", "METADIRECTORY_CHANGED", "ABORT"];

/// Why there is a variable `MPI2DD_info` and nothing can be taken from it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Whether it exists, or what it holds, cannot be read.
    #[error("its MPI2DD_info cannot be read: {0}")]
    Unreadable(#[from] TargetError),
    /// It does not begin as it must.
    #[error("its MPI2DD_info begins with the bytes {0:02x?}, and one of the MPI2DD interface with 'MPI2' and 7f")]
    Magic([u8; 5]),
    /// It is of another version of the interface.
    #[error("its MPI2DD_info is of version {0}, and only version 1 is known")]
    Version(u8),
    /// Its structures differ in a way that is not known.
    #[error("its MPI2DD_info is of version 1 in the variant {0}, and only variant 1 is known")]
    Variant(u8),
    /// The variable is too small to be it.
    #[error("its MPI2DD_info has {has} bytes, and the structure of the MPI2DD interface {needs} without its padding")]
    Size {
        /// As the symbol table says.
        has: u64,
        /// Of a target of this width.
        needs: u64,
    },
}

/// Where a table is, and how many entries it says to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TableAt {
    /// Its address, null for none.
    #[serde(serialize_with = "as_number")]
    pub address: TargetAddr,
    /// Number of its entries; nothing has checked it.
    pub size: i32,
}

/// What `MPI2DD_info` of one process says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Info {
    /// Where the variable is.
    #[serde(serialize_with = "as_number")]
    pub address: TargetAddr,
    /// Width of the target's pointers in bytes.
    pub pointer_width: PointerWidth,
    /// Why the breakpoint was called last, as its number; 0 where it was not.
    pub debug_state: u8,
    /// The draft's name of it without `MPI2DD_DEBUG_`; `None` for a number that the draft does not have.
    pub debug_state_name: Option<&'static str>,
    /// The bits that the debugger sets.
    pub debugger_flags: u32,
    /// Their names without `MPI2DD_FLAG_`; others as numbers.
    pub debugger_flag_names: Vec<String>,
    /// The bits that the MPI sets.
    pub mpi_flags: u32,
    /// Their names without `MPI2DD_MPIFLAG_`; others as numbers.
    pub mpi_flag_names: Vec<String>,
    /// The library for message queues that a debugger loads which is itself a program of 32 bits.
    pub dll_name_32: Option<String>,
    /// The same for a debugger of 64 bits.
    pub dll_name_64: Option<String>,
    /// The one of these two that fits this process of ours.
    pub dll_name: Option<String>,
    /// The host of a metadirectory.
    pub meta_host_name: Option<String>,
    /// Its executable.
    pub meta_executable_name: Option<String>,
    /// Its process id; 0 where none is named.
    pub meta_pid: i32,
    /// Why the MPI has aborted, where it has and says so.
    pub abort_string: Option<String>,
    /// The table of ranks.
    pub proctable: TableAt,
    /// The table of directories.
    pub directory: TableAt,
    /// The table of further metadirectories.
    pub metadirectory: TableAt,
    /// What of it cannot be read, in sentences.
    #[serde(skip)]
    pub problems: Vec<String>,
}

impl Info {
    /// Whether the MPI has set any of these flags of its own.
    pub fn is(&self, flags: u32) -> bool {
        self.mpi_flags & flags != 0
    }
}

/// What a process says of itself; `None` where it has no variable `MPI2DD_info`.
///
/// # Errors
/// Where the variable is not one of this interface, or cannot be read.
pub fn find(strings: &Strings<'_>) -> Result<Option<Info>, Refused> {
    let target = strings.target();
    let Some(symbol) = target.symbol(SYMBOL)? else { return Ok(None) };
    let abi = target.abi();
    let width = abi.pointer_width.bytes();
    // Bytes, two sets of flags, eight addresses, four numbers; the padding behind them is reserved.
    let needs = 16 + 8 * width + 16;
    if let Some(has) = symbol.size.filter(|&size| size != 0 && size < needs) {
        return Err(Refused::Size { has, needs });
    }
    let head = target.read_bytes(symbol.addr, 8)?;
    let magic: [u8; 5] = std::array::from_fn(|index| head[index]);
    match (magic, head[5], head[6]) {
        (MAGIC, VERSION, VARIANT) => {}
        (MAGIC, VERSION, variant) => return Err(Refused::Variant(variant)),
        (MAGIC, version, _) => return Err(Refused::Version(version)),
        (other, ..) => return Err(Refused::Magic(other)),
    }
    let bytes = target.read_bytes(symbol.addr, usize::try_from(needs).unwrap_or_default())?;
    let mut problems = Vec::new();
    let address = |index: u64| {
        let from = usize::try_from(16 + index * width).unwrap_or_default();
        TargetAddr::new(abi.uint(&bytes[from..from + width as usize]))
    };
    let number = |index: u64| {
        let from = usize::try_from(16 + 8 * width + 4 * index).unwrap_or_default();
        i32::try_from(abi.int(&bytes[from..from + 4])).unwrap_or_default()
    };
    let flags = |from: usize| u32::try_from(abi.uint(&bytes[from..from + 4])).unwrap_or_default();
    let mut text = |index: u64, field: &str| match strings.at(address(index)) {
        Text::Is(text) if !text.is_empty() => Some(text.to_string()),
        Text::Is(_) | Text::Null => None,
        Text::Not(reason) => {
            problems.push(format!("its {field} is not text: {reason}"));
            None
        }
    };
    let (dll_name_32, dll_name_64) = (text(0, "dll_name_32"), text(1, "dll_name_64"));
    let (debugger_flags, mpi_flags) = (flags(8), flags(12));
    Ok(Some(Info {
        address: symbol.addr,
        pointer_width: abi.pointer_width,
        debug_state: head[7],
        debug_state_name: head[7].checked_sub(1).and_then(|index| DEBUG_STATES.get(usize::from(index)).copied()),
        debugger_flags,
        debugger_flag_names: names(debugger_flags, &DEBUGGER_FLAGS),
        mpi_flags,
        mpi_flag_names: names(mpi_flags, &MPI_FLAGS),
        // A plug-in is loaded into our own process: it is our width that counts, not the target's.
        dll_name: if cfg!(target_pointer_width = "64") { dll_name_64.clone() } else { dll_name_32.clone() },
        dll_name_32,
        dll_name_64,
        meta_host_name: text(2, "meta_host_name"),
        meta_executable_name: text(3, "meta_executable_name"),
        abort_string: text(4, "abort_string"),
        proctable: TableAt { address: address(5), size: number(0) },
        directory: TableAt { address: address(6), size: number(1) },
        metadirectory: TableAt { address: address(7), size: number(2) },
        meta_pid: number(3),
        problems,
    }))
}

fn names(flags: u32, known: &[(u32, &str)]) -> Vec<String> {
    let named = known.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, name)| (*name).to_owned());
    let rest = known.iter().fold(flags, |rest, (bit, _)| rest & !bit);
    named.chain((rest != 0).then(|| format!("{rest:#x}"))).collect()
}

fn as_number<S: serde::Serializer>(address: &TargetAddr, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(address.get())
}
