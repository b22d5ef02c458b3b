//! Python's frames among those of compiled code.

use model::{Frame, Stack};

use crate::find::{Found, is_eval};
use crate::frames::Frames;
use crate::threads::PythonThread;

/// The stack of each of Python's threads, by its place among the stacks; `None` where that is not certain.
pub(crate) fn stacks_of(threads: &[(PythonThread, Frames)], stacks: &[Stack], found: &Found) -> Vec<Option<usize>> {
    let is_of =
        |thread: &PythonThread, stack: &Stack| stack.kernel_thread.is_some_and(|own| thread.kernel.contains(&own));
    let mut matched: Vec<Option<usize>> = threads
        .iter()
        .map(|(thread, _)| only(stacks.iter().enumerate().filter(|(_, stack)| is_of(thread, stack)).map(|(at, _)| at)))
        .collect();
    // Two that claim the same stack do not know.
    let claims = matched.clone();
    for place in &mut matched {
        if place.is_some() && claims.iter().filter(|claim| *claim == &*place).count() > 1 {
            *place = None;
        }
    }
    // In a container the kernel's numbers are others; a last pair is certain all the same.
    let free = |stack: usize| !matched.contains(&Some(stack));
    let runs = |stack: &Stack| {
        let frames = || stack.frames.iter();
        frames().any(|frame| is_eval(frame.function.as_deref()))
    };
    let within = |stack: &Stack| stack.frames.iter().any(|frame| is_interpreters(frame, found));
    let named = stacks.iter().any(runs);
    let candidates =
        stacks.iter().enumerate().filter(|(at, stack)| free(*at) && if named { runs(stack) } else { within(stack) });
    let stack = only(candidates.map(|(at, _)| at));
    let running =
        threads.iter().enumerate().filter(|(at, (_, frames))| matched[*at].is_none() && !frames.groups.is_empty());
    if let (Some(stack), Some(thread)) = (stack, only(running.map(|(at, _)| at))) {
        matched[thread] = Some(stack);
    }
    matched
}

fn only<T>(mut found: impl Iterator<Item = T>) -> Option<T> {
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// Puts the frames of a thread into its stack, each behind the frame of the interpreter that runs it. Returns whether that is
/// where they belong: else their order is right, and their places among the application's compiled code are not known. (Of an
/// interpreter whose instructions are functions that call each other last, as 3.14 can be built, the functions have no names.)
pub(crate) fn put(stack: &mut Stack, frames: Frames, found: &Found) -> bool {
    let Frames { mut groups, unknown, cut } = frames;
    let evals: Vec<usize> = places(stack, |frame| is_eval(frame.function.as_deref()));
    let whole = stack.complete && unknown.is_none() && !cut;
    let (runs, have) = (evals.len(), groups.len());
    // How many groups stand further in than the innermost known function that runs one.
    let further_in = if runs == 0 || whole { have.saturating_sub(runs) } else { 0 };
    // How many of those functions have none: one that has only begun.
    let without = if whole { runs.saturating_sub(have) } else { 0 };
    let inner: Vec<Frame> = groups.drain(..further_in).flatten().collect();
    let innermost = places(stack, |frame| is_interpreters(frame, found)).first().copied();
    let exact = if whole { runs == have } else { runs > 0 };
    let outer = innermost.and_then(|at| stack.frames.get(at..)).unwrap_or(&stack.frames);
    let sure = exact || !outer.iter().any(|frame| frame.application == Some(true));
    let mut merged = Vec::new();
    let mut inner = Some(inner);
    let mut groups = groups.into_iter();
    let count = stack.frames.len();
    for (at, frame) in std::mem::take(&mut stack.frames).into_iter().enumerate() {
        merged.push(frame);
        if innermost == Some(at) || at + 1 == count {
            merged.extend(inner.take().into_iter().flatten());
        }
        if evals.iter().skip(without).any(|eval| *eval == at) {
            merged.extend(groups.next().into_iter().flatten());
        }
    }
    merged.extend(groups.flatten());
    stack.frames = merged;
    sure
}

fn places(stack: &Stack, is: impl Fn(&Frame) -> bool) -> Vec<usize> {
    stack.frames.iter().enumerate().filter(|(_, frame)| is(frame)).map(|(at, _)| at).collect()
}

/// Says of compiled frames which are of the interpreter, and which of mpi4py.
pub(crate) fn attribute(stack: &mut Stack, found: &Found) {
    for frame in &mut stack.frames {
        let mpi4py = frame.image.as_deref().is_some_and(is_mpi4py);
        if mpi4py || is_interpreters(frame, found) {
            frame.application = Some(false);
        }
        frame.wrapper |= mpi4py;
    }
}

/// Whether compiled code is the interpreter's.
fn is_interpreters(frame: &Frame, found: &Found) -> bool {
    let Some(image) = frame.image.as_deref() else { return is_eval(frame.function.as_deref()) };
    let name = file_name(image);
    let python = ["python3", "python", "libpython3"].iter().any(|begin| name.starts_with(begin));
    if python {
        return frame.language.is_none();
    }
    // A program that has an interpreter in itself: only its names tell.
    let own = found.image.as_deref().is_some_and(|own| own == image || file_name(own) == name);
    own && frame.function.as_deref().is_some_and(|name| name.starts_with("Py") || name.starts_with("_Py"))
}

/// Whether a file is mpi4py's extension: `mpi4py/MPI.cpython-311-x86_64-linux-gnu.so`, `mpi4py/MPI.mpich.cpython-312-….so`.
fn is_mpi4py(path: &str) -> bool {
    let mut parts = path.rsplit('/');
    let (name, folder) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    folder == "mpi4py" && name.starts_with("MPI.") && name.contains(".so")
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
