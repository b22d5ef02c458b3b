//! Two words for what the application has at one place: the same at two looks where it has not moved on in between.
//!
//! The first is made of the caller's registers, its stack from there on and the program's own variables, the second of the memory
//! through which messages come to it. The MPI library's variables, which change while it merely waits, are in neither.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use calls::{OwnVariables, own_variables};
use target::address::TargetAddr;
use target::files::{Identity, about};
use target::{PageCache, Target};

use super::message_memory::{Messages, message_memory};
use super::walked::Walked;
use crate::process::Process;
use crate::stacks::Shared;

/// So much of a stack, and of the program's variables, is looked at (bytes).
const MAX_STACK: u64 = 64 << 10;
const MAX_VARIABLES: u64 = 1 << 20;

/// Programs whose variables are remembered.
const MOST_KNOWN: usize = 16;

/// The variables of programs by their files; all ranks of a job run the same one.
static KNOWN: Mutex<BTreeMap<Identity, Option<Arc<OwnVariables>>>> = Mutex::new(BTreeMap::new());

/// Those of the threads of one process, which has the program's variables read once.
#[derive(Debug, Default)]
pub(crate) struct Fingerprints {
    digests: OnceCell<Option<Digests>>,
}

impl Fingerprints {
    /// The words for a frame that is shown, `None` where what they are made of cannot be read. The stack ends with that of the frame
    /// `outermost`.
    pub(crate) fn of<P: Process>(
        &self,
        shared: &Shared<P>,
        walked: &Walked,
        at: usize,
        outermost: usize,
    ) -> Option<String> {
        let digests = (*self.digests.get_or_init(|| digests(shared)))?;
        let shown = walked.shown.get(at)?;
        // A frame that is made up has the registers of the one that called it.
        let (first, last) = (shown.at, walked.shown.get(outermost.max(at))?.at);
        let frame = walked.stack.get(first)?;
        let sp = frame.registers.sp()?;
        let end = (first..=last).rev().find_map(|index| walked.stack.get(index)?.cfa)?;
        let length = end.checked_sub(sp).filter(|length| *length > 0)?.min(MAX_STACK);
        let stack = shared.memory.read_bytes(TargetAddr::new(sp), usize::try_from(length).ok()?).ok()?;
        let mut word = DefaultHasher::new();
        let kept = frame.registers.machine().kept().iter().map(|number| frame.registers.get(*number));
        (digests.variables, walked.pc(shown)?, sp, end, kept.collect::<Vec<_>>(), stack).hash(&mut word);
        Some(format!("{:016x}.{:016x}", word.finish(), digests.messages))
    }
}

/// Digests of the program's own variables, and of the memory through which messages come.
#[derive(Debug, Clone, Copy)]
struct Digests {
    variables: u64,
    messages: u64,
}

fn digests<P: Process>(shared: &Shared<P>) -> Option<Digests> {
    let process = shared.memory.inner();
    let program = shared.images.program()?;
    let file = shared.images.loaded(program.start)?;
    let found = variables_of(file.file.as_ref()?.object.path())?;
    let bias = process.program_headers()?.wrapping_sub(found.headers);
    let mut word = DefaultHasher::new();
    let mut left = MAX_VARIABLES;
    for (start, length) in &found.ranges {
        let length = (*length).min(left);
        if length == 0 {
            break;
        }
        let address = TargetAddr::new(start.wrapping_add(bias));
        shared.memory.read_bytes(address, usize::try_from(length).ok()?).ok()?.hash(&mut word);
        left -= length;
    }
    let mut messages = DefaultHasher::new();
    for piece in process.here().map(|pid| message_memory(pid, &process.mappings())).unwrap_or_default() {
        // What cannot be read at one look cannot be at the other.
        shared.messages.digest(&piece, process).hash(&mut messages);
    }
    Some(Digests { variables: word.finish(), messages: messages.finish() })
}

fn variables_of(path: &Path) -> Option<Arc<OwnVariables>> {
    let identity = Identity::of(&about(path).ok()?);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = known().get(&identity) {
        return found.clone();
    }
    let made = own_variables(path).map(Arc::new);
    let mut known = known();
    if known.len() >= MOST_KNOWN {
        known.clear();
    }
    known.insert(identity, made.clone());
    made
}

/// Takes down what there is in the memory through which messages come to a process, while it stands.
pub(crate) fn note_messages<P: Process>(memory: &PageCache<P>, messages: &Messages) {
    let process = memory.inner();
    for piece in process.here().map(|pid| message_memory(pid, &process.mappings())).unwrap_or_default() {
        // Not through the cache: it is large.
        messages.digest(&piece, process);
    }
}
