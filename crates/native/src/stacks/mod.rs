//! The stacks of a process: its frames with their names and lines, and what the calls of MPI on them were given.
//!
//! They are told as gdb 13 tells them: stacks end with `main`, and names have no parameters.

mod caller;
mod chain;
pub(crate) mod cxx;
mod fingerprint;
mod jumps;
mod message_memory;
mod missing;
mod thread;
mod walked;

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use calls::system_calls::{self, CallRegisters};
use calls::{KeptFiles, NamedFrame, ThreadCall, thread_call};
use model::{Argument, Frame, SourceCall, Stack, SystemCall};
use target::libraries::is_mpi_file;
use target::{PageCache, Target};

use crate::images::Images;
use crate::owners;
use crate::process::{Process, Thread, numbered};
use fingerprint::Fingerprints;
pub(crate) use fingerprint::note_messages;
pub use message_memory::{Messages, message_places};
pub(crate) use message_memory::{Piece as MessagePiece, Shared as SharedMemory, message_memory};
use thread::NativeThread;
use walked::Walked;

/// A stack deeper than this is not walked to its end; MPI's own part of a stack is a few dozen frames.
const MAX_FRAMES: usize = 256;
/// The stacks of more threads are not told.
const MAX_THREADS: usize = 1024;
/// So much of a stack is read at once (bytes).
const STACK_AHEAD: u64 = 32 << 10;
/// More sentences about files than this are not told.
const MAX_REMARKS: usize = 8;

/// The stacks of a process.
#[derive(Debug, Default)]
pub struct Stacks {
    /// Of each thread, the main thread first.
    pub stacks: Vec<Stack>,
    /// Whether every thread is there.
    pub all: bool,
    /// What to know of them, in sentences.
    pub remarks: Vec<String>,
}

/// What all threads of a process have in common.
pub(crate) struct Shared<P: Process> {
    pub(crate) memory: Rc<PageCache<P>>,
    pub(crate) images: Images<P>,
    /// What the dynamic linker calls images, by what it adds to their addresses.
    pub(crate) names: HashMap<u64, String>,
    /// What is added to the addresses of images, in the dynamic linker's order.
    biases: Vec<u64>,
    /// What symbols mean in the files that begin at these addresses.
    symbols: RefCell<HashMap<(u64, String), Option<u64>>>,
    pub(crate) executable: String,
    pub(crate) fingerprints: Fingerprints,
    pub(crate) messages: Rc<Messages>,
    pub(crate) family: OnceCell<Option<functions::constants::Family>>,
    /// Where libstdc++ keeps a thread's exceptions.
    exceptions: Rc<OnceCell<Option<cxx::Place>>>,
}

impl<P: Process> Shared<P> {
    /// Where images begin, in the order in which the dynamic linker looks for symbols.
    fn in_order(&self) -> impl Iterator<Item = u64> {
        let program = self.images.program();
        let libraries = self.biases.iter().filter_map(|bias| self.images.at(*bias));
        program.into_iter().chain(libraries.filter(|image| !image.is_program)).map(|image| image.start)
    }
}

/// Reads ahead what of the stacks of all threads is likely to be asked for.
pub fn prefetch_stacks<P: Process>(memory: &PageCache<P>) {
    /// Bytes of a page.
    const PAGE: u64 = 4096;
    let (threads, mappings) = (memory.inner().threads(), memory.inner().mappings());
    let pages = |thread: &Thread| {
        let sp = thread.registers.stack_pointer();
        let after = mappings.partition_point(|mapping| mapping.start.get() <= sp);
        let end = mappings[..after].last().map_or(sp, |mapping| mapping.end.get());
        sp / PAGE..end.min(sp.saturating_add(STACK_AHEAD)) / PAGE
    };
    let mut wanted: Vec<u64> = threads.iter().take(MAX_THREADS).flat_map(pages).collect();
    wanted.sort_unstable();
    wanted.dedup();
    memory.prefetch_pages(&wanted);
}

/// Reads the stacks of all threads. `executable` is the program's path, as the process names it; `messages` is for all processes
/// that stand together. `exceptions` is kept for as long as the process has the same files.
pub fn stacks<P: Process + 'static>(
    memory: &Rc<PageCache<P>>,
    executable: &str,
    kept: &KeptFiles,
    messages: &Rc<Messages>,
    exceptions: &Rc<OnceCell<Option<cxx::Place>>>,
) -> Stacks {
    let process = memory.inner();
    let listed = memory.images().unwrap_or_default();
    let shared = Rc::new(Shared {
        memory: Rc::clone(memory),
        biases: listed.iter().map(|image| image.bias.get()).collect(),
        symbols: RefCell::default(),
        names: listed.into_iter().map(|image| (image.bias.get(), image.path)).collect(),
        images: Images::new(Rc::clone(memory)),
        executable: executable.to_owned(),
        fingerprints: Fingerprints::default(),
        messages: Rc::clone(messages),
        family: OnceCell::new(),
        exceptions: Rc::clone(exceptions),
    });
    let threads = process.threads();
    let mut found = Stacks { all: !threads.is_empty() && threads.len() <= MAX_THREADS, ..Stacks::default() };
    for (number, thread) in numbered(&threads).take(MAX_THREADS) {
        found.stacks.push(stack(&shared, number, thread, kept, &mut found.remarks));
    }
    owners::add_teams(&mut found.stacks, process.here().map(i64::from));
    found.remarks.extend(shared.images.over_limits());
    found.remarks.truncate(MAX_REMARKS);
    found
}

fn stack<P: Process + 'static>(
    shared: &Rc<Shared<P>>,
    number: i64,
    thread: &Thread,
    kept: &KeptFiles,
    remarks: &mut Vec<String>,
) -> Stack {
    let process = shared.memory.inner();
    let walked = Rc::new(Walked::new(shared, thread, MAX_FRAMES));
    for image in walked.without_file() {
        let sentence = missing::sentence(&shared.images.missing(image), process.here().is_none());
        if !remarks.contains(&sentence) {
            remarks.push(sentence);
        }
    }
    let frames: Vec<Frame> = walked.shown.iter().map(|shown| shown.frame.clone()).collect();
    let named: Vec<NamedFrame> = frames
        .iter()
        .map(|frame| NamedFrame {
            function: frame.function.clone(),
            application: frame.application == Some(true),
            mpi: frame.image.as_deref().is_some_and(is_mpi_file),
        })
        .collect();
    let system_call = system_call(&shared.memory, thread, &frames);
    let mut stack = Stack {
        thread: number,
        complete: walked.complete && process.has_stacks(),
        frames,
        main: process.main_thread().map(|main| main == thread.id),
        kernel_thread: Some(i64::from(thread.id)),
        system_call,
        ..Stack::default()
    };
    cxx::tell(shared, thread, &mut stack);
    let told = thread_call(&named, &NativeThread { shared: Rc::clone(shared), walked }, kept);
    add(&mut stack, told);
    stack
}

/// Adds what the call of MPI tells.
fn add(stack: &mut Stack, told: ThreadCall) {
    let ThreadCall { hidden, fingerprint, arguments, around } = told;
    let files = |place: usize| stack.frames.get(place).and_then(|frame| frame.file.clone());
    stack.source_calls = around.into_iter().map(|(place, call)| SourceCall { file: files(place), ..call }).collect();
    if let Some((at, function)) = hidden {
        let frame = Frame { function: Some(function), application: Some(false), ..Frame::default() };
        stack.frames.insert(at.min(stack.frames.len()), frame);
    }
    stack.fingerprint = fingerprint;
    if let Some(found) = arguments {
        // Whether an expression has variables is told of calls in the source alone.
        stack.arguments = found.arguments.into_iter().map(|argument| Argument { fixed: false, ..argument }).collect();
        stack.arguments_unknown = found.unknown;
    }
}

/// What a thread does in the kernel, where that is known, and whom it waits for there.
fn system_call<P: Process>(memory: &PageCache<P>, thread: &Thread, frames: &[Frame]) -> Option<SystemCall> {
    let registers = &thread.registers;
    let (call, arguments) = match registers.of_system_call() {
        Some([(_, number), (_, result), (_, first), (_, second), (_, fourth)]) => {
            // Register 1 of DWARF is rdx.
            let third = registers.get(1);
            let registers = CallRegisters { number, result, arguments: [first, second, fourth] };
            (system_calls::of_registers(&registers), Some([first, second, third.unwrap_or_default()]))
        }
        None => {
            memory.inner().here()?;
            let text = crate::stop::system_call(thread.id)?;
            (system_calls::of_proc(Some(registers.machine()), &text, None)?, system_calls::arguments(&text))
        }
    };
    let awaited = owners::awaited(memory, thread, &call, arguments, frames);
    Some(SystemCall { waits_for: awaited.map(Box::new), ..call })
}
