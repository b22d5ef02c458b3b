//! Digests: what is written comes back, equal things are there once, and no damage is believed or ends the reader.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use made_up::share::every;
use model::digest::{Digester, Digests};
use model::{
    Argument, Call, CallRequest, Common, Communicator, Frame, JsonError, Mpi, Operation, Process, Queue, QueueState,
    Snapshot, Source, Stack, StartedBy,
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
    assert!(std::ptr::eq(&*later.processes[0], &**one));
    // Other senders have other parts, and the same groups.
    assert!(digests.read("n2", &second).is_err());
    let beside = digests.read("n2", Digester::default().write(&now).unwrap()).unwrap();
    assert_eq!(beside, now);
    let group = beside.processes[0].communicators[0].group.clone().unwrap();
    assert!(Arc::ptr_eq(&groups[0], &group));
    // In JSON nothing is a part.
    assert_eq!(serde_json::from_str::<Snapshot>(&serde_json::to_string(&later).unwrap()).unwrap(), now);
}

#[test]
fn what_is_changed_is_changed_in_one_place_only() {
    let read = Digests::default().read("n1", Digester::default().write(&snapshot(2)).unwrap()).unwrap();
    let mut changed = read.clone();
    changed.processes[0].stacks[0].frames[0].line = Some(1);
    changed.processes[0].communicators[0].pending_receives.operations.clear();
    assert_eq!(read, snapshot(2));
    assert_ne!(changed, read);
    assert_eq!(Common::<Vec<Call>>::default().into_owned(), []);
}

#[test]
#[ignore = "takes long"]
fn damage_is_an_error_or_another_snapshot() {
    let whole = Digester::default().write(&snapshot(3)).unwrap();
    let mut refused = 0;
    for at in (0..whole.len()).step_by(every(7)) {
        for byte in [b'0', b'9', b'"', b'\n', b'[', b'n', b'~', b' '] {
            let mut damaged = whole.clone().into_bytes();
            damaged[at] = byte;
            refused += u32::from(Digests::default().read("n1", String::from_utf8(damaged).unwrap()).is_err());
        }
        assert!(Digests::default().read("n1", &whole[..at]).is_err());
    }
    assert!(refused as usize > whole.len() / every(7));
    let process = |parts: &str, last: &str| {
        let count = parts.lines().count();
        format!(
            "{{\"digest\":2,\"known\":0,\"parts\":{count}}}\n{parts}{{\"schema\":\"mpi-queues/1\",\"captured_at\":null,\"processes\":[{last}]}}"
        )
    };
    let read = |text: &str| Digests::default().read("n1", text);
    // Told by another one, all of it and a part.
    let told = process("{\"rank\":7,\"pid\":9,\"notes\":[\"a\"]}\n~0 0 -1 1 \"b \\\"\\u00e9\"\n~0\n", "0,1,2");
    let told = read(&told).unwrap();
    assert_eq!((told.processes[1].rank, told.processes[1].pid), (Some(-1), Some(9)));
    assert_eq!(told.processes[1].notes, ["b \"é"]);
    assert_eq!(told.processes[0], told.processes[2]);
    for wrong in [
        "~1",
        "~",
        "~0 ",
        "~0 0",
        "~0 0 ",
        "~0 3 1",
        "~0 0 1 0",
        "~0 0 x",
        "~0 0 \"",
        "~0 0 \"\\",
        "~0 0 [1]",
        "~0 2 7",
        "~18446744073709551615",
        "~0 -1 7",
        "~0  7",
        "~0 0 1.5",
        "~0 2 null",
    ] {
        assert!(
            read(&process(&format!("{{\"rank\":7,\"pid\":9,\"notes\":[\"a\"]}}\n{wrong}\n"), "1")).is_err(),
            "{wrong}"
        );
    }
    // By one of another form, by one that is told itself, and by very much.
    assert!(read(&process("[\"x\"]\n~0\n", "1")).is_err());
    assert!(read(&process("{}\n~0\n~1\n", "2")).is_err());
    let much = format!("{{\"notes\":[{}\"a\"]}}\n{}", "\"a\",".repeat(1 << 14), "~0\n".repeat(1 << 9));
    let all: Vec<String> = (0..=1 << 9).map(|number| number.to_string()).collect();
    assert!(read(&process(&much, &all.join(","))).is_err());
    for wrong in [
        "",
        "{}",
        "{\"digest\":1,\"known\":0,\"parts\":0}\n{}",
        "{\"digest\":2,\"known\":1,\"parts\":0}\n{}",
        "{\"digest\":2,\"known\":0,\"parts\":18446744073709551615}\n{}",
        "{\"digest\":2,\"known\":0,\"parts\":1}\n0\n{\"schema\":0}",
        "{\"digest\":2,\"known\":0,\"parts\":0}\n{\"schema\":\"another/1\",\"captured_at\":null}",
        "{\"digest\":2,\"known\":0,\"parts\":0}\n{\"schema\":\"mpi-queues/1\",\"captured_at\":null,\"processes\":[{\"host\":0}]}",
        // A part of itself, and a group of very many.
        "{\"digest\":2,\"known\":0,\"parts\":2}\n[{\"pending_sends\":0}]\n{\"communicators\":0}\n{\"schema\":\"mpi-queues/1\",\"captured_at\":null,\"processes\":[1]}",
        "{\"digest\":2,\"known\":0,\"parts\":3}\n[[0,1,99999999999]]\n[{\"group\":0}]\n{\"communicators\":1}\n{\"schema\":\"mpi-queues/1\",\"captured_at\":null,\"processes\":[2]}",
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
#[ignore = "takes long"]
fn a_very_large_node_is_told_as_far_as_the_reader_takes_it() {
    // Steps of one form times ranks are more than one digest may have told.
    let process = |rank: i64| Process {
        rank: Some(rank),
        notes: (0..1 << 14).map(|note| note.to_string()).collect(),
        ..Process::default()
    };
    let now = Snapshot { processes: (0..300).map(|rank| process(rank).into()).collect(), ..Snapshot::default() };
    let text = Digester::default().write(&now).unwrap();
    assert_eq!(Digests::default().read("n1", &text).unwrap(), now);
    let told = text.lines().filter(|line| line.starts_with('~')).count();
    assert!((200..299).contains(&told), "{told}");
}

#[test]
#[ignore = "takes long"]
fn what_one_node_says_is_bounded_by_what_is_built_of_it() {
    let digest = |parts: &[String], rest: &str| {
        let count = parts.len();
        let lines = parts.iter().map(|part| format!("{part}\n")).collect::<String>();
        format!(
            "{{\"digest\":2,\"known\":0,\"parts\":{count}}}\n{lines}{{\"schema\":\"mpi-queues/1\",\"captured_at\":null,{rest}}}"
        )
    };
    let many = |item: &str, count: usize| vec![item; count].join(",");
    let processes = |number: usize, count: usize| format!("\"processes\":[{}]", many(&number.to_string(), count));
    let queue = || format!("{{\"operations\":[{}]}}", many("{}", 2000));
    let form = || format!("{{\"notes\":[{}]}}", many("[]", 8 << 20));
    // The later ones take seconds each.
    let most = if every(2) == 1 { 6 } else { 2 };
    let all = [
        ("one part 100,000 times", vec!["{}".to_owned()], processes(0, 100_000), "more than 65536 processes"),
        // A thousand processes, of a thousand communicators, of two thousand operations.
        (
            "what is named often",
            vec![queue(), format!("[{}]", many("{\"pending_sends\":0}", 1000)), "{\"communicators\":1}".to_owned()],
            processes(2, 1000),
            "named so often that it is more than 1024 MiB",
        ),
        ("objects", vec![format!("[{}]", many("{}", 4 << 20)), "{\"calls\":0}".to_owned()], processes(1, 1), "512 MiB"),
        ("a form", vec![form(), "~0".to_owned()], processes(1, 1), "512 MiB"),
        ("one part 60 million times", vec!["{}".to_owned()], processes(0, 60 << 20), "named so often"),
        ("notes", vec![], format!("\"notes\":[{}]", many("\"\"", 16 << 20)), "more than 512 MiB to say"),
    ];
    for (what, parts, rest, said) in all.into_iter().take(most) {
        let digests = Digests::default();
        let error = digests.read("n1", digest(&parts, &rest)).unwrap_err().to_string();
        assert!(error.contains(said), "{what}: {error}");
        // Nobody else is the worse for it.
        assert_eq!(digests.read("n2", Digester::default().write(&snapshot(3)).unwrap()).unwrap(), snapshot(3));
    }
}

#[test]
#[ignore = "takes long"]
fn a_sender_begins_anew_before_what_is_kept_of_it_is_too_much() {
    let (mut digester, digests) = (Digester::default(), Digests::default());
    let mut anew = 0;
    for look in 0..12 {
        let mut now = snapshot(2);
        now.processes[0].problems = (0..100_000).map(|number| format!("look {look}, {number:0>50}")).collect();
        let text = digester.write(&now).unwrap();
        anew += u32::from(text.starts_with("{\"digest\":2,\"known\":0,"));
        assert_eq!(digests.read("n1", &text).unwrap(), now);
    }
    assert!(anew > 1);
}

#[test]
#[ignore = "takes long"]
fn json_is_read_as_far_as_there_is_room_for_what_it_stands_for() {
    let whole = snapshot(40);
    let text = serde_json::to_string(&whole).unwrap();
    let read = Snapshot::from_json(&text, 0).unwrap();
    assert_eq!(read, whole);
    // Groups of equal members are one.
    let groups = [0, 39].map(|at: usize| read.processes[at].communicators[0].group.clone().unwrap());
    assert!(Arc::ptr_eq(&groups[0], &groups[1]));
    assert_eq!(Snapshot::from_reader(text.as_bytes(), 0).unwrap(), whole);
    let many =
        format!("{{\"schema\":\"mpi-queues/1\",\"captured_at\":null,\"processes\":[{}{{}}]}}", "{},".repeat(1 << 20));
    for read in [Snapshot::from_json(&many, 1000), Snapshot::from_reader(many.as_bytes(), 1000)] {
        let error = read.unwrap_err();
        assert_eq!(error, JsonError::TooMuch((256 << 20) + 64_000));
        assert!(error.to_string().contains("takes more than 256 MiB of memory"), "{error}");
    }
    // One that is long may be so.
    assert_eq!(Snapshot::from_json(&many, 1 << 30).unwrap().processes.len(), (1 << 20) + 1);
    assert!(matches!(Snapshot::from_json("{", 0), Err(JsonError::Wrong(_))));
    let other = text.replace("mpi-queues/1", "another/1");
    assert_eq!(Snapshot::from_json(&other, 0), Err(JsonError::Schema("another/1".to_owned())));
}

#[test]
fn only_so_many_problems_are_kept() {
    let problems = |count: usize| (0..count).map(|number| number.to_string()).collect::<Vec<_>>();
    let process = Process { problems: problems(3000), ..Process::default() };
    let one = Snapshot { processes: vec![process.into()], problems: problems(1000), ..Snapshot::default() };
    let merged = Snapshot::merged([&one, &one].into_iter());
    for found in [&merged.processes[1].problems, &merged.problems] {
        assert_eq!(found.len(), 1000);
    }
    assert_eq!(merged.processes[0].problems[999], "there are 2001 more problems, which are not listed");
    assert_eq!(merged.problems[999], "there are 1001 more problems, which are not listed");
    assert_eq!(Snapshot::merged([&merged].into_iter()), merged);
}

#[test]
fn a_node_of_a_very_large_job_has_its_say() {
    // 128 ranks of 131,072, each with the group of all in eight communicators: 5 GiB, were each its own.
    let group: model::Group = (0..131_072).map(Some).collect();
    let communicator = |number: i64| Communicator {
        name: format!("comm {number}").into(),
        group: Some(Arc::clone(&group)),
        ..Communicator::default()
    };
    let process = |rank: i64| Process {
        rank: Some(rank),
        communicators: (0..8).map(|number| communicator(8 * rank + number)).collect(),
        ..Process::default()
    };
    let now = Snapshot { processes: (0..128).map(|rank| process(rank).into()).collect(), ..Snapshot::default() };
    assert_eq!(Digests::default().read("n1", Digester::default().write(&now).unwrap()).unwrap(), now);
}
