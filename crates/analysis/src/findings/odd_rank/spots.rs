//! Where processes stand, so that two of them can be compared: the application's frames, and the function of MPI.

use hashbrown::HashMap;

use functions::{Chapter, Reach, WaitKind, c_name, wait_kind};
use model::{Process, Stack, Standing};

use super::super::Context;
use crate::job::ProcIndex;
use crate::stacks::{Shown, main_thread, shown};
use crate::waits::{Finished, Free, ProcState};

/// How a process is at where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Manner {
    /// It waits for messages, or for requests.
    Messages,
    /// It waits in a collective operation of which one member is the root.
    Rooted,
    /// It waits in another collective operation, or in anything else.
    Waits,
    /// It is in a function of MPI that looks and returns.
    Polls,
    /// It is outside MPI.
    Outside,
    /// It has ended, or is past MPI_Finalize.
    Finished,
}

/// A frame of the application: a number for its function in its file, and the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step {
    /// The function: the same number for the same one.
    pub function: usize,
    /// The line, where it is known.
    pub line: Option<i64>,
}

/// Where a process stands.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Spot {
    /// The application's frames, outermost first. Of a function that is there several times only the innermost, without what
    /// lies between: how deep a recursion is says nothing.
    pub path: Vec<Step>,
    /// The function of MPI, by its name in C; `None` outside.
    pub function: Option<String>,
    /// How it is there.
    pub manner: Manner,
}

/// Where all stand.
#[derive(Debug, Default)]
pub struct Spots<'a> {
    /// By process; `None` where it is not known.
    pub by_proc: Vec<Option<usize>>,
    /// The different spots.
    pub all: Vec<Spot>,
    /// By the number of a function: its name and its file.
    pub functions: Vec<(Option<&'a str>, Option<&'a str>)>,
}

impl<'a> Spots<'a> {
    /// Looks where each process stands: at its stack where all have them, else at what was made of these.
    pub fn new(context: &Context<'a>) -> Self {
        let mut spots = Self::default();
        let mut functions = HashMap::new();
        let mut places = HashMap::new();
        let procs = &context.job.procs;
        let with_stacks = context.snapshot.processes.iter().all(|process| !process.stacks.is_empty());
        for at in 0..procs.len() {
            let state = context.waits.states.get(at);
            let spot = context.now(ProcIndex(at)).zip(state).and_then(|(process, state)| {
                let mut number = |function, file| {
                    *functions.entry((function, file)).or_insert_with(|| {
                        spots.functions.push((function, file));
                        spots.functions.len() - 1
                    })
                };
                spot(process, state, with_stacks, &mut number)
            });
            spots.by_proc.push(spot.map(|spot| match places.get(&spot) {
                Some(place) => *place,
                None => {
                    places.insert(spot.clone(), spots.all.len());
                    spots.all.push(spot);
                    spots.all.len() - 1
                }
            }));
        }
        spots
    }

    /// The spot of a process.
    pub fn spot(&self, proc: ProcIndex) -> Option<&Spot> {
        self.all.get(self.by_proc.get(proc.0).copied().flatten()?)
    }

    /// The same for people and programs.
    pub fn standing(&self, spot: &Spot) -> Standing {
        let innermost = spot.path.last();
        let (caller, file) = innermost.and_then(|step| self.functions.get(step.function)).copied().unwrap_or_default();
        Standing {
            function: spot.function.clone(),
            caller: caller.map(ToOwned::to_owned),
            file: file.map(ToOwned::to_owned),
            line: innermost.and_then(|step| step.line),
            finished: spot.manner == Manner::Finished,
        }
    }
}

type Number<'a, 'b> = dyn FnMut(Option<&'a str>, Option<&'a str>) -> usize + 'b;

fn spot<'a>(
    process: &'a Process,
    state: &ProcState<'_>,
    with_stacks: bool,
    number: &mut Number<'a, '_>,
) -> Option<Spot> {
    match state {
        ProcState::Finished(Finished::Ended | Finished::Finalized) => {
            return Some(Spot { path: Vec::new(), function: None, manner: Manner::Finished });
        }
        ProcState::Free(Free::Stopped(_) | Free::NotRead) => return None,
        _ => {}
    }
    if with_stacks { of_stack(thread(process)?, number) } else { of_places(process, number) }
}

/// The stack that says where a process stands: of the main thread, unless only another one is in MPI.
fn thread(process: &Process) -> Option<&Stack> {
    let main = main_thread(process)?;
    let in_mpi = |stack: &&Stack| stack.call().is_some();
    if in_mpi(&main) { Some(main) } else { process.stacks.iter().find(in_mpi).or(Some(main)) }
}

fn of_stack<'a>(stack: &'a Stack, number: &mut Number<'a, '_>) -> Option<Spot> {
    if !stack.complete {
        return None;
    }
    let frames = shown(stack, false);
    let call =
        frames.iter().find(|frame| frame.mpi).and_then(|frame| frame.function).map(|name| c_name(name).into_owned());
    // Older recordings do not say whose a frame is.
    let is_known = stack.frames.iter().any(|frame| frame.application.is_some());
    let own = |frame: &&Shown<'a>| !frame.mpi && (frame.application == Some(true) || !is_known);
    let mut path: Vec<Step> = Vec::with_capacity(frames.len());
    let mut at: HashMap<usize, usize> = HashMap::new();
    for frame in frames.iter().filter(own) {
        let function = number(frame.function, frame.file);
        if let Some(known) = at.get(&function).copied() {
            path.drain(known..).for_each(|step| _ = at.remove(&step.function));
        }
        at.insert(function, path.len());
        path.push(Step { function, line: frame.line });
    }
    (!path.is_empty() || call.is_some()).then(|| with_call(path, call))
}

fn of_places<'a>(process: &'a Process, number: &mut Number<'a, '_>) -> Option<Spot> {
    if let Some(call) = process.calls.first() {
        let function = number(call.caller.as_deref(), call.file.as_deref());
        return Some(with_call(vec![Step { function, line: call.line }], Some(call.c_name().into_owned())));
    }
    let outside =
        process.outside.iter().find(|thread| thread.main == Some(true)).or_else(|| process.outside.first())?;
    if outside.complete == Some(false) || outside.caller.is_none() {
        return None;
    }
    let function = number(outside.caller.as_deref(), outside.file.as_deref());
    Some(with_call(vec![Step { function, line: outside.line }], None))
}

fn with_call(path: Vec<Step>, function: Option<String>) -> Spot {
    let manner = match function.as_deref().map(wait_kind) {
        None => Manner::Outside,
        Some(WaitKind::Poll | WaitKind::Local) => Manner::Polls,
        Some(
            WaitKind::Receive
            | WaitKind::MatchedReceive
            | WaitKind::Send
            | WaitKind::SendReceive
            | WaitKind::WaitAll
            | WaitKind::WaitAny
            | WaitKind::Probe,
        ) => Manner::Messages,
        Some(WaitKind::Collective(Chapter::Communication, Reach::FromRoot | Reach::ToRoot)) => Manner::Rooted,
        Some(_) => Manner::Waits,
    };
    Spot { path, function, manner }
}
