//! Processes that stand: all their threads, for as long as this is held.
//!
//! Only the thread of ours that has seized a thread can ask anything of it, and the kernel lets go of what it has seized when it
//! ends. So each stop has a thread of its own: what does not stand in time, because a device has not answered, is let go
//! with it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use target::files::Hurry;
use target::processes;
use target::registers::Registers;

use super::held::Held;
use super::kernel_wait::KernelWait;
use super::ptrace::{self, Event};
use super::threads;
use super::waiting::{self, Waits};
use crate::process::Thread;

/// Between two looks at threads that do not stand yet. The first ones come soon: most stand within microseconds.
const PAUSES: [Duration; 2] = [Duration::from_micros(20), Duration::from_micros(500)];
/// How often the first pause is made.
const SOON: u32 = 50;

/// A process that was stopped before has stopped again within this time, or has no processor.
const AGAIN_LIMIT: Duration = Duration::from_millis(500);

/// A thread that goes into an uninterruptible wait just when it is to stop is waited for so long: all others stand meanwhile.
const UNINTERRUPTIBLE_LIMIT: Duration = Duration::from_secs(1);

/// What processes are stopped for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// They are read, or copied: every thread stands.
    Reading,
    /// To learn which memory will be wanted, of which nothing is told. Threads that wait in system calls which would fail with EINTR
    /// are left alone, so that this happens to them once.
    Rehearsal,
}

/// Why a process does not stand.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StopError {
    /// There is no such process any more.
    #[error("the process has ended")]
    Gone,
    /// Another process traces it already.
    #[error("already traced by pid {0}")]
    Traced(u32),
    /// The kernel refuses.
    #[error("the kernel does not let this user stop it")]
    Denied,
    /// A thread does not stop: it waits in the kernel, uninterruptibly.
    #[error("its thread {thread} did not stop within {seconds} s: it waits in the kernel, {wait}")]
    NotInTime {
        /// The thread.
        thread: u32,
        /// How long was waited.
        seconds: u64,
        /// What it waits for.
        wait: KernelWait,
    },
    /// A thread does not stop, and nothing is known to be in its way: it may have had no processor.
    #[error("its thread {thread} did not stop within {seconds} s")]
    Late {
        /// The thread.
        thread: u32,
        /// How long was waited.
        seconds: f64,
    },
    /// A thread is in a wait that nothing interrupts, and was not asked to stop.
    #[error("its thread {thread} cannot be stopped: it has waited in the kernel for {seconds} s and more, {wait}")]
    Uninterruptible {
        /// The thread.
        thread: u32,
        /// How long was waited.
        seconds: u64,
        /// What it waits for.
        wait: KernelWait,
    },
    /// A program of another kind of machine, such as one of 32 bits.
    #[error("it is a program for another kind of machine than mpi-queues")]
    OtherMachine,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

impl StopError {
    /// A stable word for it.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::Traced(_) => "traced",
            Self::Denied => "no_permission",
            Self::NotInTime { .. } | Self::Uninterruptible { .. } => "timeout",
            Self::Late { .. } => "late",
            Self::OtherMachine => "other_machine",
            Self::Other(_) => "not_stopped",
        }
    }
}

/// A process that stands.
#[derive(Debug, Clone)]
pub struct Standing {
    /// Its threads: the one that it began with first, then by number.
    pub threads: Vec<Thread>,
    /// When the last of them stood.
    pub at: SystemTime,
}

pub(super) enum Command {
    Release(u32),
    ReleaseAll,
}

/// Processes that stand until this is dropped.
#[derive(Debug)]
pub struct Stopped {
    /// No file is waited for for long meanwhile.
    _hurry: Hurry,
    processes: BTreeMap<u32, Standing>,
    commands: Option<Sender<Command>>,
    held: Option<Held>,
    answers: Receiver<Option<SystemTime>>,
    tracer: Option<JoinHandle<()>>,
}

/// What stands, and why others do not.
type Outcome = (BTreeMap<u32, Standing>, Vec<(u32, StopError)>);

impl Stopped {
    /// Stops all threads of these processes, all processes together; `limit` is for all. Those that cannot be stopped run on, and
    /// are told with the reason.
    pub fn all(pids: &[u32], limit: Duration) -> (Self, Vec<(u32, StopError)>) {
        Self::knowing(pids, limit, Purpose::Reading, &mut Waits::default())
    }

    /// The same for a `purpose`. Those that are in uninterruptible waits run on: they are waited for before anything is stopped, but
    /// where they are in the same one as when `waits` were noted.
    pub fn knowing(
        pids: &[u32],
        limit: Duration,
        purpose: Purpose,
        waits: &mut Waits,
    ) -> (Self, Vec<(u32, StopError)>) {
        let pids: BTreeSet<u32> = pids.iter().copied().collect();
        let mut pids: Vec<u32> = pids.into_iter().collect();
        let unstoppable = waits.unstoppable(&pids, limit);
        pids.retain(|pid| unstoppable.iter().all(|(one, _)| one != pid));
        let (stopped, mut failures) = Self::these(&pids, limit, purpose);
        failures.extend(unstoppable);
        (stopped, failures)
    }

    fn these(pids: &[u32], limit: Duration, purpose: Purpose) -> (Self, Vec<(u32, StopError)>) {
        let hurry = Hurry::new();
        let (commands, orders) = channel();
        let (reply, answers) = channel();
        let (tell, told) = channel::<Outcome>();
        let held = Held::new(commands.clone());
        let wanted = pids.to_vec();
        let tracer = std::thread::Builder::new().name("tracer".to_owned()).spawn(move || {
            let mut tracer = Tracer { purpose, held: BTreeMap::new() };
            let outcome = tracer.stop(&wanted, limit);
            if tell.send(outcome).is_ok() {
                while let Ok(command) = orders.recv() {
                    match command {
                        Command::Release(pid) => {
                            tracer.release(pid);
                            if reply.send(Some(SystemTime::now())).is_err() {
                                break;
                            }
                        }
                        Command::ReleaseAll => tracer.release_all(),
                    }
                }
            }
            tracer.release_all();
        });
        let (processes, failures) = match &tracer {
            Ok(_) => told.recv().unwrap_or_default(),
            Err(error) => {
                let failed = |pid: &u32| (*pid, StopError::Other(error.to_string()));
                (BTreeMap::new(), pids.iter().map(failed).collect())
            }
        };
        (
            Self { _hurry: hurry, processes, commands: Some(commands), held: Some(held), answers, tracer: tracer.ok() },
            failures,
        )
    }

    /// The process, where it stands.
    pub fn get(&self, pid: u32) -> Option<&Standing> {
        self.processes.get(&pid)
    }

    /// Those that stand.
    pub fn pids(&self) -> impl Iterator<Item = u32> {
        self.processes.keys().copied()
    }

    /// Lets a process go on; returns when it did. `None` where it does not stand.
    pub fn release(&mut self, pid: u32) -> Option<SystemTime> {
        self.processes.remove(&pid)?;
        self.commands.as_ref()?.send(Command::Release(pid)).ok()?;
        self.answers.recv().ok().flatten()
    }

    /// Lets all go on.
    pub fn release_all(&mut self) {
        self.processes.clear();
        self.commands = None;
        self.held = None;
        if let Some(tracer) = self.tracer.take() {
            // It ends as soon as nobody can ask it any more.
            let _ = tracer.join();
        }
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        self.release_all();
    }
}

/// What a thread is at.
#[derive(Debug, Clone, PartialEq, Eq)]
enum State {
    /// It was asked to stop.
    Asked,
    Stands,
    /// It does, and did so before: a signal had stopped its process.
    StoodBefore,
    /// It was not asked: it waits at this place.
    LeftAlone(Registers),
}

struct Tracer {
    purpose: Purpose,
    /// By process and by thread.
    held: BTreeMap<u32, BTreeMap<u32, State>>,
}

/// A process that a signal had stopped runs for a moment when it is let go, until it has stopped again: who looks at it next must find
/// it as it was. Not waited for long: somebody may have continued it.
fn stops_again(pid: u32) {
    let end = Instant::now() + AGAIN_LIMIT;
    while processes::state(pid).is_some_and(|state| state != 'T' && !processes::is_ended(state)) && Instant::now() < end
    {
        std::thread::sleep(PAUSES[0]);
    }
}

fn kernel(id: u32) -> libc::pid_t {
    libc::pid_t::try_from(id).unwrap_or(libc::pid_t::MAX)
}

impl Tracer {
    fn stop(&mut self, pids: &[u32], limit: Duration) -> Outcome {
        let begun = Instant::now();
        let mut failures = Vec::new();
        for pid in pids {
            if let Err(error) = self.seize(*pid) {
                failures.push((*pid, error));
                self.release(*pid);
            }
        }
        let mut waiting: Vec<u32> = self.held.keys().copied().collect();
        let mut found = BTreeMap::new();
        let mut rounds = 0;
        while !waiting.is_empty() {
            let mut settled = Vec::new();
            for pid in &waiting {
                match self.settle(*pid) {
                    Ok(false) => continue,
                    Ok(true) => match self.standing(*pid) {
                        Ok(standing) => _ = found.insert(*pid, standing),
                        Err(error) => failures.push((*pid, error)),
                    },
                    Err(error) => failures.push((*pid, error)),
                }
                settled.push(*pid);
            }
            waiting.retain(|pid| !settled.contains(pid));
            if waiting.is_empty() {
                break;
            }
            if begun.elapsed() > UNINTERRUPTIBLE_LIMIT.min(limit) {
                let all = begun.elapsed() > limit;
                let late: Vec<(u32, StopError)> =
                    waiting.iter().filter_map(|pid| Some((*pid, self.late(*pid, all, begun.elapsed())?))).collect();
                for (pid, error) in late {
                    self.release(pid);
                    waiting.retain(|one| *one != pid);
                    failures.push((pid, error));
                }
            }
            std::thread::sleep(PAUSES[usize::from(rounds >= SOON)]);
            rounds += 1;
        }
        for (pid, _) in &failures {
            self.release(*pid);
        }
        (found, failures)
    }

    /// Seizes all threads of a process that are not yet, and asks them to stop; whether there were any.
    fn seize(&mut self, pid: u32) -> Result<bool, StopError> {
        let listed = threads::of_process(pid).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => StopError::Gone,
            _ if error.raw_os_error() == Some(libc::ESRCH) => StopError::Gone,
            _ => StopError::Other(format!("its threads cannot be listed: {error}")),
        })?;
        let held = self.held.entry(pid).or_default();
        let mut new = false;
        for thread in listed {
            if held.contains_key(&thread) {
                continue;
            }
            if self.purpose == Purpose::Rehearsal
                && let Some(place) = waiting::in_a_call_that_fails(thread)
            {
                held.insert(thread, State::LeftAlone(place));
                new = true;
                continue;
            }
            match ptrace::seize(kernel(thread)).and_then(|()| ptrace::interrupt(kernel(thread))) {
                Ok(()) => {
                    held.insert(thread, State::Asked);
                    new = true;
                }
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(_) if threads::has_ended(thread) => {}
                Err(error) => {
                    let tracer = threads::status(thread).map_or(0, |status| status.tracer);
                    return Err(match error.raw_os_error() {
                        Some(libc::EPERM) if tracer != 0 => StopError::Traced(tracer),
                        Some(libc::EPERM | libc::EACCES) => StopError::Denied,
                        _ => StopError::Other(format!("its thread {thread} cannot be stopped: {error}")),
                    });
                }
            }
        }
        if held.is_empty() { Err(StopError::Gone) } else { Ok(new) }
    }

    /// Whether all threads of a process stand. One that was made meanwhile is found when all others do.
    fn settle(&mut self, pid: u32) -> Result<bool, StopError> {
        let held = self.held.entry(pid).or_default();
        let asked: Vec<u32> = held.iter().filter(|(_, state)| **state == State::Asked).map(|(id, _)| *id).collect();
        for thread in asked {
            match ptrace::look(kernel(thread)) {
                Ok(Event::None) => {}
                Ok(Event::Stands) => _ = held.insert(thread, State::Stands),
                Ok(Event::StoppedBySignal) => _ = held.insert(thread, State::StoodBefore),
                // It gets its signal first: were we killed while it stood there, the signal would be lost. It then begins the
                // signal's function, or ends.
                Ok(Event::Signal(signal)) => {
                    let _ = ptrace::interrupt(kernel(thread));
                    let _ = ptrace::go_on(kernel(thread), signal);
                }
                Ok(Event::Other) => {
                    let _ = ptrace::interrupt(kernel(thread));
                    let _ = ptrace::go_on(kernel(thread), 0);
                }
                Ok(Event::Gone) => _ = held.remove(&thread),
                Err(error) if error.raw_os_error() == Some(libc::EINTR) => {}
                // ECHILD: it is not traced any more, so it has ended.
                Err(_) => _ = held.remove(&thread),
            }
        }
        if held.is_empty() {
            return Err(StopError::Gone);
        }
        if held.values().any(|state| *state == State::Asked) {
            return Ok(false);
        }
        Ok(!self.seize(pid)?)
    }

    fn standing(&self, pid: u32) -> Result<Standing, StopError> {
        let mut found = Vec::new();
        for (id, state) in self.held.get(&pid).into_iter().flatten() {
            let registers = match state {
                State::LeftAlone(place) => Ok(place.clone()),
                _ => ptrace::registers(kernel(*id)),
            };
            match registers {
                Ok(registers) => {
                    // One that was left alone does not stand for us.
                    let stands = !matches!(state, State::LeftAlone(_));
                    let blocked = if stands { ptrace::blocked_signals(kernel(*id)).ok() } else { None };
                    found.push(Thread { id: *id, registers, blocked, number: None });
                }
                // It was killed while it stood.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                Err(error) if error.kind() == io::ErrorKind::Unsupported => return Err(StopError::OtherMachine),
                Err(error) => return Err(StopError::Other(format!("the registers of its thread {id}: {error}"))),
            }
        }
        if found.is_empty() {
            return Err(StopError::Gone);
        }
        found.sort_by_key(|thread| (thread.id != pid, thread.id));
        Ok(Standing { threads: found, at: SystemTime::now() })
    }

    /// Why a process is waited for no longer; `all`: for whatever reason, else only where a thread is in a wait that nothing
    /// interrupts.
    fn late(&self, pid: u32, all: bool, waited: Duration) -> Option<StopError> {
        let held = self.held.get(&pid).into_iter().flatten();
        let asked: Vec<u32> = held.filter(|(_, state)| **state == State::Asked).map(|(id, _)| *id).collect();
        let any = asked.first().copied().unwrap_or(pid);
        let Some(thread) = asked.into_iter().find(|thread| waiting::is_uninterruptible(*thread)) else {
            return all.then(|| StopError::Late { thread: any, seconds: (waited.as_secs_f64() * 10.0).ceil() / 10.0 });
        };
        Some(StopError::NotInTime { thread, seconds: waited.as_secs().max(1), wait: KernelWait::of(thread) })
    }

    /// Lets go of all threads of a process that stand. The kernel lets go of the others when this thread of ours ends.
    fn release(&mut self, pid: u32) {
        let mut stood_before = false;
        for (thread, state) in self.held.remove(&pid).unwrap_or_default() {
            if matches!(state, State::LeftAlone(_)) {
                continue;
            }
            if state == State::Asked {
                // It may stand by now.
                match ptrace::look(kernel(thread)) {
                    Ok(Event::Signal(signal)) => {
                        let _ = ptrace::detach(kernel(thread), signal);
                        continue;
                    }
                    Ok(Event::Stands | Event::StoppedBySignal | Event::Other) => {}
                    _ => continue,
                }
            }
            stood_before |= state == State::StoodBefore;
            let _ = ptrace::detach(kernel(thread), 0);
        }
        if stood_before {
            stops_again(pid);
        }
    }

    fn release_all(&mut self) {
        for pid in self.held.keys().copied().collect::<Vec<_>>() {
            self.release(pid);
        }
    }
}
