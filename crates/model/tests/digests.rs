//! Digests: what is written comes back, equal things are there once, and no damage is believed or ends the reader.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use model::digest::{Digester, Digests};
use model::{
    Argument, Call, CallRequest, Common, Communicator, Frame, Mpi, Operation, Process, Queue, QueueState, Snapshot,
    Source, Stack, StartedBy,
};

fn process(rank: i64, size: i64) -> Process {
    let frame = |function: &str| Frame { function: Some(function.to_owned()), line: Some(7), ..Frame::default() };
    let stack = Stack { thread: 1, frames: ["poll", "MPI_Wait", "main"].map(frame).into(), ..Stack::default() };
    let argument = Argument { name: "request".into(), value: Some(0x7f00 + rank), ..Argument::default() };
    let started = StartedBy { function: "MPI_Irecv".to_owned(), line: Some(6), ..StartedBy::default() };
    let request = CallRequest { started_by: vec![started.clone()].into(), ..CallRequest::default() };
    let call = Call {
        function: "MPI_Wait".into(),
        file: Some("a.c".into()),
        arguments: vec![argument],
        requests: vec![request],
        ..Call::default()
    };
    let operation = Operation {
        desired_local_rank: Some((rank + 1) % size),
        datatype: Some("MPI_INT".into()),
        started_by: vec![started].into(),
        ..Operation::default()
    };
    let receives = Queue { operations: vec![operation], ..Queue::default() };
    let sends = Queue { state: QueueState::NoInformation, detail: Some("not kept".to_owned()), ..Queue::default() };
    let world = Communicator {
        name: "MPI_COMM_WORLD".into(),
        group: Some((0..size).map(Some).collect()),
        pending_receives: receives.into(),
        pending_sends: sends.into(),
        ..Communicator::default()
    };
    let odd = Communicator { name: "odd".into(), group: Some([None, Some(4), Some(1)].into()), ..world.clone() };
    Process {
        rank: Some(rank),
        host: Some("n1".into()),
        mpi: Some(Mpi { implementation: "Open MPI".to_owned(), ..Mpi::default() }.into()),
        source: Some(Source::default().into()),
        calls: vec![call].into(),
        stacks: vec![stack].into(),
        communicators: vec![world, odd].into(),
        ..Process::default()
    }
}

fn snapshot(size: i64) -> Snapshot {
    Snapshot { processes: (0..size).map(|rank| process(rank, size).into()).collect(), ..Snapshot::default() }
}

#[test]
fn what_is_written_comes_back() {
    let (mut digester, digests) = (Digester::default(), Digests::default());
    let mut now = snapshot(16);
    let first = digester.write(&now).unwrap();
    let read = digests.read("n1", &first).unwrap();
    assert_eq!(read, now);
    assert!(first.len() < serde_json::to_string(&now).unwrap().len() / 2);
    let (one, other) = (&read.processes[0], &read.processes[15]);
    assert_eq!(one.stacks.place(), other.stacks.place());
    let groups = [one, other].map(|process| process.communicators[0].group.clone().unwrap());
    assert!(Arc::ptr_eq(&groups[0], &groups[1]));
    // What is as it was is not sent again, and kept once.
    now.processes[3].calls[0].line = Some(9);
    let second = digester.write(&now).unwrap();
    let later = digests.read("n1", &second).unwrap();
    assert_eq!(later, now);
    assert!(second.len() < first.len() / 2);
    assert_eq!(later.processes[0].communicators.place(), one.communicators.place());
    // Other senders have other parts, and the same groups.
    assert!(digests.read("n2", &second).is_err());
    let beside = digests.read("n2", &Digester::default().write(&now).unwrap()).unwrap();
    assert_eq!(beside, now);
    let group = beside.processes[0].communicators[0].group.clone().unwrap();
    assert!(Arc::ptr_eq(&groups[0], &group));
    // In JSON nothing is a part.
    assert_eq!(serde_json::from_str::<Snapshot>(&serde_json::to_string(&later).unwrap()).unwrap(), now);
}

#[test]
fn what_is_changed_is_changed_in_one_place_only() {
    let read = Digests::default().read("n1", &Digester::default().write(&snapshot(2)).unwrap()).unwrap();
    let mut changed = read.clone();
    changed.processes[0].stacks[0].frames[0].line = Some(1);
    changed.processes[0].communicators[0].pending_receives.operations.clear();
    assert_eq!(read, snapshot(2));
    assert_ne!(changed, read);
    assert_eq!(Common::<Vec<Call>>::default().into_owned(), []);
}

#[test]
fn damage_is_an_error_or_another_snapshot() {
    let whole = Digester::default().write(&snapshot(3)).unwrap();
    let mut refused = 0;
    for at in 0..whole.len() {
        for byte in [b'0', b'9', b'"', b'\n', b'[', b'n'] {
            let mut damaged = whole.clone().into_bytes();
            damaged[at] = byte;
            refused += u32::from(Digests::default().read("n1", &String::from_utf8(damaged).unwrap()).is_err());
        }
        assert!(Digests::default().read("n1", &whole[..at]).is_err());
    }
    assert!(refused > 1000);
    for wrong in [
        "",
        "{}",
        "{\"digest\":2,\"known\":0,\"parts\":0}\n{}",
        "{\"digest\":1,\"known\":1,\"parts\":0}\n{}",
        "{\"digest\":1,\"known\":0,\"parts\":18446744073709551615}\n{}",
        "{\"digest\":1,\"known\":0,\"parts\":1}\n0\n{\"schema\":0}",
        "{\"digest\":1,\"known\":0,\"parts\":0}\n{\"schema\":\"another/1\",\"captured_at\":null}",
        "{\"digest\":1,\"known\":0,\"parts\":0}\n{\"schema\":\"mpi-queues/1\",\"captured_at\":null,\"processes\":[{\"host\":0}]}",
        // A part of itself, and a group of very many.
        "{\"digest\":1,\"known\":0,\"parts\":1}\n[{\"pending_sends\":0}]\n{\"schema\":\"mpi-queues/1\",\"captured_at\":null,\"processes\":[{\"communicators\":0}]}",
        "{\"digest\":1,\"known\":0,\"parts\":2}\n[[0,1,99999999999]]\n[{\"group\":0}]\n{\"schema\":\"mpi-queues/1\",\"captured_at\":null,\"processes\":[{\"communicators\":1}]}",
    ] {
        assert!(Digests::default().read("n1", wrong).is_err(), "{wrong}");
    }
}
