//! What to tell of what was found: one file a family of kinds.

pub mod collectives;
pub mod deadlock;
pub mod epochs;
pub mod finished;
pub mod messages;
pub mod non_blocking;
pub mod polling;
pub mod requests;
pub mod slow;

use std::collections::HashMap;

use super::job::{Job, Party, PartyId};
use super::matching::Matching;
use super::stuck::{Seen, Stuck};
use super::waits::{Free, Standing, Thread, Waits};
use super::words;
use model::{Call, Outside, RankCall};

/// All that findings are made from.
#[derive(Debug)]
pub struct Context<'a> {
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
    /// By party: what two looks tell of it.
    pub seen: &'a [Seen],
}

/// How many calls of ranks at one place a finding shows.
const SHOWN_CALLS: usize = 16;

impl<'a> Context<'a> {
    /// Whether a party can never go on for certain.
    pub fn stuck_for_certain(&self, party: PartyId) -> bool {
        self.sure.is_stuck(party)
    }

    /// Whether a party can perhaps never go on.
    pub fn perhaps_stuck(&self, party: PartyId) -> bool {
        self.sure.is_stuck(party) || self.possible.is_stuck(party)
    }

    /// Whether a party can perhaps never go on, or has finished.
    pub fn is_out(&self, party: PartyId) -> bool {
        self.perhaps_stuck(party) || finished::finished(self, party).is_some()
    }

    /// What is known of whether a party goes on.
    pub fn fate(&self, party: PartyId) -> messages::Fate {
        match finished::finished(self, party) {
            Some(how) => messages::Fate::Finished(how.words()),
            None if self.sure.is_stuck(party) => messages::Fate::Stuck,
            None if self.possible.is_stuck(party) => messages::Fate::Suspect,
            None => messages::Fate::Open,
        }
    }

    /// The ranks of parties, those that have one.
    pub fn ranks(&self, parties: &[PartyId]) -> Vec<i64> {
        parties.iter().filter_map(|party| words::rank(self.job, *party)).collect()
    }

    /// Threads of a party that wait.
    pub fn threads(&self, party: PartyId) -> &'a [Thread<'a>] {
        match self.waits.standing.get(party.0) {
            Some(Standing::Blocked(threads)) => threads,
            _ => &[],
        }
    }

    /// Where parties stand: of many at the same place some.
    pub fn calls(&self, parties: &[PartyId]) -> Vec<RankCall> {
        // Counted before anything is put into words: ranks at one place may be tens of thousands.
        let mut shown: HashMap<(&str, Option<&str>, Option<i64>), usize> = HashMap::new();
        let mut calls = Vec::new();
        for party in parties {
            let process = self.job.parties.get(party.0).and_then(|party| party.process);
            let inside = process.and_then(|process| process.calls.first());
            let outside = process.and_then(|process| process.outside.first());
            let key = match (inside, outside) {
                (Some(call), _) => (call.function.as_str(), call.file.as_deref(), call.line),
                (None, Some(thread)) => ("", thread.file.as_deref(), thread.line),
                (None, None) => continue,
            };
            let number = shown.entry(key).or_default();
            *number += 1;
            if *number <= SHOWN_CALLS {
                calls.extend(self.places(*party, words::rank(self.job, *party)));
            }
        }
        calls
    }

    fn places(&self, party: PartyId, rank: Option<i64>) -> Vec<RankCall> {
        let outside = |thread: &Outside| {
            let (file, line, caller) = (thread.file.clone(), thread.line, thread.caller.clone());
            let call = Call { thread: thread.thread, file, line, caller, ..Call::default() };
            RankCall { rank, call, waits_for: None }
        };
        match self.waits.standing.get(party.0) {
            Some(Standing::Blocked(threads)) => threads
                .iter()
                .map(|thread| {
                    let waits_for = self.waits.words(self.job, party, thread);
                    RankCall { rank, call: thread.call.clone(), waits_for }
                })
                .collect(),
            Some(Standing::Free(Free::Outside(thread))) => vec![outside(thread)],
            _ => {
                let process = self.job.parties.get(party.0).and_then(|party| party.process);
                let calls = process.map_or(&[][..], |process| &process.calls);
                let rest = process.map_or(&[][..], |process| &process.outside);
                let inside = calls.iter().map(|call| RankCall { rank, call: call.clone(), waits_for: None });
                inside.chain(rest.iter().map(outside)).take(1).collect()
            }
        }
    }

    /// Why it is not certain that parties are stuck, in sentences.
    pub fn doubts(&self, parties: &[PartyId]) -> Vec<String> {
        let mut told: Vec<String> = Vec::new();
        for party in parties {
            if self.job.parties.get(party.0).is_some_and(Party::has_hidden_threads) {
                told.push(format!("Not certain: not all threads of {} could be read.", words::party(self.job, *party)));
                break;
            }
            for thread in self.threads(*party) {
                let moves = thread.in_flight.filter(|_| self.seen.get(party.0) != Some(&Seen::Still));
                for reason in [thread.need.doubt(), moves].into_iter().flatten() {
                    let sentence = format!("Not certain: {reason}.");
                    if !told.contains(&sentence) {
                        told.push(sentence);
                    }
                }
            }
        }
        if told.is_empty() {
            told.push("Not certain: it is not known for sure which of several things these ranks wait for.".to_owned());
        }
        told
    }
}
