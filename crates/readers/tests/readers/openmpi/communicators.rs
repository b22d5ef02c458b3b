//! Communicators, their names and groups, and whose operations are shown where.

use std::sync::Arc;

use model::{Group, QueueState};
use target::address::TargetAddr;

use super::{everywhere, one};
use made_up::openmpi_types::Build;
use made_up::process::{ABIS, Member, Message, Process, Receive, Send, named, says};

const COMM: &str = "ompi_communicator_t";

fn ranks(numbers: &[i64]) -> Option<Group> {
    Some(numbers.iter().map(|rank| Some(*rank)).collect())
}

#[test]
fn world_with_processes_and_sentinels() {
    everywhere(|process, world| {
        let report = process.read();
        let [found] = report.communicators.as_slice() else { panic!("{report:?}") };
        assert_eq!((found.name.as_str(), found.name_set), ("MPI_COMM_WORLD", Some(true)));
        assert_eq!((found.local_rank, found.size, found.unique_id), (Some(1), Some(4), 10));
        assert_eq!((&found.group, &found.remote_group), (&ranks(&[0, 1, 2, 3]), &None));
        assert_eq!(found.handle, Some(model::HandleWord(process.addr(world).get())));
        assert_eq!(found.context_id.as_deref(), Some(if process.build.extended { "0x0:0x0" } else { "10" }));
    });
}

/// A library has a copy of the symbol that the process does not use, where the executable's is not found.
#[test]
fn a_world_elsewhere_than_its_symbol_is_told() {
    everywhere(|mut process, _| {
        let unused = process.object(COMM);
        for (name, at) in &mut process.symbols {
            if *name == "ompi_mpi_comm_world" {
                *at = unused;
            }
        }
        let report = process.try_read().unwrap();
        let [found] = report.communicators.as_slice() else { panic!("{report:?}") };
        assert_eq!((found.size, &found.group), (Some(4), &Some([None; 4].into())));
        assert!(report.problems.iter().any(|problem| problem.contains("world ranks are not known")), "{report:?}");
    });
}

#[test]
fn a_split_with_reversed_ranks_translates_its_peers() {
    everywhere(|mut process, _| {
        let group = process.group(&[Member::Ours(3), Member::Sentinel(2), Member::Ours(1)]);
        let comm = process.comm("reversed", group, 2);
        process.receive(comm, Receive { from: Some(0), ..Receive::default() });
        process.send(comm, Send { to: 1, ..Send::default() });
        process.arrive(comm, Message { from: 1, ..Message::default() });
        let report = process.read();
        let found = named(&report, "reversed");
        assert_eq!((&found.group, found.local_rank), (&ranks(&[3, 2, 1]), Some(2)));
        assert_eq!(found.pending_receives.operations[0].desired_global_rank, Some(3));
        assert_eq!(found.pending_sends.operations[0].actual_global_rank, Some(2));
        assert_eq!(found.unexpected_messages.operations[0].desired_global_rank, Some(2));
        assert!(named(&report, "MPI_COMM_WORLD").pending_receives.operations.is_empty());
    });
}

#[test]
fn sparse_groups_nest() {
    everywhere(|mut process, _| {
        let members: Vec<Member> =
            (0..40).map(|rank| if rank % 3 == 0 { Member::Sentinel(rank) } else { Member::Ours(rank) }).collect();
        let dense = process.group(&members);
        let strided = process.strided(dense, 13, 1, 3); // 1 4 7 … 37
        let sporadic = process.sporadic(strided, &[(10, 3), (0, 2), (5, 4)]); // 31 34 37 | 1 4 | 16 19 22 25
        let bitmap = process.bitmap(sporadic, &[0b1010_0110, 0b1]); // positions 1 2 5 7 8
        let backwards = process.strided(bitmap, 5, 4, -1);
        for (name, group) in
            [("strided", strided), ("sporadic", sporadic), ("bitmap", bitmap), ("backwards", backwards)]
        {
            process.comm(name, group, 0);
        }
        let report = process.read();
        let group = |name: &str| named(&report, name).group.clone();
        assert_eq!(group("strided"), ranks(&(0..13).map(|rank| 1 + 3 * rank).collect::<Vec<_>>()));
        assert_eq!(group("sporadic"), ranks(&[31, 34, 37, 1, 4, 16, 19, 22, 25]));
        assert_eq!(group("bitmap"), ranks(&[34, 37, 16, 22, 25]));
        assert_eq!(group("backwards"), ranks(&[25, 22, 16, 37, 34]));
    });
}

#[test]
fn processes_of_another_job_have_no_world_rank() {
    everywhere(|mut process, _| {
        let mut members = vec![Member::Ours(1), Member::Theirs(0), Member::Theirs(5)];
        if process.width() == 8 {
            // In 32 bits a sentinel cannot name another job.
            members.push(Member::TheirSentinel(3));
        }
        let group = process.group(&members);
        process.comm("merged", group, 0);
        let report = process.read();
        let group = named(&report, "merged").group.clone().unwrap();
        assert_eq!(group[0], Some(1));
        assert!(group[1..].iter().all(Option::is_none), "{group:?}");
    });
}

#[test]
fn peers_on_an_intercommunicator_are_in_the_remote_group() {
    everywhere(|mut process, _| {
        let local = process.group(&[Member::Ours(0), Member::Ours(1)]);
        let remote = process.group(&[Member::Sentinel(3), Member::Ours(2)]);
        let (inter, inner) = process.intercomm("inter", local, remote, 1);
        process.receive(inter, Receive { from: Some(0), tag: Some(1), ..Receive::default() });
        process.receive(inner, Receive { from: Some(0), tag: Some(-400), ..Receive::default() });
        process.send(inner, Send { to: 0, tag: -400, ..Send::default() });
        process.arrive(inter, Message { from: 1, ..Message::default() });
        let report = process.read();
        let names: Vec<_> = report.communicators.iter().map(|found| found.name.as_str()).collect();
        assert_eq!(names, ["MPI_COMM_WORLD", "inter"], "the internal communicator is not listed");
        let found = named(&report, "inter");
        assert_eq!((found.local_rank, found.size), (Some(1), Some(2)));
        assert_eq!((&found.group, &found.remote_group), (&ranks(&[0, 1]), &ranks(&[3, 2])));
        assert_eq!(found.unexpected_messages.operations[0].desired_global_rank, Some(2));
        let receives = &found.pending_receives.operations;
        let own = receives.iter().find(|receive| receive.desired_tag == Some(1)).unwrap();
        assert_eq!((own.desired_global_rank, own.internal), (Some(3), false));
        let inside = receives.iter().find(|receive| receive.desired_tag == Some(-400)).unwrap();
        assert_eq!((inside.desired_global_rank, inside.internal), (Some(0), true));
        assert!(says(inside, "local group"));
        assert_eq!(found.pending_sends.operations[0].desired_global_rank, Some(0));
    });
}

#[test]
fn messages_within_the_local_group_of_an_intercommunicator_are_shown() {
    everywhere(|mut process, _| {
        let local = process.group(&[Member::Ours(0), Member::Ours(1)]);
        let remote = process.group(&[Member::Ours(2)]);
        let (_, inner) = process.intercomm("inter", local, remote, 1);
        process.arrive(inner, Message { from: 0, tag: -400, ..Message::default() });
        let kind = "MCA_PML_REQUEST_PROBE";
        let stack = process.object("mca_pml_ob1_recv_request_t");
        process.receive_at(stack, inner, Receive { from: Some(0), tag: Some(-401), kind, ..Receive::default() });
        let report = process.read();
        let found = named(&report, "inter");
        let [message] = found.unexpected_messages.operations.as_slice() else { panic!("{found:?}") };
        assert_eq!((message.desired_local_rank, message.desired_global_rank), (Some(0), Some(0)));
        assert!(message.internal && says(message, "local group"));
        assert_eq!(found.pending_receives.operations.len(), 1);
    });
}

#[test]
fn the_null_communicator_free_and_reserved_slots_are_skipped() {
    everywhere(|mut process, world| {
        process.set_slot(1, process.symbol_at("ompi_mpi_comm_null"));
        process.set_slot(3, TargetAddr::new(1));
        process.set_slot(5, process.addr(world));
        assert_eq!(process.read().communicators.len(), 1);
    });
}

#[test]
fn a_communicator_that_left_the_table_is_found_through_its_requests() {
    everywhere(|mut process, _| {
        let group = process.group(&[Member::Ours(1), Member::Ours(0)]);
        let comm = process.comm("left", group, 0);
        process.receive(comm, Receive { from: Some(1), ..Receive::default() });
        process.set_slot(2 * comm.0 as u64, TargetAddr::NULL);
        let report = process.read();
        let found = named(&report, "left");
        assert_eq!(found.pending_receives.operations[0].desired_global_rank, Some(0));
    });
}

#[test]
fn a_communicator_in_construction_is_listed_as_far_as_it_is() {
    let (mut process, _) = one();
    let at = process.object(COMM);
    process.set_pointer(at, "opal_object_t", "obj_class", process.symbol_at("ompi_communicator_t_class"));
    process.set(at, COMM, "c_my_rank", -32766);
    process.set_slot(9, at);
    let report = process.read();
    let found = named(&report, "");
    assert_eq!((found.size, found.local_rank, &found.group), (None, None, &None));
    assert_eq!(found.unexpected_messages.state, QueueState::Ok);
}

#[test]
fn names_of_every_length_and_content() {
    let full = "x".repeat(64);
    let cases: [(&[u8], &str); 6] = [
        (b"", ""),
        (&full.as_bytes()[..63], &full[..63]),
        (full.as_bytes(), &full),
        (b"two\nlines\x1b[31m", "two\\x0alines\\x1b[31m"),
        (b"bad \xff\xfe utf-8", "bad \\xff\\xfe utf-8"),
        ("Gr\u{fc}\u{df}e \u{202e}".as_bytes(), "Gr\u{fc}\u{df}e \\u202e"),
    ];
    for abi in ABIS {
        for (bytes, shown) in cases {
            let (mut process, world) = Process::new(abi, Build::default(), 21);
            let at = process.field(process.addr(world), COMM, "c_name");
            process.mem.put(at, &[0; 64]);
            process.mem.put(at, bytes);
            assert_eq!(process.read().communicators[0].name, shown);
        }
    }
}

#[test]
fn names_behind_pointers() {
    let build = Build { name_pointers: true, ..Build::default() };
    for abi in ABIS {
        let (mut process, _) = Process::new(abi, build, 22);
        let group = process.group(&[Member::Ours(1)]);
        let long = "y".repeat(300);
        process.comm(&long, group, 0);
        let none = process.comm("none", group, 0);
        process.set_pointer(process.addr(none), COMM, "c_name", TargetAddr::NULL);
        let names: Vec<_> = process.read().communicators.into_iter().map(|found| found.name).collect();
        assert_eq!(names, ["MPI_COMM_WORLD", &long[..256], ""]);
    }
}

#[test]
fn a_layout_that_lacks_a_field_is_named() {
    let (mut process, _) = one();
    Arc::make_mut(&mut process.types.layout_mut(COMM).fields).remove("c_flags");
    let error = process.try_read().unwrap_err().to_string();
    assert!(error.contains("ompi_communicator_t") && error.contains("c_flags"), "{error}");
}

#[test]
fn a_layout_that_reaches_out_of_its_type_is_refused() {
    let (mut process, _) = one();
    Arc::make_mut(&mut process.types.layout_mut(COMM).fields).get_mut("c_flags").unwrap().offset = u64::MAX - 1;
    let error = process.try_read().unwrap_err().to_string();
    assert!(error.contains("c_flags") && error.contains("impossible"), "{error}");
}
