//! Pending sends and receives.

use model::OperationStatus::{Complete, Matched, Pending};
use model::QueueState;

use super::{everywhere, one};
use made_up::process::{ELEMENT, Process, Receive, Send, named, says, tags};

const BASE: &str = "mca_pml_base_request_t";

#[test]
fn a_posted_receive_with_all_its_facts() {
    everywhere(|mut process, world| {
        let at = process.receive(world, Receive { from: Some(3), tag: Some(17), count: 5, ..Receive::default() });
        let buffer = process.get(at, BASE, "req_addr");
        let report = process.read();
        let queue = &named(&report, "MPI_COMM_WORLD").pending_receives;
        let [receive] = queue.operations.as_slice() else { panic!("{queue:?}") };
        assert_eq!((receive.status, queue.state), (Pending, QueueState::Ok));
        assert_eq!((receive.desired_local_rank, receive.desired_global_rank), (Some(3), Some(3)));
        assert_eq!((receive.desired_tag, receive.any_source, receive.tag_wild), (Some(17), false, false));
        assert_eq!((receive.count, receive.desired_length), (Some(5), Some(5 * ELEMENT)));
        assert_eq!((receive.buffer, receive.request), (Some(buffer), Some(at.get())));
        assert_eq!(receive.datatype.as_deref(), Some("MPI_DOUBLE"));
        assert_eq!((receive.actual_local_rank, receive.actual_tag, receive.actual_length), (None, None, None));
        assert_eq!((receive.internal, receive.persistent, receive.call.as_deref()), (false, false, None));
    });
}

#[test]
fn wildcards_are_not_internal() {
    everywhere(|mut process, world| {
        process.receive(world, Receive { from: None, tag: None, ..Receive::default() });
        let report = process.read();
        let receive = &named(&report, "MPI_COMM_WORLD").pending_receives.operations[0];
        assert!(receive.any_source && receive.tag_wild && !receive.internal);
        assert_eq!((receive.desired_local_rank, receive.desired_global_rank, receive.desired_tag), (None, None, None));
    });
}

#[test]
fn receives_come_in_matching_order_over_all_lists_and_when_numbers_wrap() {
    everywhere(|mut process, world| {
        let (pml, pml_type) = (process.pml_comm(world), process.pml_type());
        process.set(pml, pml_type, "recv_sequence", 0xffff_fffc);
        let from = [Some(2), None, Some(0), Some(2), None, Some(3), None, Some(0), Some(2)];
        for (tag, from) in (0..).zip(from) {
            process.receive(world, Receive { from, tag: Some(tag), ..Receive::default() });
        }
        assert!(process.get(pml, pml_type, "recv_sequence") < 9);
        let report = process.read();
        let receives = &named(&report, "MPI_COMM_WORLD").pending_receives.operations;
        assert_eq!(tags(receives), (0..9).map(Some).collect::<Vec<_>>());
    });
}

#[test]
fn sends_to_one_peer_come_in_order_when_numbers_wrap() {
    everywhere(|mut process, world| {
        let peer = process.peer(world, 2);
        process.set(peer, "mca_pml_ob1_comm_proc_t", "send_sequence", 0x1_fffd);
        for tag in 0..7 {
            process.send(world, Send { to: 2, tag, ..Send::default() });
        }
        let report = process.read();
        let sends = &named(&report, "MPI_COMM_WORLD").pending_sends.operations;
        assert_eq!(tags(sends), (0..7).map(Some).collect::<Vec<_>>());
    });
}

#[test]
fn every_send_mode_says_what_it_is() {
    let modes = [
        ("MCA_PML_BASE_SEND_STANDARD", "MPI_Send_init", ""),
        ("MCA_PML_BASE_SEND_BUFFERED", "MPI_Bsend_init", "buffered send"),
        ("MCA_PML_BASE_SEND_SYNCHRONOUS", "MPI_Ssend_init", "synchronous send"),
        ("MCA_PML_BASE_SEND_READY", "MPI_Rsend_init", "ready send"),
    ];
    everywhere(|mut process, world| {
        for (tag, (mode, _, _)) in (0..).zip(modes) {
            process.send(world, Send { to: 3, tag, mode, persistent: tag % 2 == 1, ..Send::default() });
        }
        let report = process.read();
        let sends = &named(&report, "MPI_COMM_WORLD").pending_sends.operations;
        for (index, (_, init, words)) in modes.iter().enumerate() {
            let send = &sends[index];
            assert_eq!((send.status, send.desired_local_rank, send.desired_global_rank), (Pending, Some(3), Some(3)));
            assert_eq!((send.desired_tag, send.desired_length), (Some(index as i64), Some(3 * ELEMENT)));
            assert_eq!((send.persistent, send.call.as_deref()), (index % 2 == 1, (index % 2 == 1).then_some(*init)));
            assert!(words.is_empty() || says(send, words), "{send:?}");
            assert!(!send.system_buffer);
        }
    });
}

#[test]
fn completion_is_a_pointer_and_only_one_means_complete() {
    everywhere(|mut process, world| {
        // What a waiting thread waits on, ending in the bytes that stand for pending and complete.
        for (tag, complete) in (0..).zip([0, 1, 0x7fff_1200, 0x7fff_1201]) {
            let at = process.receive(world, Receive { tag: Some(tag), ..Receive::default() });
            process.set(at, BASE, "req_ompi.req_complete", complete);
            if complete == 1 {
                process.matched(world, at, 0, tag, 16);
                process.complete(at, 16);
            }
        }
        let report = process.read();
        let receives = &named(&report, "MPI_COMM_WORLD").pending_receives.operations;
        let states: Vec<_> = receives.iter().map(|receive| receive.status).collect();
        assert_eq!(states, [Pending, Complete, Pending, Pending]);
    });
}

#[test]
fn a_matched_receive_tells_what_it_matched() {
    everywhere(|mut process, world| {
        let any = Receive { from: None, tag: None, count: 100, ..Receive::default() };
        let (moving, done) = (process.receive(world, any), process.receive(world, any));
        process.matched(world, moving, 2, 9, 400);
        process.matched(world, done, 3, 8, 240);
        process.complete(done, 240);
        let report = process.read();
        let receives = &named(&report, "MPI_COMM_WORLD").pending_receives.operations;
        let facts = |index: usize| {
            let one = &receives[index];
            (one.status, one.actual_local_rank, one.actual_global_rank, one.actual_tag, one.actual_length)
        };
        assert_eq!(facts(0), (Matched, Some(2), Some(2), Some(9), Some(400)));
        assert_eq!(facts(1), (Complete, Some(3), Some(3), Some(8), Some(240)));
        assert!(receives[0].any_source && receives[0].tag_wild);
        assert_eq!(receives[0].desired_length, Some(800));
    });
}

#[test]
fn a_cancelled_receive_matched_nothing() {
    everywhere(|mut process, world| {
        let at = process.receive(world, Receive::default());
        process.matched(world, at, 0, 7, 0);
        process.set(at, "mca_pml_ob1_recv_request_t", "req_match_received", 0);
        process.set(at, BASE, "req_ompi.req_status._cancelled", 1);
        process.complete(at, 0);
        let report = process.read();
        let receive = &named(&report, "MPI_COMM_WORLD").pending_receives.operations[0];
        assert_eq!((receive.status, receive.actual_local_rank, receive.actual_tag), (Complete, None, None));
        assert!(says(receive, "cancelled"));
    });
}

#[test]
fn a_receive_that_failed_says_with_which_code() {
    everywhere(|mut process, world| {
        let at = process.receive(world, Receive::default());
        process.matched(world, at, 0, 7, 4000);
        process.complete(at, 4000);
        process.set(at, BASE, "req_ompi.req_status.MPI_ERROR", 15);
        let report = process.read();
        let receive = &named(&report, "MPI_COMM_WORLD").pending_receives.operations[0];
        assert_eq!((receive.status, receive.actual_length), (Complete, Some(4000)));
        assert!(says(receive, "error code 15"));
    });
}

#[test]
fn persistent_requests_count_from_start_to_wait() {
    everywhere(|mut process, world| {
        let inactive = process.types.constant("OMPI_REQUEST_INACTIVE");
        for (tag, active) in [(1, true), (2, false)] {
            let persistent = Receive { tag: Some(tag), persistent: true, ..Receive::default() };
            let receive = process.receive(world, persistent);
            let send = process.send(world, Send { tag, persistent: true, ..Send::default() });
            if !active {
                process.matched(world, receive, 0, tag, 8);
                process.complete(receive, 8);
                process.complete(send, 8);
                process.set(receive, BASE, "req_ompi.req_state", inactive);
                process.set(send, BASE, "req_ompi.req_state", inactive);
            }
        }
        let report = process.read();
        let found = named(&report, "MPI_COMM_WORLD");
        assert_eq!(tags(&found.pending_receives.operations), [Some(1)]);
        assert_eq!(tags(&found.pending_sends.operations), [Some(1)]);
        assert_eq!(found.pending_receives.operations[0].call.as_deref(), Some("MPI_Recv_init"));
        assert!(found.pending_sends.operations[0].persistent);
    });
}

#[test]
fn a_rendezvous_is_matched_once_the_receiver_has_answered() {
    everywhere(|mut process, world| {
        let answered = process.send(world, Send { tag: 1, ..Send::default() });
        // An address whose low half is zero still is one.
        process.set(answered, "mca_pml_ob1_send_request_t", "req_recv", 0x7f00_0000_0000);
        let again = process.send(world, Send { tag: 2, persistent: true, ..Send::default() });
        process.set(again, "mca_pml_ob1_send_request_t", "req_recv", 0x1234_5678);
        let report = process.read();
        let sends = &named(&report, "MPI_COMM_WORLD").pending_sends.operations;
        assert_eq!((sends[0].status, sends[1].status), (Matched, Pending));
    });
}

#[test]
fn a_buffered_send_is_pending_until_its_data_has_gone() {
    everywhere(|mut process, world| {
        let mode = "MCA_PML_BASE_SEND_BUFFERED";
        let waiting = process.send(world, Send { tag: 1, mode, ..Send::default() });
        process.set(waiting, BASE, "req_ompi.req_complete", 1);
        let copy = process.mem.alloc(24, 8);
        process.set_pointer(waiting, "mca_pml_base_send_request_t", "req_addr", copy);
        let gone = process.send(world, Send { tag: 2, mode, ..Send::default() });
        process.complete(gone, 24);
        let freed = process.send(world, Send { tag: 3, ..Send::default() });
        process.set(freed, BASE, "req_ompi.req_complete", 1);
        process.set(freed, BASE, "req_free_called", 1);
        let report = process.read();
        let sends = &named(&report, "MPI_COMM_WORLD").pending_sends.operations;
        let states: Vec<_> = sends.iter().map(|send| send.status).collect();
        assert_eq!(states, [Pending, Complete, Pending]);
        assert!(sends[0].system_buffer && sends[0].buffer == Some(copy.get()));
        assert!(says(&sends[2], "freed"));
    });
}

#[test]
fn a_freed_receive_is_still_posted() {
    everywhere(|mut process, world| {
        let at = process.receive(world, Receive::default());
        process.set(at, BASE, "req_free_called", 1);
        let report = process.read();
        let receive = &named(&report, "MPI_COMM_WORLD").pending_receives.operations[0];
        assert_eq!(receive.status, Pending);
        assert!(says(receive, "freed"));
    });
}

#[test]
fn a_blocking_probe_on_the_stack_is_found_through_the_lists() {
    everywhere(|mut process, world| {
        let kind = "MCA_PML_REQUEST_PROBE";
        process.receive(world, Receive { tag: Some(1), ..Receive::default() });
        let stack = process.object("mca_pml_ob1_recv_request_t");
        process.receive_at(stack, world, Receive { tag: Some(2), kind, ..Receive::default() });
        let stack = process.object("mca_pml_ob1_recv_request_t");
        process.receive_at(stack, world, Receive { from: None, tag: None, kind, ..Receive::default() });
        process.receive(world, Receive { tag: Some(3), ..Receive::default() });
        let report = process.read();
        let receives = &named(&report, "MPI_COMM_WORLD").pending_receives.operations;
        assert_eq!(tags(receives), [Some(1), Some(2), None, Some(3)]);
        for probe in &receives[1..3] {
            assert_eq!((probe.call.as_deref(), probe.buffer, probe.count), (Some("MPI_Probe"), None, None));
            assert!(says(probe, "probe"));
        }
        assert_eq!(receives[0].call, None);
    });
}

#[test]
fn a_matched_probe_waits_and_then_holds_its_message() {
    everywhere(|mut process, world| {
        let kind = "MCA_PML_REQUEST_MPROBE";
        process.receive(world, Receive { tag: Some(1), kind, ..Receive::default() });
        let holds = process.receive(world, Receive { tag: Some(2), kind, ..Receive::default() });
        process.matched(world, holds, 0, 2, 0);
        process.complete(holds, 56);
        let report = process.read();
        let receives = &named(&report, "MPI_COMM_WORLD").pending_receives.operations;
        assert_eq!((receives[0].status, receives[0].call.as_deref()), (Pending, Some("MPI_Mprobe")));
        assert_eq!((receives[1].status, receives[1].actual_length), (Matched, Some(56)));
        assert!(says(&receives[1], "MPI_Mrecv"));
    });
}

#[test]
fn negative_tags_are_internal_and_explained() {
    everywhere(|mut process, world| {
        let bcast = process.types.constant("MCA_COLL_BASE_TAG_BCAST");
        process.receive(world, Receive { tag: Some(bcast), ..Receive::default() });
        process.send(world, Send { tag: -400, ..Send::default() });
        process.send(world, Send { tag: -77, ..Send::default() });
        let report = process.read();
        let found = named(&report, "MPI_COMM_WORLD");
        let (receive, sends) = (&found.pending_receives.operations[0], &found.pending_sends.operations);
        assert!(receive.internal && says(receive, "MPI_Bcast"));
        assert!(sends[0].internal && says(&sends[0], "non-blocking"));
        assert!(sends[1].internal && says(&sends[1], "-77"));
    });
}

#[test]
fn every_chunk_of_a_pool_is_read() {
    for chunks in [(1, 1), (1, 7), (9, 2), (4, 64)] {
        let (mut process, world) = one();
        process.chunks = chunks;
        for tag in 0..40 {
            process.receive(world, Receive { tag: Some(tag), ..Receive::default() });
        }
        let report = process.read();
        assert_eq!(named(&report, "MPI_COMM_WORLD").pending_receives.operations.len(), 40, "{chunks:?}");
    }
}

#[test]
fn a_last_chunk_that_was_capped_hides_no_request() {
    // fl_max_to_alloc cuts the last chunk (opal_free_list_grow_st): 5 + 4 + 4 + 2 objects, then 1 + 4 + 1.
    for (first, full, last) in [(5, 8, 2), (1, 4, 1)] {
        let (mut process, world) = one();
        process.chunks = (first, 4);
        let send = |process: &mut Process, tag: u64| {
            process.send(world, Send { tag: tag as i64, ..Send::default() });
        };
        (0..first + full).for_each(|tag| send(&mut process, tag));
        process.grow(true, last);
        (0..last).for_each(|tag| send(&mut process, 100 + tag));
        let report = process.read();
        let sends = &named(&report, "MPI_COMM_WORLD").pending_sends;
        assert_eq!((sends.operations.len() as u64, sends.state), (first + full + last, QueueState::Ok));
    }
}

#[test]
fn an_unknown_datatype_leaves_the_rest_readable() {
    let (mut process, world) = one();
    let at = process.receive(world, Receive::default());
    process.set(at, BASE, "req_datatype", 0x10);
    let report = process.read();
    let receive = &named(&report, "MPI_COMM_WORLD").pending_receives.operations[0];
    assert_eq!((receive.datatype.as_deref(), receive.desired_length, receive.count), (None, None, Some(3)));
}

#[test]
fn another_transport_gives_no_information_but_communicators() {
    let check = |process: &Process, words: &str| {
        let report = process.try_read().unwrap();
        let found = named(&report, "MPI_COMM_WORLD");
        assert_eq!((found.size, found.local_rank), (Some(4), Some(1)));
        for queue in [&found.pending_sends, &found.pending_receives, &found.unexpected_messages] {
            assert_eq!(queue.state, QueueState::NoInformation);
            assert!(queue.detail.as_deref().is_some_and(|detail| detail.contains(words)), "{queue:?}");
        }
    };
    let (mut process, _) = one();
    for pml in ["monitoring", "v", ""] {
        process.pml = pml;
        check(&process, "--mca pml ob1");
    }
    for extended in [false, true] {
        let build = super::Build { custom_matching: true, extended, ..super::Build::default() };
        let (process, _) = Process::new(super::TargetAbi::LITTLE_64, build, 3);
        check(&process, "custom matching");
    }
}
