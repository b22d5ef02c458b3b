//! The frame that called an MPI function, as a debugger has it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use crate::Unknown;
use crate::expression::Scope;
use crate::words::grouped;
use functions::constants::Family;
use model::Argument;
use target::files::Reader;
use target::{ByteOrder, PointerWidth, TargetAbi};

/// An array with more elements is read so far.
const MAX_ELEMENTS: i64 = 100_000;

/// A frame that has called another, of a function that was not inlined.
#[derive(Debug, Clone)]
pub struct Frame {
    /// The file with its debug information.
    pub path: PathBuf,
    /// Its ELF build-id, where the debugger knows it.
    pub build_id: Option<String>,
    /// The program counter.
    pub pc: u64,
    /// Where `.text` of that file begins in memory.
    pub text: u64,
    /// The registers that it still has, by their names.
    pub registers: HashMap<String, u64>,
    /// The canonical frame address.
    pub cfa: Option<u64>,
}

/// The frames from one outwards.
pub type Frames<'c> = Box<dyn Iterator<Item = Result<Frame, Unknown>> + 'c>;

/// The frame that called an MPI function. All methods fail where there is no answer.
#[allow(clippy::missing_errors_doc)]
pub trait Caller {
    /// What names mean in it.
    type Scope: Scope;

    /// Path of the source file of the call, `None` where there is no debug information.
    fn file(&self) -> Result<Option<PathBuf>, Unknown>;

    /// Its line there.
    fn line(&self) -> Result<Option<i64>, Unknown>;

    /// When the program or library of the frame was built (modification time of its file, in seconds), `None` where that is
    /// not known.
    fn built(&self) -> Result<Option<f64>, Unknown>;

    /// For whom the sources are read that the program's debug information names; `None`: for whoever runs this.
    fn reader(&self) -> Result<Option<Reader>, Unknown>;

    /// Whose constants of MPI the program has, `None` where that is not known.
    fn family(&self) -> Result<Option<Family>, Unknown>;

    /// The address of a symbol of the program.
    fn symbol(&self, name: &str) -> Result<Option<i128>, Unknown>;

    /// What names mean in the frame. Fails where the frame is gone.
    fn scope(&self, fortran: bool) -> Result<Self::Scope, Unknown>;

    /// The frame and those that called it, outwards, as far as they are known.
    fn frames(&self) -> Result<Frames<'_>, Unknown>;

    /// How the process stores numbers.
    fn abi(&self) -> Result<TargetAbi, Unknown>;

    /// Memory of the process.
    fn read(&self, address: u64, length: usize) -> Result<Vec<u8>, Unknown>;

    /// Code of the process, also where it is in no memory.
    fn read_code(&self, address: u64, length: usize) -> Result<Vec<u8>, Unknown>;

    /// The processor's time that this thread has taken so far.
    fn processor_time(&self) -> Result<Duration, Unknown>;
}

/// Where the call before `after` led to, by the code of a process; `None` where that is not known.
pub(crate) fn called_by<C: Caller>(caller: &C, after: u64) -> Result<Option<u64>, Unknown> {
    let abi = caller.abi()?;
    if abi.pointer_width != PointerWidth::Eight || abi.byte_order != ByteOrder::Little {
        return Ok(None);
    }
    Ok(crate::call_target(after, &|at, length| caller.read_code(at, length).ok(), &|at, length| {
        caller.read(at, length).ok()
    }))
}

/// Integers or handles of `width` bytes (4 or 8) that lie one after another.
pub(crate) fn integers<C: Caller>(caller: &C, address: u64, count: usize, width: u64) -> Result<Vec<i64>, Unknown> {
    let width = if width == 4 { 4 } else { 8 };
    let bytes = caller.read(address, width * count)?;
    if bytes.len() != width * count {
        return Err(Unknown::new(format!("the memory at {address:#x} cannot be read")));
    }
    let abi = caller.abi()?;
    Ok(bytes.chunks_exact(width).map(|bytes| abi.int(bytes)).collect())
}

/// The lower bytes, with their sign.
pub(crate) fn narrow(value: u64, bytes: u64) -> i64 {
    if bytes == 4 { i64::from(value as i32) } else { value as i64 }
}

/// Adds the handles of an array that has as many as the argument `length` among those `before` says.
pub(crate) fn add_elements<C: Caller>(
    caller: &C,
    argument: &mut Argument,
    length: &str,
    before: &[Argument],
    width: u64,
) -> Result<(), Unknown> {
    let count = before.iter().find(|one| one.name == length).and_then(|one| one.value);
    let (Some(count), Some(address)) = (count, argument.value) else {
        return Err(Unknown::new(format!("its elements are not known, because {length} is not")));
    };
    let read = usize::try_from(count.min(MAX_ELEMENTS)).unwrap_or(0);
    argument.values = Some(if read == 0 { Vec::new() } else { integers(caller, address as u64, read, width)? });
    if count > MAX_ELEMENTS {
        let (count, most) = (grouped(count.unsigned_abs()), grouped(MAX_ELEMENTS.unsigned_abs()));
        argument.unknown = Some(format!("the first {most} of {count} elements were read").into());
    }
    Ok(())
}
