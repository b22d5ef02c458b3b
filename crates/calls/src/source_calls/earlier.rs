//! The non-blocking collectives that control may have passed before a thread came to its place, the last one first: a library
//! numbers them in that order.

use super::Mention;
use crate::source::flow::{Body, Mark, last_before};
use functions::Started;
use model::SourceCall;

/// Of more ways nobody can tell which was taken.
const MOST_WAYS: usize = 8;

/// So far back ways are followed.
const LONGEST: usize = 8;

/// Parameters that say which collective it is.
pub(super) const WHICH: [&str; 2] = ["comm", "root"];

/// A way back, the last call first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Way<C> {
    pub(super) calls: Vec<C>,
    /// Whether it comes to the beginning of the function.
    pub(super) whole: bool,
}

/// Whether a function starts a collective, which is numbered when it does.
pub(super) fn starts(function: &str) -> bool {
    functions::find(function)
        .is_some_and(|function| function.starts() == Some(Started::Collective) && !function.is_persistent())
}

/// The ways through one function to a place, by the places of calls in the list; none where they are too many.
pub(super) fn ways(body: &Body, mentioned: &[Mention], place: usize) -> Vec<Way<usize>> {
    let marks: Vec<(usize, Mark)> = mentioned
        .iter()
        .enumerate()
        .filter(|(_, one)| starts(&one.function))
        .map(|(at, one)| (at, Mark { at: one.at, starts: true, ends: true }))
        .collect();
    let places: Vec<Mark> = marks.iter().map(|(_, mark)| *mark).collect();
    let mut done: Vec<Way<usize>> = Vec::new();
    let mut open: Vec<(Way<usize>, usize)> = vec![(Way { calls: Vec::new(), whole: false }, place)];
    for _ in 0..=LONGEST {
        let mut next = Vec::new();
        let mut ended = Vec::new();
        for (way, at) in &open {
            let Some(last) = last_before(body, *at, &places) else { return Vec::new() };
            for (call, mark) in last.marks.iter().filter_map(|mark| marks.get(*mark)) {
                let calls = way.calls.iter().copied().chain([*call]).collect();
                next.push((Way { calls, whole: false }, mark.at));
            }
            if !last.over {
                ended.push(Way { calls: way.calls.clone(), whole: true });
            }
        }
        if done.len() + ended.len() + next.len() > MOST_WAYS {
            break;
        }
        done.extend(ended);
        open = next;
    }
    done.extend(open.into_iter().map(|(way, _)| way));
    done
}

/// Ways through the functions of a stack: the calls, each with the place of its function's frame.
#[derive(Debug)]
pub(super) struct Ways {
    all: Vec<Way<(usize, SourceCall)>>,
}

impl Ways {
    /// None yet.
    pub(super) fn new() -> Self {
        Self { all: vec![Way { calls: Vec::new(), whole: true }] }
    }

    /// Goes on in the function from which the ones so far were called, whose frame stands at `place`.
    pub(super) fn go_on(&mut self, outer: &[Way<SourceCall>], place: usize) {
        let mut all = Vec::new();
        for way in &self.all {
            if !way.whole {
                all.push(way.clone());
                continue;
            }
            for further in outer {
                let behind = further.calls.iter().map(|call| (place, call.clone()));
                let calls = way.calls.iter().cloned().chain(behind).take(LONGEST).collect();
                all.push(Way { calls, whole: further.whole });
            }
        }
        if outer.is_empty() || all.len() > MOST_WAYS {
            return self.stop();
        }
        self.all = all;
    }

    /// Nothing is known of what was called before.
    pub(super) fn stop(&mut self) {
        self.all.iter_mut().for_each(|way| way.whole = false);
    }

    /// The calls of all of them, each with the number of its way.
    pub(super) fn calls(self) -> impl Iterator<Item = (usize, SourceCall)> {
        self.all.into_iter().zip(0..).flat_map(|(Way { calls, whole }, way)| {
            let last = calls.len().saturating_sub(1);
            let numbered = move |(at, (place, call))| {
                let first = whole && at == last;
                (place, SourceCall { way: Some(way), first, ..call })
            };
            calls.into_iter().enumerate().map(numbered)
        })
    }
}
