//! Which frames of a stack are worth showing.

use hashbrown::HashSet;

use functions::{mpi_function, mpi_function_behind};
use model::{Frame, FrameLanguage, Process, Stack};

/// Functions by which programs and threads begin: of glibc, musl and the kernel's interface.
const STARTS: &[&str] = &[
    "_start",
    "_start_c",
    "__libc_start_main",
    "__libc_start_main_impl",
    "__libc_start_main_alias_2",
    "__libc_start_call_main",
    "libc_start_main_stage2",
    "start_thread",
    "__clone",
    "__clone3",
    "__clone_internal",
];

/// Those that an application may have itself.
const PLAIN_STARTS: &[&str] = &["clone", "clone3", "start", "thread_start"];

/// A frame as it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Shown<'a> {
    /// Its function; of MPI's as the application calls it.
    pub function: Option<&'a str>,
    /// Its source file; of MPI's functions none.
    pub file: Option<&'a str>,
    /// The line.
    pub line: Option<i64>,
    /// The language that an interpreter runs.
    pub language: Option<FrameLanguage>,
    /// The file of the code, where the function is not known.
    pub image: Option<&'a str>,
    /// Whether it is the outermost function of MPI.
    pub mpi: bool,
    /// Whether it is the application's; older recordings do not say.
    pub application: Option<bool>,
}

impl<'a> Shown<'a> {
    fn of_frame(frame: &'a Frame) -> Self {
        let function = frame.function.as_deref().filter(|name| !name.is_empty());
        Self {
            function,
            file: frame.file.as_deref(),
            line: frame.line,
            language: frame.language,
            image: if function.is_none() { frame.image.as_deref() } else { None },
            mpi: false,
            application: frame.application,
        }
    }

    fn of_mpi(function: &'a str) -> Self {
        Self { function: Some(function), mpi: true, application: Some(false), ..Self::default() }
    }
}

/// The frames of a stack that are shown, outermost first; at least one where it has any.
pub fn shown(stack: &Stack, internal: bool) -> Vec<Shown<'_>> {
    let frames = stack.frames.as_slice();
    let call = frames.iter().enumerate().rev().find_map(|(at, frame)| Some((at, in_mpi(frame)?)));
    if internal {
        return all(frames, call);
    }
    let inner = call.map_or(0, |(at, _)| at);
    let outer = outermost(frames).max(inner);
    let interpreters = interpreters(frames);
    let folded = |frame: &Frame| {
        let interpreter = || frame.image.as_deref().is_some_and(|image| interpreters.contains(image));
        frame.application != Some(true) && frame.language.is_none() && interpreter()
    };
    let mut shown: Vec<Shown<'_>> = Vec::new();
    for (at, frame) in frames.iter().enumerate().take(outer + 1).skip(inner).rev() {
        match call {
            Some((place, function)) if place == at => shown.push(Shown::of_mpi(function)),
            _ if frame.wrapper || folded(frame) => {}
            _ => shown.push(Shown::of_frame(frame)),
        }
    }
    if shown.is_empty() {
        shown.extend(frames.first().map(Shown::of_frame));
    }
    shown
}

fn all<'a>(frames: &'a [Frame], call: Option<(usize, &'a str)>) -> Vec<Shown<'a>> {
    let shown = |(at, frame): (usize, &'a Frame)| Shown {
        mpi: call.is_some_and(|(place, _)| place == at),
        ..Shown::of_frame(frame)
    };
    frames.iter().enumerate().rev().map(shown).collect()
}

/// The function of MPI that a frame is, without the `P` of the profiling interface, or that has jumped to it.
fn in_mpi(frame: &Frame) -> Option<&str> {
    let name = frame.function.as_deref()?;
    match mpi_function(name) {
        Some(public) => name.get(name.len().checked_sub(public.len())?..),
        None => mpi_function_behind(name),
    }
}

/// The place of the outermost frame that is worth showing: the application's; where none is known to be that, the one
/// before which there are only such as start programs and threads.
fn outermost(frames: &[Frame]) -> usize {
    // What is further out than one of these began it: the executable's own code, too.
    let begun = frames.iter().position(is_start).unwrap_or(frames.len());
    let frames = frames.get(..begun).unwrap_or_default();
    let own = |frame: &Frame| frame.application == Some(true) && !frame.wrapper;
    frames.iter().rposition(own).unwrap_or(begun.saturating_sub(1))
}

/// Whether a program or a thread begins with this function.
fn is_start(frame: &Frame) -> bool {
    let name = frame.function.as_deref().unwrap_or_default();
    let name = name.split('@').next().unwrap_or(name);
    let own = || frame.application == Some(true);
    frame.language.is_none() && (STARTS.contains(&name) || PLAIN_STARTS.contains(&name) && !own())
}

/// The files of the interpreters on a stack: of each frame of an interpreted language the next inner one runs it. One that has come
/// to its end has no such frames, and is known by the names of CPython's functions.
fn interpreters(frames: &[Frame]) -> HashSet<&str> {
    let runs = |pair: &'_ [Frame]| pair[0].language.is_none() && pair[1].language.is_some() && !pair[0].wrapper;
    let inner = frames.windows(2).filter(|pair| runs(pair)).map(|pair| &pair[0]);
    let is_python = |name: &str| ["Py_", "_Py_"].iter().any(|start| name.starts_with(start));
    let named = frames.iter().filter(|frame| frame.function.as_deref().is_some_and(is_python));
    inner.chain(named).filter_map(|frame| frame.image.as_deref()).collect()
}

/// The stack of the thread that the process began with; where that has ended, of the first of the others that the application has
/// made, if any.
pub fn main_thread(process: &Process) -> Option<&Stack> {
    let stacks = process.stacks.as_slice();
    let main = stacks.iter().find(|stack| stack.main == Some(true));
    // Where it is not known which one is, the first is better than none.
    let any = || stacks.iter().filter(|stack| stack.main.is_none()).min_by_key(|stack| stack.thread);
    let of_application = |stack: &Stack| stack.frames.iter().any(|frame| frame.application == Some(true));
    let other = || stacks.iter().min_by_key(|stack| (!of_application(stack), stack.thread));
    main.or_else(any).or_else(other)
}
