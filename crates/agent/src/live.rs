//! Live processes: stopped together, copied or read, and let go.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime};

use model::Groups;
use native::{Live, Messages, Native, Purpose, Standing, Stopped, Waits, Watchdog, prefetch_stacks};
use session::{LayoutChoice, MoreMemory, Session};
use target::file_budget::begin_look;
use target::processes;

use super::arguments::Command;
use super::failure::Failure;
use super::process::{Deadline, Question, Refused, Told, in_time};
use super::refused;

/// All threads stand within this time, or something holds one of them in the kernel.
const STOP_LIMIT: Duration = Duration::from_secs(5);

/// A reading that keeps its limit has said so by then; where it does not, the ranks go on, and this program ends soon after.
const SLACK: Duration = Duration::from_secs(2);
const GRACE: Duration = Duration::from_secs(5);

/// What processes gave, or why they gave nothing.
pub type Answers = BTreeMap<u32, Result<Told, Failure>>;

/// Reads processes; those of a job stand together.
pub fn read(pids: &[u32], question: &Question, timeout: Duration) -> Answers {
    Reader::default().read(pids, question, timeout)
}

type LiveSession = Session<Native<Live>>;

/// Reads processes as often as is wanted: what was found out about one is kept.
#[derive(Default)]
pub struct Reader {
    known: BTreeMap<u32, LiveSession>,
    messages: Rc<Messages>,
    /// Of a world of 100,000 ranks each rank would have its own list.
    groups: Groups,
    stood: Option<Stood>,
    waits: Waits,
}

/// When processes stood.
#[derive(Debug, Clone, Copy)]
pub struct Stood {
    /// When the first of them stood whole.
    pub from: SystemTime,
    /// When the last of them went on.
    pub to: SystemTime,
}

impl Reader {
    /// Reads processes; those of a job stand together.
    pub fn read(&mut self, pids: &[u32], question: &Question, timeout: Duration) -> Answers {
        let mut answers = Answers::new();
        self.stood = None;
        let mut ready = Vec::new();
        // What is read stands meanwhile.
        let states: BTreeMap<u32, &str> = pids.iter().map(|pid| (*pid, refused::state_word(*pid))).collect();
        for pid in pids {
            match refused::check(*pid) {
                Ok(()) => ready.push(*pid),
                Err(failure) => _ = answers.insert(*pid, Err(failure)),
            }
        }
        if !ready.is_empty() {
            let until = Instant::now() + timeout;
            begin_look(Some(until));
            // Without one the ranks go on when the engine ends this program.
            let _watchdog = Watchdog::new(timeout + SLACK, GRACE);
            let messages = Rc::clone(&self.messages);
            let (known, groups) = (&mut self.known, &mut self.groups);
            let (stood, waits) = (&mut self.stood, &mut self.waits);
            Group { question, timeout, until, messages, known, groups, stood, waits }.read(&ready, &mut answers);
        }
        for (pid, answer) in &mut answers {
            if let Ok(Told::Snapshot(snapshot)) = answer {
                let state = states.get(pid).map(|state| (*state).to_owned());
                snapshot.place(i64::from(*pid), None, None, None, state);
            }
        }
        answers
    }

    /// When those that were read last stood, for that.
    pub fn stood(&self) -> Option<Stood> {
        self.stood
    }
}

/// Processes that stand together.
struct Group<'a> {
    question: &'a Question,
    timeout: Duration,
    until: Instant,
    messages: Rc<Messages>,
    known: &'a mut BTreeMap<u32, LiveSession>,
    groups: &'a mut Groups,
    stood: &'a mut Option<Stood>,
    waits: &'a mut Waits,
}

impl Group<'_> {
    fn stop(&mut self, pids: &[u32], purpose: Purpose) -> (Stopped, Vec<(u32, native::StopError)>) {
        self.messages.forget();
        Stopped::knowing(pids, STOP_LIMIT.min(self.timeout), purpose, self.waits)
    }

    fn read(&mut self, pids: &[u32], answers: &mut Answers) {
        let mut rest = pids.to_vec();
        if self.question.command != Command::Record {
            self.rehearse(pids);
            rest = self.read_copies(pids, answers);
        }
        if !rest.is_empty() {
            self.read_standing(&rest, answers);
        }
    }

    /// Reads those that were not read before once while they run: then files are known, and which memory is wanted. So the
    /// processes stand only as long as it takes to copy that. Nothing that was found so is told.
    fn rehearse(&mut self, pids: &[u32]) {
        let fresh: Vec<u32> = pids.iter().copied().filter(|pid| !self.known.contains_key(pid)).collect();
        if fresh.is_empty() {
            return;
        }
        let (stopped, _) = self.stop(&fresh, Purpose::Rehearsal);
        // What is wrong is told where it counts.
        let session = |pid: &u32| Some((*pid, self.session(*pid, stopped.get(*pid)?, &self.deadline()).ok()?));
        let sessions: BTreeMap<u32, LiveSession> = fresh.iter().filter_map(session).collect();
        drop(stopped);
        for session in sessions.values() {
            let _ = self.question.ask(session, MoreMemory::default());
        }
        self.known.extend(sessions);
    }

    /// Copies what was asked for before, and reads the copies; returns those of which a copy lacks something.
    fn read_copies(&mut self, pids: &[u32], answers: &mut Answers) -> Vec<u32> {
        let (stopped, failures) = self.stop(pids, Purpose::Reading);
        let mut rest = Vec::new();
        let mut copied = Vec::new();
        for pid in pids {
            let Some(standing) = stopped.get(*pid) else { continue };
            let deadline = self.deadline();
            match self.known.get(pid) {
                Some(session) if session.target().stands_again(&standing.threads, deadline.ending()) => {
                    session.resumed();
                    session.target().is_copied();
                    copied.push((*pid, deadline));
                }
                _ => {
                    self.known.remove(pid);
                    rest.push(*pid);
                }
            }
        }
        self.go_on(stopped, pids);
        tell(failures, answers);
        for (pid, deadline) in copied {
            let Some(session) = self.known.get(&pid) else { continue };
            match self.question.ask(session, MoreMemory::default()) {
                Ok(mut told) if !deadline.is_over() && !session.target().has_missed() => {
                    share(self.groups, &mut told);
                    answers.insert(pid, Ok(told));
                }
                _ => rest.push(pid),
            }
            session.target().goes_on();
        }
        rest
    }

    /// Reads processes while they stand.
    fn read_standing(&mut self, pids: &[u32], answers: &mut Answers) {
        let (stopped, failures) = self.stop(pids, Purpose::Reading);
        tell(failures, answers);
        for pid in pids {
            let Some(standing) = stopped.get(*pid) else { continue };
            let deadline = self.deadline();
            let answer = self.session(*pid, standing, &deadline).and_then(|session| {
                let answer = self.question.ask(&session, MoreMemory::default());
                answer.map_err(|error| Refused::of(&error))
            });
            let label = format!("pid {pid}");
            let mut answer = in_time(answer, &label, &deadline, self.timeout, "; it is as it was before");
            if let Ok(told) = &mut answer {
                share(self.groups, told);
            }
            answers.insert(
                *pid,
                answer.map_err(|failure| if processes::has_ended(*pid) { refused::gone(*pid) } else { failure }),
            );
        }
        self.go_on(stopped, pids);
    }

    /// Lets processes go on, and notes when they stood.
    fn go_on(&mut self, stopped: Stopped, pids: &[u32]) {
        let first = pids.iter().filter_map(|pid| stopped.get(*pid)).map(|standing| standing.at).min();
        drop(stopped);
        if let Some(from) = first {
            let before = self.stood.map_or(from, |known| known.from);
            *self.stood = Some(Stood { from: from.min(before), to: SystemTime::now() });
        }
    }

    fn deadline(&self) -> Deadline {
        Deadline::new(self.until)
    }

    fn session(&self, pid: u32, standing: &Standing, deadline: &Deadline) -> Result<LiveSession, Refused> {
        let live = Live::new(pid, &standing.threads, deadline.ending()).map_err(|error| Refused::plain(&error))?;
        let native = Native::new(live, Rc::clone(&self.messages));
        prefetch_stacks(native.memory());
        let choice = LayoutChoice::of_native(&native, self.question.profile.clone());
        Ok(Session::new(native, choice))
    }
}

fn share(groups: &mut Groups, told: &mut Told) {
    if let Told::Snapshot(snapshot) = told {
        groups.share(snapshot);
    }
}

fn tell(failures: Vec<(u32, native::StopError)>, answers: &mut Answers) {
    answers.extend(failures.into_iter().map(|(pid, error)| (pid, Err(refused::not_stopped(pid, &error)))));
}
