//! Live processes: stopped together, copied or read, and let go.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

use native::{Live, Messages, Native, Standing, Stopped, prefetch_stacks, status};
use session::{LayoutChoice, MoreMemory, Session};

use super::arguments::Command;
use super::failure::Failure;
use super::process::{Deadline, Question, Refused, Told, in_time};
use super::refused;

/// All threads stand within this time, or something holds one of them in the kernel.
const STOP_LIMIT: Duration = Duration::from_secs(5);

/// What processes gave, or why they gave nothing.
pub type Answers = BTreeMap<u32, Result<Told, Failure>>;

/// Reads processes; those of a job stand together.
pub fn read(pids: &[u32], question: &Question, timeout: Duration) -> Answers {
    let mut answers = Answers::new();
    let mut ready = Vec::new();
    // What is read stands meanwhile.
    let states: BTreeMap<u32, &str> = pids.iter().map(|pid| (*pid, refused::state_word(*pid))).collect();
    for pid in pids {
        match refused::check(*pid) {
            Ok(()) => ready.push(*pid),
            Err(failure) => _ = answers.insert(*pid, Err(failure)),
        }
    }
    // One that does not stop before its device has answered would hold up all others.
    let waits = |pid: &u32| status(*pid).is_some_and(|status| status.state == 'D');
    let (waiting, together): (Vec<u32>, Vec<u32>) = ready.into_iter().partition(waits);
    let groups = [together].into_iter().chain(waiting.into_iter().map(|pid| vec![pid]));
    for group in groups.filter(|group| !group.is_empty()) {
        Group::new(question, timeout).read(&group, &mut answers);
    }
    for (pid, answer) in &mut answers {
        if let Ok(Told::Snapshot(snapshot)) = answer {
            let state = states.get(pid).map(|state| (*state).to_owned());
            snapshot.place(i64::from(*pid), None, None, None, state);
        }
    }
    answers
}

type LiveSession = Session<Native<Live>>;

/// Processes that stand together.
struct Group<'a> {
    question: &'a Question,
    timeout: Duration,
    until: Instant,
    messages: Rc<Messages>,
}

impl<'a> Group<'a> {
    fn new(question: &'a Question, timeout: Duration) -> Self {
        Self { question, timeout, until: Instant::now() + timeout, messages: Rc::default() }
    }

    fn stop(&self, pids: &[u32]) -> (Stopped, Vec<(u32, native::StopError)>) {
        self.messages.forget();
        Stopped::all(pids, STOP_LIMIT.min(self.timeout))
    }

    fn read(&self, pids: &[u32], answers: &mut Answers) {
        let mut rest = pids.to_vec();
        if self.question.command != Command::Record {
            let known = self.rehearse(pids);
            rest = self.read_copies(pids, known, answers);
        }
        if !rest.is_empty() {
            self.read_standing(&rest, answers);
        }
    }

    /// Reads all once while they run: then files are known, and which memory is wanted. So the processes stand only as long as
    /// it takes to copy that. Nothing that was found so is told.
    fn rehearse(&self, pids: &[u32]) -> BTreeMap<u32, LiveSession> {
        let (stopped, _) = self.stop(pids);
        // What is wrong is told where it counts.
        let session = |pid: &u32| Some((*pid, self.session(*pid, stopped.get(*pid)?, &self.deadline()).ok()?));
        let sessions: BTreeMap<u32, LiveSession> = pids.iter().filter_map(session).collect();
        drop(stopped);
        for session in sessions.values() {
            let _ = self.question.ask(session, MoreMemory::default());
        }
        sessions
    }

    /// Copies what was asked for in the rehearsal, and reads the copies; returns those of which a copy lacks something.
    fn read_copies(&self, pids: &[u32], mut known: BTreeMap<u32, LiveSession>, answers: &mut Answers) -> Vec<u32> {
        let (stopped, failures) = self.stop(pids);
        let mut rest = Vec::new();
        let mut copied = Vec::new();
        for pid in pids {
            let Some(standing) = stopped.get(*pid) else { continue };
            let deadline = self.deadline();
            match known.remove(pid) {
                Some(session) if session.target().stands_again(&standing.threads, deadline.ending()) => {
                    session.resumed();
                    session.target().is_copied();
                    copied.push((*pid, session, deadline));
                }
                _ => rest.push(*pid),
            }
        }
        drop(stopped);
        tell(failures, answers);
        for (pid, session, deadline) in copied {
            match self.question.ask(&session, MoreMemory::default()) {
                Ok(told) if !deadline.is_over() && !session.target().has_missed() => {
                    answers.insert(pid, Ok(told));
                }
                _ => rest.push(pid),
            }
        }
        rest
    }

    /// Reads processes while they stand.
    fn read_standing(&self, pids: &[u32], answers: &mut Answers) {
        let (stopped, failures) = self.stop(pids);
        tell(failures, answers);
        for pid in pids {
            let Some(standing) = stopped.get(*pid) else { continue };
            let deadline = self.deadline();
            let answer = self.session(*pid, standing, &deadline).and_then(|session| {
                let answer = self.question.ask(&session, MoreMemory::default());
                answer.map_err(|error| Refused::of(&error))
            });
            let label = format!("pid {pid}");
            let answer = in_time(answer, &label, &deadline, self.timeout, "; it is as it was before");
            answers.insert(*pid, answer.map_err(|failure| if has_ended(*pid) { refused::gone(*pid) } else { failure }));
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

fn tell(failures: Vec<(u32, native::StopError)>, answers: &mut Answers) {
    answers.extend(failures.into_iter().map(|(pid, error)| (pid, Err(refused::not_stopped(pid, &error)))));
}

fn has_ended(pid: u32) -> bool {
    status(pid).is_none_or(|status| matches!(status.state, 'Z' | 'X'))
}
