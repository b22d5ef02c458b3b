//! Python in a process: the frames of CPython's interpreter by file, line and function, among those of compiled code.
//!
//! Everything is read through [`target::Target`], field by field, so that a recording holds names and places of code and
//! nothing else. Every object is looked at before it is believed; what is not as its release has it is a reason in words.

mod code;
mod dictionary;
mod error;
mod exceptions;
mod find;
mod frames;
mod layout;
mod lines;
mod memory;
mod merge;
mod offsets;
mod places;
mod threads;

pub use error::PythonError;

use model::{Exception, Stack};
use target::Target;

use crate::code::Codes;
use crate::find::Found;
use crate::frames::Frames;
use crate::memory::Memory;
use crate::threads::PythonThread;

/// So many notes about threads are told of a process.
const NOTES: usize = 16;

/// What is known of Python in a process, besides the frames in its stacks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Told {
    /// What is not known of its frames, in sentences.
    pub notes: Vec<String>,
    /// The exceptions that its threads handle, and the one that ended its program.
    pub exceptions: Vec<Exception>,
    /// Whether the interpreter has ended, and nothing of its program is there any more.
    pub ended: bool,
}

/// Adds to the stacks of a process the frames of Python that its interpreter runs, and tells of its exceptions. A process
/// without an interpreter stays as it is.
pub fn add_frames(target: &dyn Target, stacks: &mut [Stack]) -> Told {
    let mut told = Told::default();
    let found = match find::find(target, stacks) {
        Ok(Some(found)) => found,
        Ok(None) => return told,
        Err(error) => {
            told.notes.push(not_known(&error));
            return told;
        }
    };
    for stack in stacks.iter_mut() {
        merge::attribute(stack, &found);
    }
    let memory = Memory::new(target, found.layout);
    let codes = Codes::default();
    match threads::threads(&memory, &found) {
        Ok(threads) => {
            told.ended = threads.is_empty() && threads::have_ended(&memory, &found);
            let read = |thread: PythonThread| {
                let frames = frames::frames(&memory, &codes, &thread);
                (thread, frames)
            };
            place(&memory, &codes, threads.into_iter().map(read).collect(), stacks, &found, &mut told);
        }
        Err(error) => told.notes.push(not_known(&error)),
    }
    told
}

fn not_known(error: &PythonError) -> String {
    match error {
        PythonError::Target(error) if error.is_not_recorded() => {
            "Python's frames are not in this recording: record again with this version".to_owned()
        }
        other => format!("Python's frames are not known: {other}"),
    }
}

fn place(
    memory: &Memory<'_>,
    codes: &Codes,
    threads: Vec<(PythonThread, Frames)>,
    stacks: &mut [Stack],
    found: &Found,
    told: &mut Told,
) {
    let places = merge::stacks_of(&threads, stacks, found);
    // A program that has ended runs no more of its code; while it runs, an exception may be one of long ago.
    let interpreter = threads.first().map(|(thread, _)| thread.interpreter);
    let ended = interpreter.filter(|_| threads.iter().all(|(_, frames)| !frames.may_run_a_program()));
    if let Some(exception) = ended.and_then(|ended| exceptions::unhandled(memory, codes, ended).ok().flatten()) {
        told.exceptions.push(exception);
    }
    let mut homeless = 0;
    let mut notes = Vec::new();
    if memory.layout.exceptions.is_none() && !threads.is_empty() {
        notes.push("not known which exceptions Python handles: it is a build of CPython without its lock".to_owned());
    }
    for ((python, frames), stack) in threads.into_iter().zip(places) {
        let handled = exceptions::handled(memory, codes, &python);
        let Some(stack) = stack.and_then(|at| stacks.get_mut(at)) else {
            homeless += usize::from(!frames.groups.is_empty());
            notes.extend(frames.unknown.as_ref().map(not_known));
            continue;
        };
        let thread = stack.thread;
        let mut note = |what: String| notes.push(format!("thread {thread}: {what}"));
        match handled {
            Ok(handled) => {
                told.exceptions.extend(handled.map(|one| Exception { thread: Some(thread), ..one }));
            }
            Err(error) => note(format!("not known whether it handles a Python exception: {error}")),
        }
        if let Some(error) = &frames.unknown {
            note(format!("Python's frames further out are not known: {error}"));
        }
        if frames.cut {
            note("Python's frames are too many, and those furthest out are not shown".to_owned());
        }
        if !frames.groups.is_empty() && !merge::put(stack, frames, found) {
            let what = "Python's frames are in order, but not known is where they are among those of compiled code";
            note(what.to_owned());
        }
    }
    if homeless > 0 {
        let what = "of Python's threads are not shown: not known which threads these are";
        told.notes.push(format!("the frames of {homeless} {what}"));
    }
    let more = notes.len().saturating_sub(NOTES);
    told.notes.extend(notes.into_iter().take(NOTES));
    if more > 0 {
        told.notes.push(format!("{more} more such notes about threads of Python are not shown"));
    }
}
