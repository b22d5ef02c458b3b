//! Merged stacks.

use std::collections::BTreeSet;

use analysis::stacks::{MOST_DEEP, MOST_NODES, Options, merge};
use model::{
    Awaited, AwaitedKind, Frame, FrameLanguage, Owner, Process, RankSet, Snapshot, Stack, StackTree, SystemCall,
};
use proptest::option;
use proptest::prelude::*;

use super::made_stacks::{dark_job, frame, library, stack};

fn all() -> Options {
    Options::default()
}

/// The nodes as lines: the depth, the frame, who passes through it, who not, whose stacks end there.
fn lines(tree: &StackTree) -> Vec<String> {
    let line = |node: &model::StackNode| {
        let mut line = " ".repeat(node.depth) + node.function.as_deref().unwrap_or("??");
        node.line.iter().for_each(|number| line.push_str(&format!(":{number}")));
        line.push_str(&format!(" {}", node.members.ranks));
        if !node.absent.is_empty() {
            line.push_str(&format!(" without {}", node.absent));
        }
        if !node.ends.is_empty() {
            line.push_str(&format!(" ends {}", node.ends.ranks));
        }
        line
    };
    tree.nodes.iter().map(line).collect()
}

fn snapshot(stacks: Vec<Vec<Stack>>) -> Snapshot {
    let mut snapshot = dark_job(stacks.len());
    for (process, stacks) in snapshot.processes.iter_mut().zip(stacks) {
        process.stacks = stacks.into();
    }
    snapshot
}

fn own(names: &[(&str, i64)]) -> Vec<Frame> {
    names.iter().map(|(name, line)| frame(name, "a.c", *line)).collect()
}

#[test]
fn who_is_where_and_who_is_not() {
    let barrier = || vec![library("poll", "libc.so.6"), library("PMPI_Barrier", "libmpi.so.40")];
    let crowd = || vec![stack(&own(&[("main", 9), ("step", 4)]), barrier())];
    let work = stack(&own(&[("main", 9), ("step", 3), ("relax", 7)]), vec![library("exp", "libm.so.6")]);
    let snapshot = snapshot(vec![crowd(), crowd(), vec![work], crowd(), vec![]]);
    let tree = merge(&snapshot, all());
    assert_eq!(
        lines(&tree),
        [
            "main:9 0-3",
            " step:4 0-1,3 without 2",
            "  MPI_Barrier 0-1,3 without 2 ends 0-1,3",
            " step:3 2",
            "  relax:7 2",
            "   exp 2 ends 2",
        ]
    );
    assert_eq!((tree.members.ranks.to_string().as_str(), tree.not_read.ranks.to_string().as_str()), ("0-3", "4"));
    let node = &tree.nodes[2];
    assert_eq!((node.mpi, node.parent, &node.file), (true, Some(1), &None));
    // All frames.
    let deep = merge(&snapshot, Options { internal: true, rank: Some(0), ..all() });
    let names: Vec<_> = deep.nodes.iter().map(|node| node.function.as_deref().unwrap_or_default()).collect();
    let expected =
        ["_start", "__libc_start_main_impl", "__libc_start_call_main", "main", "step", "PMPI_Barrier", "poll"];
    assert_eq!(names, expected);
    assert!(deep.not_read.is_empty());
}

#[test]
fn what_ranks_wait_for_outside_mpi_and_who_has_it() {
    let held = |owner: i64| {
        let owner = Owner { pid: Some(owner), command: Some("cat".into()), ..Owner::default() };
        let awaited = Awaited {
            kind: AwaitedKind::FileLock,
            path: Some("/scratch/run/history".into()),
            owners: vec![owner],
            ..Awaited::default()
        };
        SystemCall { waits: true, waits_for: Some(awaited.into()), ..SystemCall::default() }
    };
    let waiting = || vec![stack(&own(&[("main", 3), ("append", 9)]), vec![library("fcntl64", "libc.so.6")])];
    let alone = vec![stack(&own(&[("main", 3)]), Vec::new())];
    let mut snapshot = snapshot(vec![alone, waiting(), waiting(), waiting()]);
    for (rank, process) in snapshot.processes.iter_mut().enumerate() {
        process.pid = Some(100 + rank as i64);
        let mut outside = process.stacks[0].outside().unwrap();
        outside.system_call = (rank > 0).then(|| held(if rank == 3 { 4242 } else { 100 }));
        process.outside = vec![outside].into();
    }
    let waits = merge(&snapshot, Options::default()).waits;
    let told: Vec<_> = waits.iter().map(|wait| format!("{}: {}", wait.members.ranks, wait.what)).collect();
    assert_eq!(
        told,
        [
            "1-2: the lock of run/history, which rank 0 holds",
            "3: the lock of run/history, which process 4242 (cat) holds"
        ]
    );
}

#[test]
fn ranks_that_were_not_read_at_all() {
    let mut snapshot = snapshot(vec![vec![stack(&own(&[("main", 9)]), vec![])]]);
    snapshot.processes[0].world_size = Some(8);
    snapshot.processes.push(Process { pid: Some(77), ..Process::default() }.into());
    let tree = merge(&snapshot, all());
    assert_eq!((tree.not_read.ranks.to_string().as_str(), tree.not_read.pids.to_string().as_str()), ("1-7", "77"));
}

#[test]
fn wrappers_and_interpreters_are_folded_away() {
    let python = |name: &str, own: bool, line: i64| Frame {
        language: Some(FrameLanguage::Python),
        application: Some(own),
        image: None,
        ..frame(name, "hang.py", line)
    };
    let native = |name: &str| library(name, "libpython3.11.so.1.0");
    let wrapper = |name: &str| Frame { wrapper: true, ..library(name, "MPI.cpython-311-x86_64-linux-gnu.so") };
    let frames = vec![
        library("opal_progress", "libopen-pal.so.40"),
        library("PMPI_Recv", "libmpi.so.40"),
        wrapper("__pyx_pw_6mpi4py_3MPI_4Comm_recv"),
        native("_PyEval_EvalFrameDefault"),
        python("exchange", true, 8),
        native("_PyFunction_Vectorcall"),
        native("_PyEval_EvalFrameDefault"),
        python("main", true, 12),
        native("PyEval_EvalCode"),
        native("_PyEval_EvalFrameDefault"),
        python("_run_code", false, 88),
        native("Py_BytesMain"),
        library("__libc_start_main_impl", "libc.so.6"),
        library("_start", "python3.11"),
    ];
    let stack = Stack { thread: 1, complete: true, main: Some(true), frames, ..Stack::default() };
    let tree = merge(&snapshot(vec![vec![stack]]), all());
    assert_eq!(lines(&tree), ["main:12 0", " exchange:8 0", "  MPI_Recv 0 ends 0"]);
    assert_eq!(tree.nodes[1].language, Some(FrameLanguage::Python));
}

#[test]
fn threads_of_the_application_where_they_are_asked_for() {
    let thread = |number: i64, frames: Vec<Frame>| Stack {
        thread: number,
        complete: true,
        main: Some(false),
        frames,
        ..Stack::default()
    };
    let worker =
        thread(3, vec![frame("sum", "a.c", 20), library("start_thread", "libc.so.6"), library("clone3", "libc.so.6")]);
    let helper = thread(
        2,
        vec![
            library("epoll_wait", "libc.so.6"),
            library("progress_engine", "libopen-pal.so.40"),
            library("start_thread", "libc.so.6"),
        ],
    );
    let main = stack(&own(&[("main", 9)]), vec![]);
    let snapshot = snapshot(vec![vec![main.clone(), helper.clone(), worker.clone()], vec![main, helper]]);
    assert_eq!(lines(&merge(&snapshot, all())), ["main:9 0-1 ends 0-1"]);
    let tree = merge(&snapshot, Options { all_threads: true, ..all() });
    assert_eq!(lines(&tree), ["main:9 0-1 ends 0-1", "sum:20 0 without 1 ends 0"]);
    let threads: Vec<_> = tree.nodes[1].threads.iter().map(|one| (one.thread, one.members.ranks.to_string())).collect();
    assert_eq!(threads, [(3, "0".to_owned())]);
    let tree = merge(&snapshot, Options { all_threads: true, internal: true, ..all() });
    assert!(tree.nodes.iter().any(|node| node.function.as_deref() == Some("progress_engine")));
}

#[test]
fn what_calls_itself_is_one_frame() {
    let deep = |times: usize| {
        let mut frames = own(&[("main", 9)]);
        frames.extend((0..times).map(|_| frame("walk", "t.c", 5)));
        stack(&frames, vec![library("MPI_Barrier", "libmpi.so.40")])
    };
    let snapshot = snapshot(vec![vec![deep(3)], vec![deep(7)], vec![deep(1)]]);
    let tree = merge(&snapshot, all());
    assert_eq!(lines(&tree), ["main:9 0-2", " walk:5 0-2", "  MPI_Barrier 0-2 ends 0-2"]);
    assert_eq!(tree.nodes[1].repeats.map(|repeats| (repeats.least, repeats.most)), Some((1, 7)));
    assert_eq!(tree.nodes[0].repeats, None);
}

#[test]
fn a_stack_that_was_not_seen_to_its_end_stands_apart() {
    let whole = stack(&own(&[("main", 9), ("step", 4)]), vec![]);
    let half = Stack { complete: false, frames: vec![frame("step", "a.c", 4)], ..whole.clone() };
    let tree = merge(&snapshot(vec![vec![whole], vec![half]]), all());
    assert_eq!(lines(&tree), ["main:9 0 without 1", " step:4 0 without 1 ends 0", "step:4 1 without 0 ends 1"]);
    assert!(tree.nodes[2].incomplete && !tree.nodes[0].incomplete);
    assert_eq!(tree.incomplete.ranks, RankSet::of([1]));
}

#[test]
fn a_stack_of_any_depth_and_a_tree_of_any_size() {
    // Two functions that call each other a million times, with a line of its own each.
    let frames = (0..1_000_000_i64).map(|line| frame("walk", "t.c", line)).collect();
    let deep = Stack { thread: 1, complete: true, frames, ..Stack::default() };
    let tree = merge(&snapshot(vec![vec![deep]]), all());
    assert_eq!(tree.nodes.len(), MOST_DEEP);
    let left_out: Vec<_> = tree.nodes.iter().map(|node| node.left_out).filter(|number| *number > 0).collect();
    assert_eq!(left_out, [1_000_000 - MOST_DEEP as u64]);
    assert_eq!(tree.nodes.last().unwrap().line, Some(0));
    let read: Snapshot =
        serde_json::from_str(&serde_json::to_string(&Snapshot { stacks: Some(tree), ..Snapshot::default() }).unwrap())
            .unwrap();
    drop(read);
    // Each rank elsewhere.
    let apart = |rank: usize| (0..100).map(|line| frame("walk", "t.c", (1000 * rank + line) as i64)).collect();
    let stacks =
        (0..3000).map(|rank| vec![Stack { thread: 1, complete: true, frames: apart(rank), ..Stack::default() }]);
    let tree = merge(&snapshot(stacks.collect()), all());
    assert_eq!(tree.nodes.len(), MOST_NODES);
    assert_eq!(tree.cut.ranks.to_string(), "2000-2999");
}

fn any_stack() -> impl Strategy<Value = Stack> {
    const NAMES: &[&str] =
        &["main", "step", "MPI_Recv", "PMPI_Barrier", "_start", "start_thread", "clone", "", "\u{1b}"];
    let names = prop::sample::select(NAMES);
    let frame =
        (option::of(names), option::of(0..3_i64), option::of(any::<bool>()), any::<bool>(), any::<bool>(), 0..3_u8);
    let frame = frame.prop_map(|(function, line, application, python, wrapper, image)| Frame {
        function: function.map(str::to_owned),
        file: line.map(|line| format!("{line}.c")),
        line,
        offset: None,
        application,
        image: (image > 0).then(|| format!("/lib/{image}.so")),
        language: python.then_some(FrameLanguage::Python),
        wrapper,
        signal: None,
    });
    let frames = prop::collection::vec(frame, 0..8);
    (frames, any::<bool>(), option::of(any::<bool>()), -1..3_i64).prop_map(|(frames, complete, main, thread)| Stack {
        thread,
        complete,
        main,
        frames,
        ..Stack::default()
    })
}

fn any_snapshot() -> impl Strategy<Value = Snapshot> {
    let number = || prop_oneof![4 => -1..6_i64, 1 => any::<i64>()];
    let process =
        (option::of(number()), option::of(number()), option::of(number()), prop::collection::vec(any_stack(), 0..4));
    let process = process.prop_map(|(rank, pid, world_size, stacks)| Process {
        rank,
        pid,
        world_size,
        stacks: stacks.into(),
        ..Process::default()
    });
    prop::collection::vec(process, 0..8)
        .prop_map(|all| Snapshot { processes: all.into_iter().map(Into::into).collect(), ..Snapshot::default() })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_who_have_a_stack_end_somewhere(snapshot in any_snapshot(), all_threads in any::<bool>(), internal in any::<bool>()) {
        let tree = merge(&snapshot, Options { all_threads, internal, rank: None });
        let ranks = |of: &mut dyn Iterator<Item = &RankSet>| of.flat_map(RankSet::iter).collect::<BTreeSet<i64>>();
        let whole = ranks(&mut [&tree.members.ranks].into_iter());
        prop_assert_eq!(&ranks(&mut tree.nodes.iter().map(|node| &node.ends.ranks)), &whole);
        for (at, node) in tree.nodes.iter().enumerate() {
            let outer = node.parent.map(|parent| &tree.nodes[parent]);
            prop_assert!(node.parent.is_none_or(|parent| parent < at));
            prop_assert_eq!(node.depth, outer.map_or(0, |outer| outer.depth + 1));
            prop_assert!(outer.is_none_or(|outer| node.members.ranks.iter().all(|rank| outer.members.ranks.contains(rank))));
            prop_assert!(node.absent.iter().all(|rank| whole.contains(&rank) && !node.members.ranks.contains(rank)));
            // Whoever passes through a frame ends there, or passes through one that it called.
            let called = tree.nodes.iter().filter(|other| other.parent == Some(at));
            let further = ranks(&mut called.map(|node| &node.members.ranks).chain([&node.ends.ranks]));
            prop_assert_eq!(further, node.members.ranks.iter().collect::<BTreeSet<i64>>());
        }
        let told = Snapshot { stacks: Some(tree), ..snapshot.clone() };
        let text = serde_json::to_string(&told).unwrap();
        prop_assert_eq!(serde_json::from_str::<Snapshot>(&text).unwrap(), told);
        // Garbage is diagnosed, too.
        let (_, verdict) = analysis::diagnose::diagnose(&snapshot, None);
        prop_assert!(!verdict.headline.is_empty());
    }

    #[test]
    fn sets_of_ranks_are_sets(one in prop::collection::vec(0..40_i64, 0..30), other in prop::collection::vec(0..40_i64, 0..30)) {
        let plain = |ranks: &[i64]| ranks.iter().copied().collect::<BTreeSet<i64>>();
        let (set, taken) = (RankSet::of(one.iter().copied()), RankSet::of(other.iter().copied()));
        let (one, other) = (plain(&one), plain(&other));
        prop_assert_eq!(&set.iter().collect::<BTreeSet<_>>(), &one);
        prop_assert_eq!(set.len(), one.len() as u64);
        prop_assert!((0..40).all(|rank| set.contains(rank) == one.contains(&rank)));
        prop_assert_eq!(set.without(&taken), RankSet::of(one.difference(&other).copied()));
        prop_assert_eq!(set.joined(&taken), RankSet::of(one.union(&other).copied()));
        let text = serde_json::to_string(&set).unwrap();
        prop_assert_eq!(serde_json::from_str::<RankSet>(&text).unwrap(), set);
    }

    #[test]
    fn any_text_is_a_set_of_ranks_or_refused(text in "[0-9,\\-a]{0,20}") {
        if let Ok(set) = text.parse::<RankSet>() {
            prop_assert_eq!(set.to_string().parse(), Ok(set));
        }
    }
}
