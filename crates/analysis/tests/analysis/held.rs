//! Ranks outside MPI that wait for what others have: locks of files, mutexes, threads, children.

use model::{Awaited, AwaitedKind, Finding, FindingKind, Outside, Owner, Snapshot, State, SystemCall, Verdict};

use super::made::{call, job, of_kind, receive, twice};

const HOST: &str = "node1";

/// A thread of the application that waits for this.
fn waits(thread: i64, kind: AwaitedKind, owners: Vec<Owner>) -> Outside {
    let name = if kind == AwaitedKind::FileLock { "fcntl" } else { "futex" };
    let path = (kind == AwaitedKind::FileLock).then(|| "/scratch/run/history".into());
    let awaited = Awaited { kind, path, owners, ..Awaited::default() };
    Outside {
        thread,
        function: Some("fcntl".to_owned()),
        caller: Some("append".to_owned()),
        file: Some("a.c".to_owned()),
        line: Some(20 + thread),
        main: Some(thread == 1),
        complete: Some(true),
        application: Some(true),
        system_call: Some(SystemCall {
            name: Some(name.to_owned()),
            waits: true,
            waits_for: Some(awaited.into()),
            ..SystemCall::default()
        }),
        ..Outside::default()
    }
}

fn process(pid: i64) -> Owner {
    Owner { pid: Some(pid), command: Some("solver".into()), ..Owner::default() }
}

fn thread(pid: i64, thread: i64) -> Owner {
    Owner { pid: Some(pid), thread: Some(thread), ..Owner::default() }
}

/// Rank 0 of three in MPI_Recv from rank 1; the others outside MPI.
fn made(outside: [Vec<Outside>; 2]) -> Snapshot {
    let mut snapshot = job(3);
    for (rank, process) in snapshot.processes.iter_mut().enumerate() {
        process.pid = Some(100 + rank as i64);
        process.host = Some(HOST.into());
        process.all_threads = Some(true);
    }
    call(&mut snapshot, 0, "MPI_Recv", 7);
    receive(&mut snapshot, 0, Some(1), 7);
    for (rank, threads) in (1..).zip(outside) {
        if threads.is_empty() {
            call(&mut snapshot, rank, "MPI_Recv", 8);
            receive(&mut snapshot, rank, Some(0), 7);
        }
        snapshot.processes[rank].outside = threads.into();
    }
    snapshot
}

fn told(snapshot: &Snapshot) -> (Vec<Finding>, Verdict) {
    twice(snapshot)
}

fn file_lock(owner: i64) -> Vec<Outside> {
    vec![waits(1, AwaitedKind::FileLock, vec![process(owner)])]
}

#[test]
fn a_lock_that_a_rank_keeps_while_it_waits_in_mpi_is_a_deadlock() {
    let (findings, verdict) = told(&made([file_lock(100), file_lock(100)]));
    assert_eq!(verdict.state, State::Deadlock, "{}", verdict.headline);
    let found = of_kind(&findings, FindingKind::Deadlock)[0];
    assert!(found.certain);
    assert_eq!(
        found.summary,
        "rank 1 waits for the lock of run/history, which rank 0 holds, and rank 0 waits in MPI_Recv"
    );
    assert!(found.evidence.iter().any(|line| line.contains("/scratch/run/history")), "{:?}", found.evidence);
}

#[test]
fn who_has_the_lock_and_is_at_work_may_give_it_back() {
    let mut snapshot = made([file_lock(102), file_lock(100)]);
    let mut work = file_lock(0).remove(0);
    work.system_call = Some(SystemCall::default());
    snapshot.processes[2].outside = vec![work].into();
    let (findings, verdict) = told(&snapshot);
    assert_eq!(verdict.state, State::Waiting, "{findings:?}");
    assert!(verdict.headline.starts_with("Rank 2 is outside MPI"), "{}", verdict.headline);
}

#[test]
fn who_is_not_of_the_job_may_give_it_back() {
    for snapshot in [made([file_lock(4242), file_lock(100)]), {
        let mut elsewhere = made([file_lock(100), file_lock(100)]);
        elsewhere.processes[0].host = Some("node2".into());
        elsewhere
    }] {
        let (findings, verdict) = told(&snapshot);
        assert_eq!(verdict.state, State::Waiting, "{findings:?}");
        assert!(verdict.headline.contains("Rank 1 waits for the lock of run/history, which process"), "{verdict:?}");
    }
}

/// Rank 1 reads or writes a file of that number; its other end is with these.
fn other_end(kind: AwaitedKind, descriptor: i64, owners: Vec<Owner>) -> Vec<Outside> {
    let mut threads = vec![waits(1, kind, owners)];
    let call = threads[0].system_call.as_mut().unwrap();
    call.name = Some(if kind == AwaitedKind::Writer { "read" } else { "write" }.to_owned());
    let awaited = call.waits_for.as_mut().unwrap();
    (awaited.descriptor, awaited.path) = (Some(descriptor), Some("/scratch/run/fifo".into()));
    threads
}

#[test]
fn who_waits_for_the_other_end_of_a_pipe_in_the_job_may_wait_for_ever() {
    let (findings, verdict) = told(&made([other_end(AwaitedKind::Writer, 5, vec![process(100)]), Vec::new()]));
    assert_eq!(verdict.state, State::Suspect, "{}", verdict.headline);
    let found = of_kind(&findings, FindingKind::Deadlock)[0];
    assert_eq!(found.summary, "perhaps rank 1 waits for rank 0 to write to run/fifo, and rank 0 waits in MPI_Recv");
}

#[test]
fn who_outside_the_job_reads_output_is_told_and_what_it_waits_for() {
    let next = Awaited {
        kind: AwaitedKind::Reader,
        descriptor: Some(1),
        owners: vec![Owner { pid: Some(78), command: Some("less".into()), ..Owner::default() }],
        ..Awaited::default()
    };
    let launcher = Owner { waits_for: Some(next.into()), ..process(77) };
    // What another rank has of its launcher it does not use.
    let snapshot = made([other_end(AwaitedKind::Reader, 1, vec![launcher, process(102)]), Vec::new()]);
    let (_, verdict) = told(&snapshot);
    assert_eq!(verdict.state, State::Waiting, "{verdict:?}");
    let words = "Rank 1 waits for process 77 (solver) to read its standard output, which itself waits for process 78 (less) to \
                 read its standard output";
    assert!(verdict.headline.starts_with(words), "{}", verdict.headline);
}

#[test]
fn an_unknown_owner_proves_nothing() {
    let mut threads = file_lock(100);
    let awaited = Awaited { kind: AwaitedKind::FileLock, unknown: Some("nobody tells".into()), ..Awaited::default() };
    threads[0].system_call.as_mut().unwrap().waits_for = Some(awaited.into());
    let (findings, verdict) = told(&made([threads, file_lock(100)]));
    assert_eq!(verdict.state, State::Waiting, "{findings:?}");
    assert!(verdict.headline.contains("the lock of a file (nobody tells)"), "{verdict:?}");
}

#[test]
fn another_thread_that_works_may_do_what_others_wait_for() {
    let mut threads = file_lock(100);
    threads.push(Outside { system_call: Some(SystemCall::default()), ..waits(2, AwaitedKind::Mutex, Vec::new()) });
    let (findings, verdict) = told(&made([threads, file_lock(100)]));
    assert_eq!(verdict.state, State::Waiting, "{findings:?}");
}

#[test]
fn mutexes_that_nobody_gives_back_are_deadlocks_by_themselves() {
    let mutex = |number: i64, owner: Owner| waits(number, AwaitedKind::Mutex, vec![owner]);
    let ended = Owner { ended: true, ..thread(101, 9) };
    for (threads, words) in [
        (vec![mutex(1, thread(101, 1))], "rank 1 waits for a mutex that it has locked itself"),
        (vec![mutex(1, ended)], "rank 1 waits for a mutex whose thread has ended without unlocking it"),
        (
            vec![mutex(1, thread(101, 2)), mutex(2, thread(101, 1))],
            "threads 1 and 2 of rank 1 wait for one another (a mutex, a mutex)",
        ),
    ] {
        let (findings, verdict) = told(&made([threads, Vec::new()]));
        assert_eq!(verdict.state, State::Deadlock, "{findings:?}");
        let found = of_kind(&findings, FindingKind::Deadlock)[0];
        assert_eq!(found.summary, format!("{words}, and ranks 0 and 2 wait for it"));
        assert_eq!(found.ranks, [1, 0, 2]);
    }
}

#[test]
fn a_mutex_whose_owner_works_is_no_deadlock() {
    let work = Outside { system_call: Some(SystemCall::default()), ..waits(2, AwaitedKind::Mutex, Vec::new()) };
    let threads = vec![waits(1, AwaitedKind::Mutex, vec![thread(101, 2)]), work];
    let (findings, verdict) = told(&made([threads, Vec::new()]));
    assert_eq!(verdict.state, State::Waiting, "{findings:?}");
}
