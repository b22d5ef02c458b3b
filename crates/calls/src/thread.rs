//! The call of MPI on a thread's stack: where the application called it, and what it was given. Debuggers and readers of our
//! own have a [`Thread`]; what its frames mean is worked out here alone.

use crate::arguments::{CallArguments, KeptFiles, call_arguments};
use crate::source_calls::source_calls;
use crate::{Caller, Unknown, call_target};
use functions::wrapping::waits_around;
use functions::{c_name, mpi_function, outermost_mpi_function};
use model::SourceCall;
use target::TargetAbi;

/// A frame, as far as it decides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NamedFrame {
    /// Its function.
    pub function: Option<String>,
    /// Whether its code is the application's.
    pub application: bool,
    /// Whether its code is of an MPI's library.
    pub mpi: bool,
}

/// The stack of a thread; frames by their places, from the innermost, 0. All methods fail where there is no answer.
#[allow(clippy::missing_errors_doc)]
pub trait Thread {
    /// A frame that called a function of MPI.
    type Caller: Caller;

    /// How the process stores numbers.
    fn abi(&self) -> Result<TargetAbi, Unknown>;

    /// The program counter of a frame.
    fn counter(&self, at: usize) -> Result<u64, Unknown>;

    /// Memory of the process.
    fn read(&self, address: u64, length: usize) -> Result<Vec<u8>, Unknown>;

    /// The name of the function that begins at an address; `None` where none does.
    fn function_at(&self, address: u64) -> Result<Option<String>, Unknown>;

    /// A word for what the application has in a frame and in those that called it, out to `outermost` (`Call::fingerprint`).
    fn fingerprint(&self, at: usize, outermost: usize) -> Result<Option<String>, Unknown>;

    /// A frame, as the one that called MPI.
    fn caller(&self, at: usize) -> Result<Self::Caller, Unknown>;
}

/// What the stack of a thread says of its call.
#[derive(Debug, Default)]
pub struct ThreadCall {
    /// A function of MPI or OpenMP without a frame of its own, and the place at which that would stand.
    pub hidden: Option<(usize, String)>,
    /// `Call::fingerprint`.
    pub fingerprint: Option<String>,
    /// What the outermost function of MPI was given; `None` where there is none.
    pub arguments: Option<CallArguments>,
    /// The calls in the source around it, each with the place of its function's frame.
    pub around: Vec<(usize, SourceCall)>,
}

/// Finds the application's call of MPI on a stack.
pub fn thread_call<T: Thread>(frames: &[NamedFrame], thread: &T, kept: &KeptFiles) -> ThreadCall {
    let names: Vec<Option<String>> = frames.iter().map(|frame| frame.function.clone()).collect();
    let named = outermost_mpi_function(&names).map(|found| (beyond_mpi(frames, found.index + 1), found.c_name));
    let hidden = if named.is_none() { hidden_function(frames, thread) } else { None };
    let called = named.or_else(|| Some((hidden.as_ref()?.0, c_name(&mpi_function(&hidden.as_ref()?.1)?).into_owned())));
    // In a library's loop around a test what it does there changes, but not for whom.
    let mpi = called.as_ref().map(|(at, name)| (at.saturating_sub(1), name.as_str()));
    let loops = waits_around(names.iter().map(Option::as_deref), mpi).map(|(at, _)| at + 1);
    let called = called.filter(|_| loops.is_none());
    // Where it is not in MPI, the application's innermost frame tells whether it moves.
    let own = |wanted: &&NamedFrame| wanted.application;
    let first = loops.or_else(|| frames.iter().position(|frame| own(&frame)));
    let Some(at) = called.as_ref().map(|(at, _)| *at).or(first).filter(|at| *at < frames.len()) else {
        return ThreadCall { hidden, ..ThreadCall::default() };
    };
    let outermost = frames.iter().rposition(|frame| own(&frame)).map_or(at, |last| last.max(at));
    let fingerprint = thread.fingerprint(at, outermost).ok().flatten();
    let arguments = called.as_ref().map(|(_, function)| match thread.caller(at) {
        Ok(caller) => call_arguments(function, &caller, kept),
        Err(unknown) => CallArguments { arguments: Vec::new(), unknown: Some(unknown.to_string()) },
    });
    let given = called.as_ref().zip(arguments.as_ref());
    let given = given.map(|((_, function), given)| (function.as_str(), given.arguments.as_slice()));
    let around = source_calls(frames, thread, at, given, kept);
    ThreadCall { hidden, fingerprint, arguments, around }
}

/// The first frame from `at` outwards that is not of an MPI: the flight recorder's frame, which has no name, is between a
/// function of MPI and the code that calls it.
fn beyond_mpi(frames: &[NamedFrame], at: usize) -> usize {
    let outer = frames.get(at..).unwrap_or_default();
    at + outer.iter().position(|frame| !frame.mpi).unwrap_or(0)
}

/// The outermost frame that has called an MPI function without a frame: its place, and that function. It is the application's,
/// or of a library that the system has and that calls MPI (Debian's mpi4py, Boost.MPI).
///
/// In a stripped library an MPI function may have no frame of its own: the compiler ended it with a jump to another
/// function (Open MPI's MPI_Finalize, MPI_Waitall of MPICH 5.0), or moved its slow part to where no symbol is (MPI_Waitany
/// of Debian's MPICH 4.0.2). The caller's call instruction still says which function it called. Only code of x86-64 is
/// read. Where there is none of MPI, the same is told of OpenMP's: GOMP_barrier of libgomp ends with a jump, too.
fn hidden_function<T: Thread>(frames: &[NamedFrame], thread: &T) -> Option<(usize, String)> {
    if thread.abi().ok()? != TargetAbi::LITTLE_64 {
        return None;
    }
    let read = |address: u64, length: usize| thread.read(address, length).ok();
    let mut of_openmp = None;
    for (at, pair) in frames.windows(2).enumerate().rev() {
        let [inner, outer] = pair else { continue };
        let enters_mpi = !outer.mpi && inner.mpi || outer.application && !inner.application;
        if !enters_mpi {
            continue;
        }
        // Where a place cannot be looked at nothing is said of those further in.
        let Some(called) = call_target(thread.counter(at + 1).ok()?, &read, &read) else { continue };
        let Some(name) = thread.function_at(called).ok()? else { continue };
        if outermost_mpi_function(&[Some(name.clone())]).is_some() {
            return Some((at + 1, name));
        }
        if inner.function.is_none() && OPENMP.iter().any(|prefix| name.starts_with(prefix)) {
            of_openmp = Some((at + 1, name));
        }
    }
    of_openmp
}

/// What names of functions begin with that compilers call for OpenMP: of libgomp, of LLVM's and Intel's library, of the standard.
const OPENMP: [&str; 3] = ["GOMP_", "__kmpc_", "omp_"];
