//! Findings: one file for each family of kinds.

pub mod circles;
pub mod collectives;
pub mod deadlock;
pub mod epochs;
pub mod exceptions;
pub mod finished;
pub mod freed;
pub mod given;
pub mod held;
pub mod messages;
pub mod misfits;
pub mod non_blocking;
pub mod numbered;
pub mod odd_rank;
mod other_tag;
mod pairs;
pub mod parted;
pub mod partners;
pub mod planned;
pub mod polled;
pub mod polling;
pub mod recorded;
pub mod requests;
pub mod slow;

use hashbrown::HashMap;

use super::blame::{self, Blame};
use super::job::{Job, Proc, ProcIndex};
use super::matching::Matching;
use super::stuck::{Seen, Stuck};
use super::waits::{Free, ProcState, THREADS, Thread, Waits};
use super::words;
use model::{Blamed, Call, Outside, RankCall, RankStart, Snapshot};

/// All that findings are made from.
#[derive(Debug)]
pub struct Context<'a> {
    /// What was read last.
    pub snapshot: &'a Snapshot,
    /// Who is there.
    pub job: &'a Job<'a>,
    /// What belongs together of what they sent and receive.
    pub matching: &'a Matching<'a>,
    /// What they wait for.
    pub waits: &'a Waits<'a>,
    /// Who is stuck for certain.
    pub sure: &'a Stuck,
    /// Who is perhaps stuck, of those that are not so for certain.
    pub possible: &'a Stuck,
    /// Who is perhaps stuck if those that poll do nothing else.
    pub polling: &'a Stuck,
    /// By process: what two looks say of it.
    pub seen: &'a [Seen],
}

/// How many calls of ranks at one place a finding shows.
const SHOWN_CALLS: usize = 16;

/// So many calls that started operations a finding has.
const MOST_STARTS: usize = 64;

impl<'a> Context<'a> {
    /// Whether a process can never go on for certain.
    pub fn stuck_for_certain(&self, proc: ProcIndex) -> bool {
        self.sure.is_stuck(proc)
    }

    /// Whether a process can perhaps never go on.
    pub fn perhaps_stuck(&self, proc: ProcIndex) -> bool {
        self.sure.is_stuck(proc) || self.possible.is_stuck(proc)
    }

    /// Whether a process can perhaps never go on, or has finished.
    pub fn is_out(&self, proc: ProcIndex) -> bool {
        self.perhaps_stuck(proc) || finished::finished(self, proc).is_some()
    }

    /// What was read of a process.
    pub fn process(&self, proc: ProcIndex) -> Option<&'a model::Process> {
        self.job.procs.get(proc.0)?.process
    }

    /// The same as it was read last: the job may be worked out of an earlier look, at which it stood elsewhere in its functions.
    pub fn now(&self, proc: ProcIndex) -> Option<&'a model::Process> {
        self.snapshot.processes.get(proc.0).map(|process| &**process)
    }

    /// What is known of whether a process goes on.
    pub fn fate(&self, proc: ProcIndex) -> messages::Fate {
        match finished::finished(self, proc) {
            Some(how) => messages::Fate::Finished(how.words(1)),
            None if self.sure.is_stuck(proc) => messages::Fate::Stuck,
            None if self.possible.is_stuck(proc) || self.polling.is_stuck(proc) => messages::Fate::Suspect,
            None => messages::Fate::Open,
        }
    }

    /// The ranks of processes, those that have one.
    pub fn ranks(&self, procs: &[ProcIndex]) -> Vec<i64> {
        procs.iter().filter_map(|proc| words::rank(self.job, *proc)).collect()
    }

    /// Threads of a process that wait.
    pub fn threads(&self, proc: ProcIndex) -> &'a [Thread<'a>] {
        match self.waits.states.get(proc.0) {
            Some(ProcState::Blocked(threads)) => threads,
            _ => &[],
        }
    }

    /// Where processes stand: of many at the same place some.
    pub fn calls(&self, procs: &[ProcIndex]) -> Vec<RankCall> {
        // Counted before anything is put into words: ranks at one place may be tens of thousands.
        let mut shown: HashMap<(&str, Option<&str>, Option<i64>), usize> = HashMap::new();
        let mut calls = Vec::new();
        for proc in procs {
            let process = self.process(*proc);
            let inside = process.and_then(|process| process.calls.first());
            let outside = process.and_then(|process| process.outside.first());
            let key = match (inside, outside) {
                (Some(call), _) => (call.function.as_str(), call.file.as_deref(), call.line.or(call.offset)),
                (None, Some(thread)) => ("", thread.file.as_deref(), thread.line.or(thread.offset)),
                (None, None) => continue,
            };
            let number = shown.entry(key).or_default();
            *number += 1;
            if *number <= SHOWN_CALLS {
                calls.extend(self.places(*proc, words::rank(self.job, *proc)));
            }
        }
        calls
    }

    fn places(&self, proc: ProcIndex, rank: Option<i64>) -> Vec<RankCall> {
        let outside = |thread: &Outside| {
            let held = self.waits.held.get(&proc).filter(|held| std::ptr::eq(held.thread, thread));
            let awaited = held.map(|held| held.awaited).or_else(|| held::of_own_thread(self.process(proc)?, thread));
            let (file, line, caller) = (thread.file.clone(), thread.line, thread.caller.clone());
            let call = Call {
                thread: thread.thread,
                file: file.map(Into::into),
                line,
                offset: thread.offset,
                caller: caller.map(Into::into),
                ..Call::default()
            };
            RankCall { rank, call, waits_for: awaited.map(|awaited| held::awaited(self, proc, awaited)) }
        };
        match self.waits.states.get(proc.0) {
            Some(ProcState::Blocked(threads)) => threads
                .iter()
                .map(|thread| {
                    let waits_for = self.waits.words(self.job, proc, thread);
                    RankCall { rank, call: thread.call.clone(), waits_for }
                })
                .chain(self.process(proc).into_iter().flat_map(|process| {
                    let outside_mpi = process.outside.iter().take(THREADS);
                    outside_mpi.filter(|thread| held::of_own_thread(process, thread).is_some()).map(outside)
                }))
                .collect(),
            Some(ProcState::Free(Free::Outside(thread))) => vec![outside(thread)],
            _ => {
                let process = self.process(proc);
                let calls = process.map_or(&[][..], |process| &process.calls);
                let rest = process.map_or(&[][..], |process| &process.outside);
                let inside = calls.iter().map(|call| RankCall { rank, call: call.clone(), waits_for: None });
                inside.chain(rest.iter().map(outside)).take(1).collect()
            }
        }
    }

    /// The calls of processes that a finding is about, in this order: where they stand, or what started the requests for
    /// which they wait.
    pub fn blamed(&self, procs: &[ProcIndex]) -> Vec<Blamed> {
        let mut blame = Blame::default();
        for proc in procs {
            let rank = words::rank(self.job, *proc);
            match self.waits.states.get(proc.0) {
                Some(ProcState::Blocked(threads)) => threads.iter().for_each(|thread| blame.waiting(rank, thread)),
                Some(ProcState::Free(Free::Outside(thread))) => blame.outside(rank, thread),
                _ => {
                    let process = self.process(*proc);
                    match process.map(|process| (process.calls.first(), process.outside.first())) {
                        Some((Some(call), _)) => blame.call(rank, call),
                        Some((None, Some(thread))) => blame.outside(rank, thread),
                        _ => {}
                    }
                }
            }
        }
        blame.places()
    }

    /// What started the operations for which processes wait, where the requests of their calls do not say it.
    pub fn started(&self, procs: &[ProcIndex]) -> Vec<RankStart> {
        let mut rank_starts = Vec::new();
        for proc in procs {
            let rank = words::rank(self.job, *proc);
            for thread in self.threads(*proc).iter().filter(|thread| blame::started(thread.call).next().is_none()) {
                let starts = thread.operations.iter().flat_map(|one| one.operation.started_by.iter());
                rank_starts.extend(starts.map(|started| RankStart { rank, started: started.clone() }));
            }
        }
        rank_starts.truncate(MOST_STARTS);
        rank_starts
    }

    /// Why it is not certain that processes are stuck, in sentences.
    pub fn doubts(&self, procs: &[ProcIndex]) -> Vec<String> {
        let mut sentences: Vec<String> = Vec::new();
        for proc in procs {
            if self.job.procs.get(proc.0).is_some_and(Proc::has_hidden_threads) {
                sentences
                    .push(format!("Not certain: not all threads of {} could be read.", words::proc(self.job, *proc)));
                break;
            }
            for thread in self.threads(*proc) {
                let moves = thread.in_flight.filter(|_| self.seen.get(proc.0) != Some(&Seen::Still));
                for reason in [thread.need.doubt(), moves].into_iter().flatten() {
                    let sentence = format!("Not certain: {reason}.");
                    if !sentences.contains(&sentence) {
                        sentences.push(sentence);
                    }
                }
            }
        }
        if sentences.is_empty() {
            sentences.push("Not certain: these ranks may wait for one of several things.".to_owned());
        }
        sentences
    }
}
