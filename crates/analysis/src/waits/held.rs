//! Processes outside MPI that wait for what others have: locks of files, mutexes, threads that are to end.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use super::threads::{Whose, in_lock, whose};
use super::{Free, Need, ProcState};
use crate::job::{Job, ProcIndex};
use model::{Awaited, AwaitedKind, Outside, Process};

/// A process that can do nothing before others let it go on.
#[derive(Debug)]
pub struct Held<'a> {
    /// The thread that is shown: the first that waits.
    pub thread: &'a Outside,
    /// What that waits for.
    pub awaited: &'a Awaited,
    /// What must happen before the process goes on.
    pub need: Need,
    /// Why nobody can let it go on, where its own threads hold it up.
    pub never: Option<Never>,
}

/// Why a thread waits for ever for a lock of its own process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Never {
    /// It has locked it itself.
    Itself,
    /// The thread that has locked it has ended.
    Ended,
    /// These threads wait for one another.
    Circle(Vec<i64>),
}

/// A longer chain of threads that wait for one another is not followed to its end.
const MOST_THREADS: usize = 64;

/// So many threads of a process are looked at: no program has more that wait.
pub const THREADS: usize = 1024;

/// Processes by the host and the id that they have there; empty where nobody waits for what others have.
#[derive(Debug, Default)]
pub struct ByPid<'a>(HashMap<(Option<&'a str>, i64), ProcIndex>);

/// What a thread waits for outside MPI, and who has it.
pub fn awaited(thread: &Outside) -> Option<&Awaited> {
    let call = thread.system_call.as_ref()?;
    // Who waits for the interpreter's lock comes back every five milliseconds, and waits again.
    call.waits_for.as_deref().filter(|awaited| call.waits || awaited.kind == AwaitedKind::Gil)
}

/// All processes of which every thread outside MPI waits for others, and none is in MPI.
pub(super) fn all<'a>(job: &Job<'a>, states: &[ProcState<'a>]) -> (BTreeMap<ProcIndex, Held<'a>>, ByPid<'a>) {
    let owned = |thread: &Outside| thread.system_call.as_ref().is_some_and(|call| call.waits_for.is_some());
    let waits = |state: &ProcState<'_>| matches!(state, ProcState::Free(Free::Outside(thread)) if owned(thread));
    if !states.iter().any(waits) {
        return Default::default();
    }
    let processes = job.procs.iter().enumerate().filter_map(|(index, proc)| Some((ProcIndex(index), proc.process?)));
    let by_pid = processes.filter_map(|(proc, process)| Some(((process.host.as_deref(), process.pid?), proc)));
    let by_pid = ByPid(by_pid.collect());
    let held = states.iter().enumerate().filter(|(_, state)| waits(state)).filter_map(|(index, _)| {
        let proc = ProcIndex(index);
        Some((proc, by_pid.held(proc, job.procs[index].process?)?))
    });
    (held.collect(), by_pid)
}

impl ByPid<'_> {
    /// The process of that id on the host of another one.
    pub fn beside(&self, process: &Process, pid: i64) -> Option<ProcIndex> {
        self.0.get(&(process.host.as_deref(), pid)).copied()
    }

    fn held<'a>(&self, proc: ProcIndex, process: &'a Process) -> Option<Held<'a>> {
        let all_seen = process.all_threads != Some(false) && process.outside.len() <= THREADS;
        if !process.calls.is_empty() || !all_seen {
            return None;
        }
        let mut first: Option<(&Outside, &Awaited)> = None;
        let mut needs = Vec::new();
        for thread in &process.outside {
            match whose(thread) {
                Whose::Library => continue,
                Whose::Unknown => return None,
                Whose::Application => {}
            }
            let need = awaited(thread).and_then(|awaited| Some((awaited, self.need(proc, process, thread, awaited)?)));
            match need {
                Some((awaited, need)) => {
                    first.get_or_insert((thread, awaited));
                    needs.push(need);
                }
                // It waits for one of the others.
                None if in_lock(thread) => {}
                None => return None,
            }
        }
        let (thread, awaited) = first?;
        let is_never = needs.iter().all(|need| matches!(need, Need::Never(_)));
        let never = if is_never { never(process, thread) } else { None };
        Some(Held { thread, awaited, need: Need::Any(needs), never })
    }

    /// What must happen before a thread goes on, where everybody who can end its wait is of the job.
    fn need(&self, proc: ProcIndex, process: &Process, thread: &Outside, awaited: &Awaited) -> Option<Need> {
        // All who can end it, where everybody of these is of the job.
        let owners = || -> Option<Vec<ProcIndex>> {
            let all = awaited.owners.iter().map(|owner| self.beside(process, owner.pid?));
            all.collect::<Option<Vec<_>>>().filter(|all| !all.is_empty())
        };
        let needs = |all: Vec<ProcIndex>| all.into_iter().map(Need::Proc).collect();
        match awaited.kind {
            AwaitedKind::FileLock | AwaitedKind::Child => Some(Need::All(needs(owners()?))),
            // Who has an end besides, of those that may not be looked into, nobody knows.
            AwaitedKind::Reader | AwaitedKind::Writer => {
                let any = Need::Any(needs(owners().filter(|all| !all.contains(&proc))?));
                Some(Need::Doubted(Box::new(any), "another process may have its other end, too"))
            }
            AwaitedKind::Opener | AwaitedKind::SharedMemory => None,
            AwaitedKind::Mutex
            | AwaitedKind::Rwlock
            | AwaitedKind::Gil
            | AwaitedKind::Rlock
            | AwaitedKind::Team
            | AwaitedKind::Thread => {
                never(process, thread).map(|_| Need::Never("its own threads hold it up")).or_else(|| {
                    let owner = self.beside(process, awaited.owners.first()?.pid?)?;
                    (owner != proc).then_some(Need::Proc(owner))
                })
            }
        }
    }
}

/// Why a thread waits for a lock that nobody gives back; `None` where somebody may.
fn never(process: &Process, thread: &Outside) -> Option<Never> {
    let mut met = vec![thread.thread];
    let mut at = thread;
    while met.len() <= MOST_THREADS {
        let owner = awaited(at)?.owners.first()?;
        if owner.ended {
            return Some(Never::Ended);
        }
        let number = owner.thread?;
        if let Some(first) = met.iter().position(|known| *known == number) {
            let circle = met.split_off(first);
            return Some(if circle.len() == 1 { Never::Itself } else { Never::Circle(circle) });
        }
        at = process.outside.iter().find(|one| one.thread == number)?;
        met.push(number);
    }
    None
}
