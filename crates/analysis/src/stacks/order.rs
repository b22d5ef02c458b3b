//! The tree in its order: each frame before what it called, where most are first.

use functions::c_name;
use model::{Members, StackNode, ThreadMembers};

use super::Options;
use super::merge::{Merger, Node};

/// The nodes of a tree; whose stacks are in it, whose were not seen to their end, and whose are cut.
pub(super) fn finished(merger: Merger<'_>, options: Options) -> (Vec<StackNode>, Members, Members, Members) {
    let members = merger.members.finished();
    let mut made: Vec<Option<Made>> = Vec::with_capacity(merger.nodes.len());
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); merger.nodes.len()];
    let mut roots = Vec::new();
    for (at, node) in merger.nodes.into_iter().enumerate() {
        match node.parent {
            Some(parent) => children[parent].push(at),
            None => roots.push(at),
        }
        made.push(Some(Made::from_node(node, &members, options)));
    }
    let mut nodes = Vec::with_capacity(made.len());
    // What is still to be written, the next one last: its place, and that of the one that called it among those written.
    let mut next: Vec<(usize, Option<usize>)> = Vec::new();
    push(&mut next, roots, None, &made);
    while let Some((at, parent)) = next.pop() {
        let Some(mut node) = made[at].take().map(|made| made.0) else { continue };
        let place = nodes.len();
        node.parent = parent;
        node.depth = parent.and_then(|parent: usize| nodes.get(parent)).map_or(0, |outer: &StackNode| outer.depth + 1);
        nodes.push(node);
        push(&mut next, std::mem::take(&mut children[at]), Some(place), &made);
    }
    (nodes, members, merger.incomplete.finished(), merger.cut.finished())
}

/// Puts those that one called on the pile, so that the largest comes off first, of equal ones the one with the lowest rank.
fn push(pile: &mut Vec<(usize, Option<usize>)>, mut called: Vec<usize>, parent: Option<usize>, made: &[Option<Made>]) {
    let key = |at: &usize| {
        let members = made[*at].as_ref().map(|made| &made.0.members);
        (members.map_or(0, Members::len), members.and_then(|members| members.ranks.iter().next()))
    };
    called.sort_by(|one, other| {
        let ((many, first), (more, earlier)) = (key(one), key(other));
        many.cmp(&more).then_with(|| earlier.cmp(&first)).then_with(|| other.cmp(one))
    });
    pile.extend(called.into_iter().map(|at| (at, parent)));
}

/// A node with all but its place.
struct Made(StackNode);

impl Made {
    fn from_node(node: Node<'_>, all: &Members, options: Options) -> Self {
        let frame = node.key.frame;
        let members = node.members.finished();
        // Only where they are few: else the sets of all nodes together could be as large as the square of the ranks.
        let few = members.ranks.len().saturating_mul(2) >= all.ranks.len();
        let absent = if few { all.ranks.without(&members.ranks) } else { Default::default() };
        let threads = node.threads.into_iter().map(|(thread, of)| ThreadMembers { thread, members: of.finished() });
        Self(StackNode {
            // As people know it, in whichever language it was called.
            function: frame.function.map(|name| if frame.mpi { c_name(name).into_owned() } else { name.to_owned() }),
            file: frame.file.map(ToOwned::to_owned),
            line: frame.line,
            language: frame.language,
            image: frame.image.map(ToOwned::to_owned),
            mpi: frame.mpi,
            incomplete: node.key.incomplete,
            left_out: node.key.left_out,
            repeats: node.repeats.filter(|repeats| repeats.most > 1),
            members,
            absent,
            ends: node.ends.finished(),
            threads: if options.all_threads { threads.collect() } else { Vec::new() },
            ..StackNode::default()
        })
    }
}
