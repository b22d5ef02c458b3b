//! Ranks of the same fate are one node, and no graph is larger than a person reads.

use analysis::diagnose::diagnose;
use model::{
    Argument, Awaited, AwaitedKind, Call, Communicator, Group, Operation, Outside, Owner, Process, Queue, Snapshot,
    Stage, SystemCall,
};
use overview::fates::{MOST_NODES, Role, Standing};
use overview::graph::MOST_EDGES;
use overview::{Overview, overview};

/// A rank that receives from another one, at a line of its own.
pub fn receiver(rank: i64, ranks: i64, from: i64, line: i64, world: &Group) -> Process {
    let argument = |name: &str, value: i64| Argument { name: name.into(), value: Some(value), ..Argument::default() };
    let receive = Operation {
        desired_local_rank: Some(from),
        desired_global_rank: Some(from),
        desired_tag: Some(5),
        call: Some("MPI_Recv".into()),
        ..Operation::default()
    };
    let queue = Queue { operations: vec![receive], ..Queue::default() };
    Process {
        rank: Some(rank),
        world_size: Some(ranks),
        stage: Some(Stage::Initialized),
        all_threads: Some(true),
        calls: vec![Call {
            thread: 1,
            function: "MPI_Recv".into(),
            file: Some("halo.c".into()),
            line: Some(line),
            communicator: Some(0),
            arguments: vec![argument("source", from), argument("tag", 5)],
            ..Call::default()
        }]
        .into(),
        communicators: vec![Communicator {
            name: "MPI_COMM_WORLD".into(),
            context_id: Some("0".into()),
            local_rank: Some(rank),
            size: Some(ranks),
            group: Some(world.clone()),
            pending_receives: queue.into(),
            ..Communicator::default()
        }]
        .into(),
        ..Process::default()
    }
}

pub fn job(processes: Vec<Process>) -> Snapshot {
    Snapshot { processes: processes.into_iter().map(Into::into).collect(), ..Snapshot::default() }
}

pub fn told(snapshot: &Snapshot) -> Overview {
    let (findings, verdict) = diagnose(snapshot, None);
    overview(snapshot, &findings, &verdict)
}

#[test]
fn who_waits_for_a_lock_of_another_rank_has_an_arrow_of_its_own() {
    let world: Group = (0..2).map(Some).collect();
    let mut holder = receiver(0, 2, 1, 7, &world);
    let mut waiter = receiver(1, 2, 0, 7, &world);
    waiter.calls = Vec::new().into();
    waiter.communicators[0].pending_receives = Queue::default().into();
    for (process, pid) in [(&mut holder, 100), (&mut waiter, 101)] {
        process.pid = Some(pid);
        process.host = Some("node1".into());
    }
    let owner = Owner { pid: Some(100), ..Owner::default() };
    let lock = |kind, owners| Awaited { kind, path: Some("/run/history".into()), owners, ..Awaited::default() };
    let waits = |awaited: Awaited| Outside {
        thread: 1,
        main: Some(true),
        complete: Some(true),
        application: Some(true),
        system_call: Some(SystemCall { waits: true, waits_for: Some(awaited.into()), ..SystemCall::default() }),
        ..Outside::default()
    };
    waiter.outside = vec![waits(lock(AwaitedKind::FileLock, vec![owner.clone()]))].into();
    let mut snapshot = job(vec![holder, waiter]);
    let edges = |snapshot: &Snapshot| -> Vec<_> {
        let edges = told(snapshot).graph.edges;
        edges.iter().map(|edge| (edge.from, edge.to, edge.what.join("; "), edge.outside, edge.cause)).collect()
    };
    let receive = (0, 1, "send tag 5 on MPI_COMM_WORLD".to_owned(), false, true);
    assert_eq!(edges(&snapshot), [receive.clone(), (1, 0, "unlock history".to_owned(), true, true)]);
    // Of a pipe a rank has what its launcher has: nobody says that the rank is to read it.
    let launcher = Owner { pid: Some(4242), ..Owner::default() };
    snapshot.processes[1].outside = vec![waits(lock(AwaitedKind::Reader, vec![owner, launcher]))].into();
    let found = edges(&snapshot);
    assert!(found.iter().all(|edge| (edge.0, edge.1) == (0, 1)), "{found:?}");
}

#[test]
fn a_circle_of_few_has_each_rank() {
    let world: Group = (0..3).map(Some).collect();
    let ring = job((0..3).map(|rank| receiver(rank, 3, (rank + 1) % 3, 7, &world)).collect());
    let graph = told(&ring).graph;
    assert_eq!(graph.nodes.len(), 3);
    assert!(graph.nodes.iter().all(|node| node.role == Role::Cause && node.standing == Standing::Waiting));
    let edges: Vec<_> = graph.edges.iter().map(|edge| (edge.from, edge.to, edge.what.join("; "), edge.cause)).collect();
    let what = || "send tag 5 on MPI_COMM_WORLD".to_owned();
    assert_eq!(edges, [(0, 1, what(), true), (1, 2, what(), true), (2, 0, what(), true)]);
    assert_eq!(graph.nodes[0].findings, [0]);
}

#[test]
fn those_that_wait_for_a_circle_are_held() {
    let world: Group = (0..20).map(Some).collect();
    let from = |rank: i64| if rank < 2 { 1 - rank } else { rank - 1 };
    let chain = job((0..20).map(|rank| receiver(rank, 20, from(rank), if rank < 2 { 7 } else { 9 }, &world)).collect());
    let graph = told(&chain).graph;
    let nodes: Vec<_> = graph.nodes.iter().map(|node| (node.ranks.to_string(), node.role)).collect();
    assert_eq!(nodes, [("0".to_owned(), Role::Cause), ("1".to_owned(), Role::Cause), ("2-19".to_owned(), Role::Held)]);
    let edges: Vec<_> = graph.edges.iter().map(|edge| (edge.from, edge.to, edge.waiting)).collect();
    assert_eq!(edges, [(0, 1, 1), (1, 0, 1), (2, 1, 1), (2, 2, 17)]);
}

#[test]
fn ranks_at_very_many_places_are_told_by_their_functions() {
    let ranks = 3000;
    let world: Group = (0..ranks).map(Some).collect();
    let all = (0..ranks).map(|rank| receiver(rank, ranks, (rank * 7 + 1) % ranks, rank, &world)).collect();
    let found = told(&job(all));
    assert!(found.graph.nodes.len() <= MOST_NODES, "{}", found.graph.nodes.len());
    assert!(found.graph.edges.len() <= MOST_EDGES);
    let members: u64 = found.graph.nodes.iter().map(|node| node.processes).sum();
    assert_eq!(members, 3000);
    assert_eq!(found.tables.ranks.node.len(), 3000);
}

#[test]
fn members_that_were_not_read_are_a_node() {
    let world: Group = (0..4).map(Some).collect();
    let graph = told(&job(vec![receiver(0, 4, 1, 7, &world)])).graph;
    let nodes: Vec<_> = graph.nodes.iter().map(|node| (node.ranks.to_string(), node.standing)).collect();
    assert_eq!(nodes, [("0".to_owned(), Standing::Waiting), ("1-3".to_owned(), Standing::NotRead)]);
    assert_eq!((graph.edges[0].from, graph.edges[0].to), (0, 1));
}

#[test]
fn who_works_waits_for_nobody() {
    let work = Outside { thread: 1, caller: Some("work".to_owned()), main: Some(true), ..Outside::default() };
    let process = Process {
        rank: Some(0),
        stage: Some(Stage::Initialized),
        outside: vec![work].into(),
        all_threads: Some(true),
        ..Process::default()
    };
    let graph = told(&job(vec![process])).graph;
    assert_eq!(graph.nodes[0].standing, Standing::Outside);
    assert_eq!(graph.nodes[0].caller.as_deref(), Some("work"));
    assert!(graph.edges.is_empty());
    let nothing = told(&Snapshot::default()).graph;
    assert!(nothing.nodes.is_empty() && nothing.edges.is_empty());
}
