//! Stacks become one tree: each frame of each stack is looked at once, and nothing recurses.

use hashbrown::HashMap;
use std::collections::BTreeMap;

use model::{Members, RankRuns, Repeats, Stack};

use super::fold::Shown;
use super::{Options, Who};

/// So many frames of a stack are in the tree at most: of a deeper one its outer and its inner half.
pub const MOST_DEEP: usize = 1000;

/// So many nodes a tree has at most.
pub const MOST_NODES: usize = 200_000;

/// Processes that are being collected.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    ranks: RankRuns,
    pids: RankRuns,
    unnamed: u64,
    /// One more than the place of the last one.
    last: usize,
}

impl Group {
    /// Adds a process; one after the other, each as often as it comes.
    pub(super) fn add(&mut self, who: &Who) {
        if self.last == who.at + 1 {
            return;
        }
        self.last = who.at + 1;
        match (who.rank.filter(|rank| *rank >= 0), who.pid.filter(|pid| *pid >= 0)) {
            (Some(rank), _) => self.ranks.add(rank),
            (None, Some(pid)) => self.pids.add(pid),
            (None, None) => self.unnamed += 1,
        }
    }

    pub(super) fn finished(self) -> Members {
        Members { ranks: self.ranks.finished(), pids: self.pids.finished(), unnamed: self.unnamed }
    }
}

/// What two frames must have in common to be one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key<'a> {
    pub(super) frame: Shown<'a>,
    pub(super) incomplete: bool,
    pub(super) left_out: u64,
}

/// A node that is being made.
#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) parent: Option<usize>,
    pub(super) key: Key<'a>,
    pub(super) repeats: Option<Repeats>,
    pub(super) members: Group,
    pub(super) ends: Group,
    pub(super) threads: BTreeMap<i64, Group>,
}

/// A frame of a stack, and how often it stands there in a row.
struct Step<'a> {
    key: Key<'a>,
    times: u64,
}

/// The tree that is being made.
#[derive(Debug, Default)]
pub(super) struct Merger<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) members: Group,
    pub(super) incomplete: Group,
    pub(super) cut: Group,
    children: HashMap<(Option<usize>, Key<'a>), usize>,
    /// The nodes of the last stack, outermost first: most stacks are like the one before.
    last: Vec<usize>,
}

impl<'a> Merger<'a> {
    /// Adds a stack of a process, of which these frames are shown.
    pub(super) fn add(&mut self, who: &Who, stack: &Stack, frames: &[Shown<'a>], options: Options) {
        self.members.add(who);
        if !stack.complete {
            self.incomplete.add(who);
        }
        let mut at = None;
        let mut same = true;
        for (depth, step) in steps(frames, stack.complete, options.internal).into_iter().enumerate() {
            let known = self.last.get(depth).copied().filter(|known| same && self.nodes[*known].key == step.key);
            let Some(node) = known.or_else(|| self.child(at, step.key)) else {
                self.cut.add(who);
                break;
            };
            if known.is_none() {
                same = false;
                self.last.truncate(depth);
                self.last.push(node);
            }
            let merged = &mut self.nodes[node];
            merged.members.add(who);
            merged.repeats = repeated(merged.repeats, step.times);
            if options.all_threads {
                merged.threads.entry(stack.thread).or_default().add(who);
            }
            at = Some(node);
        }
        if let Some(innermost) = at {
            self.nodes[innermost].ends.add(who);
        }
    }

    /// The node of a frame that the one at `parent` calls; `None` where there are too many.
    fn child(&mut self, parent: Option<usize>, key: Key<'a>) -> Option<usize> {
        if let Some(known) = self.children.get(&(parent, key)) {
            return Some(*known);
        }
        let place = self.nodes.len();
        if place >= MOST_NODES {
            return None;
        }
        self.children.insert((parent, key), place);
        let (members, ends, threads) = (Group::default(), Group::default(), BTreeMap::new());
        self.nodes.push(Node { parent, key, repeats: None, members, ends, threads });
        Some(place)
    }
}

/// How often a frame stands in a row, of all stacks so far. `None` is once, as nearly all do; a node is made with its first
/// stack, so that a later one can only widen it.
fn repeated(known: Option<Repeats>, times: u64) -> Option<Repeats> {
    match known {
        None => Some(Repeats { least: times, most: times }),
        Some(known) => Some(Repeats { least: known.least.min(times), most: known.most.max(times) }),
    }
}

/// The way of a stack through the tree, outermost first. What calls itself is one frame unless all are wanted.
fn steps<'a>(frames: &[Shown<'a>], complete: bool, internal: bool) -> Vec<Step<'a>> {
    let mut steps: Vec<Step<'a>> = Vec::with_capacity(frames.len());
    for frame in frames {
        // Whose code it is may be known for one process and not for another.
        let frame = Shown { application: None, ..*frame };
        match steps.last_mut() {
            Some(last) if !internal && last.key.frame == frame => last.times += 1,
            _ => {
                let incomplete = steps.is_empty() && !complete;
                steps.push(Step { key: Key { frame, incomplete, left_out: 0 }, times: 1 });
            }
        }
    }
    if steps.len() > MOST_DEEP {
        let half = MOST_DEEP / 2;
        let too_many = half..steps.len() - half;
        let left_out = too_many.len() as u64;
        steps.drain(too_many);
        if let Some(next) = steps.get_mut(half) {
            next.key.left_out = left_out;
        }
    }
    steps
}
