//! Digests, as agents on other nodes send them.

use std::sync::Arc;

use model::digest::{Digester, Digests};
use model::{Communicator, Operation, Process, Queue, Snapshot};

pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let digests = Digests::default();
    let first = digests.read("n1", text);
    if let Ok(snapshot) = &first {
        let text = serde_json::to_string(snapshot).unwrap();
        assert!(text.len() < 256 << 20, "{} bytes of JSON", text.len());
        // It is written and read as what it is.
        if let Ok(again) = Digester::default().write(snapshot) {
            assert_eq!(digests.read("n2", &again).as_ref().ok(), Some(snapshot));
        }
    }
    // What is kept of the first is no way into a second.
    let _ = digests.read("n1", text);
}

/// Snapshots of one rank and more.
pub fn snapshots() -> Vec<Snapshot> {
    let process = |rank: i64| {
        let operation =
            Operation { desired_local_rank: Some(rank + 1), datatype: Some("MPI_INT".into()), ..Operation::default() };
        let world = Communicator {
            name: "MPI_COMM_WORLD".into(),
            group: Some(Arc::from([Some(0), Some(1), None])),
            pending_receives: Queue { operations: vec![operation], ..Queue::default() }.into(),
            ..Communicator::default()
        };
        let notes = vec!["a note".into()];
        Process { rank: Some(rank), communicators: vec![world].into(), notes, ..Process::default() }
    };
    let snapshot =
        |size: i64| Snapshot { processes: (0..size).map(|rank| process(rank).into()).collect(), ..Snapshot::default() };
    [1, 2, 5].map(snapshot).into()
}

pub fn seeds() -> Vec<Vec<u8>> {
    let told = concat!(
        "{\"digest\":2,\"known\":0,\"parts\":3}\n{\"rank\":7,\"pid\":9,\"notes\":[\"a\"]}\n~0 0 -1 1 \"b \\\"\\u00e9\"\n~0\n",
        "{\"schema\":\"mpi-queues/1\",\"captured_at\":null,\"processes\":[0,1,2]}"
    );
    let written = snapshots().into_iter().map(|one| Digester::default().write(&one).unwrap().into_bytes());
    written.chain([told.as_bytes().to_vec()]).collect()
}
