//! Posted receives and unexpected messages of MPICH.

use model::{OperationStatus, QueueState, Remark};
use target::Target;
use target::address::TargetAddr;

use super::{everywhere, on_ch4};
use made_up::mpich::{Device, MATCHED_PROBE, MORE, MPI_BYTE, MPI_INT, REQUEST, SELF_CONTEXT, WORLD_CONTEXT};

#[test]
fn receives_are_listed_in_matching_order_with_their_wildcards() {
    everywhere(|mut process| {
        let world = process.world();
        let first = process.receive(world, [3, 17, WORLD_CONTEXT], 10, MPI_INT);
        let second = process.receive(world, [-2, -1, WORLD_CONTEXT], 20, MPI_INT);
        let third = process.receive(world, [1, 5, WORLD_CONTEXT + 1], 4, MPI_BYTE);
        process.list(0, &[second, third, first]);
        let queue = process.read_world().pending_receives;
        assert_eq!((queue.state, queue.detail.clone()), (QueueState::Ok, None));
        let found: Vec<_> = queue.operations.iter().map(|found| found.request).collect();
        assert_eq!(found, [second, third, first].map(|at| Some(process.handle(at))));
        let [any, collective, plain] = &queue.operations[..] else { panic!() };
        assert_eq!((any.any_source, any.tag_wild, any.desired_local_rank, any.desired_tag), (true, true, None, None));
        assert_eq!((any.desired_length, any.count, any.datatype.as_deref()), (Some(80), Some(20), Some("MPI_INT")));
        assert!(collective.internal && !plain.internal);
        assert_eq!(
            (plain.desired_local_rank, plain.desired_tag, plain.status),
            (Some(3), Some(17), OperationStatus::Pending)
        );
        assert!(plain.unknown.is_empty());
        assert!(plain.evidence.as_deref().unwrap().contains("found by scanning"));
    });
}

#[test]
fn a_request_to_which_nothing_refers_is_none() {
    everywhere(|mut process| {
        let world = process.world();
        let posted = process.receive(world, [1, 5, WORLD_CONTEXT], 1, MPI_INT);
        let unmade = process.receive(world, [1, 6, WORLD_CONTEXT], 1, MPI_INT);
        process.set(unmade, REQUEST, "ref_count", 0);
        process.list(0, &[posted]);
        let queue = process.read_world().pending_receives;
        let tags: Vec<_> = queue.operations.iter().map(|found| found.desired_tag).collect();
        assert_eq!(tags, [Some(5)]);
    });
}

#[test]
fn an_intercommunicator_names_the_context_in_which_it_sends_first() {
    everywhere(|mut process| {
        let own = process.own();
        for (field, value) in [("comm_kind", 1), ("context_id", 48), ("recvcontext_id", 64)] {
            process.set(own, "MPIR_Comm", field, value);
        }
        let all = process.read().communicators;
        let contexts: Vec<_> = all.iter().filter_map(|one| one.context_id.as_deref()).collect();
        assert!(contexts.contains(&"48/64"), "{contexts:?}");
    });
}

#[test]
fn requests_that_were_taken_off_a_list_keep_their_links() {
    everywhere(|mut process| {
        let world = process.world();
        let posted: Vec<_> = (0..3).map(|tag| process.receive(world, [1, tag, WORLD_CONTEXT], 10, MPI_INT)).collect();
        let done = process.receive(world, [1, 9, WORLD_CONTEXT], 10, MPI_INT);
        process.list(0, &posted);
        process.set(done, REQUEST, "cc", 0);
        process.set(done, REQUEST, "next", posted[0].get() as i64);
        // The tail of the list is a variable, too.
        process.variable(1, posted[2]);
        let queue = process.read_world().pending_receives;
        assert_eq!((queue.state, queue.detail.as_deref()), (QueueState::Ok, None), "{:?}", process.device);
        let tags: Vec<_> = queue.operations.iter().filter_map(|found| found.desired_tag).collect();
        assert_eq!(tags[..3], [0, 1, 2]);
    });
}

#[test]
fn messages_belong_to_the_communicator_of_their_context() {
    everywhere(|mut process| {
        let late = process.receive(TargetAddr::NULL, [2, 55, WORLD_CONTEXT], 7, MPI_BYTE);
        let early = process.receive(TargetAddr::NULL, [1, 99, WORLD_CONTEXT], 12, MPI_BYTE);
        let strange = process.receive(TargetAddr::NULL, [1, 1, 4096], 1, MPI_BYTE);
        process.list(3, &[early, strange, late]);
        let report = process.read();
        let queue = &report.communicators[0].unexpected_messages;
        let facts: Vec<_> = queue
            .operations
            .iter()
            .map(|found| (found.desired_local_rank, found.desired_tag, found.desired_length))
            .collect();
        assert_eq!(facts.len(), 2, "{:?}", process.device);
        assert!(facts.contains(&(Some(1), Some(99), Some(12))) && facts.contains(&(Some(2), Some(55), Some(7))));
        assert!(queue.operations.iter().all(|found| found.system_buffer && found.status == OperationStatus::Pending));
        assert_eq!(
            report.notes,
            ["messages for a communicator (context 4096) that this process has not created yet: 1"]
        );
    });
}

#[test]
fn a_message_names_the_request_that_its_sender_waits_with() {
    everywhere(|mut process| {
        // Flags of MPIDIG_req_ext_t; message and mode of ch3's state. A plain message leaves an old name.
        let [plain, synchronous, announced] = match process.device {
            Device::Ch3 => [1, 1 | 1 << 3, 2],
            _ => [1 << 2, 1 << 1, 1 << 7],
        };
        let named = if process.device == Device::Ch3 { 0xac00_0012_u32 as i32 as i64 } else { 0x7f00_1234_5678 };
        let messages = [plain, synchronous, announced].map(|flags| {
            let at = process.receive(TargetAddr::NULL, [1, flags, WORLD_CONTEXT], 12, MPI_BYTE);
            if process.device == Device::Ch3 {
                process.set(at, REQUEST, "dev.sender_req_id", named);
                process.set(at, REQUEST, "dev.state", flags);
            } else {
                let more = process.more(at);
                process.set(more, MORE, "rreq.peer_req_ptr", named);
                process.set(more, MORE, "status", flags);
            }
            at
        });
        process.list(3, &messages);
        let found = process.read_world().unexpected_messages.into_owned().operations;
        let width = process.target().abi().pointer_width.bytes();
        let named = if process.device == Device::Ch3 || width == 4 { named as u64 & 0xffff_ffff } else { named as u64 };
        let names: Vec<_> = found.iter().map(|message| message.sender_request).collect();
        assert_eq!(names, [None, Some(named), Some(named)], "{:?}", process.device);
    });
}

#[test]
fn a_message_that_has_arrived_whole_is_still_unexpected() {
    everywhere(|mut process| {
        if process.device != Device::Ch3 {
            return;
        }
        let arrived = process.receive(TargetAddr::NULL, [2, 55, WORLD_CONTEXT], 7, MPI_BYTE);
        let done = process.receive(TargetAddr::NULL, [2, 56, WORLD_CONTEXT], 7, MPI_BYTE);
        for at in [arrived, done] {
            process.set(at, REQUEST, "cc", 0);
        }
        // Without their list the two look the same: that is not an empty queue.
        let found = process.read_world().unexpected_messages;
        assert_eq!((found.state, found.operations.len()), (QueueState::NoInformation, 0));
        assert!(found.detail.as_deref().unwrap().starts_with("2 requests may be messages"));
        process.list(0, &[arrived]);
        let found = process.read_world().unexpected_messages;
        assert_eq!((found.state, found.operations.len()), (QueueState::Ok, 1));
        assert_eq!((found.operations[0].desired_tag, found.operations[0].status), (Some(55), OperationStatus::Pending));
    });
}

#[test]
fn what_a_complete_receive_of_ch3_asked_for_is_known_only_of_wildcards() {
    everywhere(|mut process| {
        if process.device != Device::Ch3 {
            return;
        }
        let world = process.world();
        let done = process.receive(world, [-2, 8, WORLD_CONTEXT], 10, MPI_INT);
        for (field, value) in [("cc", 0), ("status.MPI_SOURCE", 2), ("status.MPI_TAG", 8), ("status.count_lo", 40)] {
            process.set(done, REQUEST, field, value);
        }
        let found = process.read_world().pending_receives.operations.remove(0);
        assert_eq!((found.any_source, found.desired_tag, found.desired_length), (true, None, Some(40)));
        assert!(found.unknown.contains_key("desired_tag") && !found.unknown.contains_key("desired_local_rank"));
        assert_eq!((found.actual_local_rank, found.actual_tag, found.actual_length), (Some(2), Some(8), Some(40)));
    });
}

#[test]
fn a_message_to_oneself_is_as_long_as_its_send() {
    everywhere(|mut process| {
        if process.device != Device::Ch3 {
            return;
        }
        let world = process.world();
        let send = process.request(1, 1, world, &[("dev.user_count", 6), ("dev.datatype", MPI_INT)]);
        let message = process.receive(TargetAddr::NULL, [2, 55, WORLD_CONTEXT], 132, MPI_BYTE);
        process.set(message, REQUEST, "dev.state", 3);
        process.set(message, REQUEST, "dev.partner_request", send.get() as i64);
        process.list(0, &[message]);
        let found = process.read_world().unexpected_messages.operations.remove(0);
        assert_eq!((found.desired_length, found.actual_length, found.system_buffer), (Some(24), Some(24), false));
    });
}

#[test]
fn a_receive_under_way_and_a_complete_one_say_what_is_no_longer_kept() {
    on_ch4(|mut process| {
        let world = process.world();
        let matched = process.receive(world, [3, 17, WORLD_CONTEXT], 10, MPI_INT);
        let more = process.more(matched);
        process.set(more, MORE, "status", 1 << 8);
        let complete = process.receive(world, [0, 0, WORLD_CONTEXT], 10, MPI_INT);
        for (field, value) in [("cc", 0), ("status.MPI_SOURCE", 2), ("status.MPI_TAG", 8), ("status.count_lo", 40)] {
            process.set(complete, REQUEST, field, value);
        }
        let queue = process.read_world().pending_receives;
        assert_eq!(queue.state, QueueState::Ok);
        let [first, second] = &queue.operations[..] else { panic!() };
        assert_eq!(
            (first.status, first.actual_local_rank, first.actual_tag),
            (OperationStatus::Matched, Some(3), Some(17))
        );
        assert!(first.desired_tag.is_none() && first.unknown.contains_key("desired_tag"));
        assert_eq!(second.status, OperationStatus::Complete);
        assert_eq!((second.actual_local_rank, second.actual_tag, second.actual_length), (Some(2), Some(8), Some(40)));
        assert!(second.unknown.contains_key("desired_length"));
    });
}

#[test]
fn a_matched_probe_is_a_message_that_waits_for_its_receive() {
    on_ch4(|mut process| {
        let world = process.world();
        let taken = process.receive(world, [3, 17, WORLD_CONTEXT], 9, MPI_BYTE);
        process.set(taken, REQUEST, "kind", MATCHED_PROBE);
        let found = process.read_world().pending_receives.into_owned().operations;
        assert_eq!(
            (found[0].status, found[0].actual_tag, found[0].actual_length),
            (OperationStatus::Matched, Some(17), Some(9))
        );
        assert_eq!(found[0].extra_text, [Remark::MatchedMessage]);
    });
}

#[test]
fn a_communicator_of_one_process_has_lists_of_its_own() {
    on_ch4(|mut process| {
        let own = process.own();
        let fields = [("dev.ch4.self.tag", 4), ("dev.ch4.self.count", 5), ("dev.ch4.self.datatype", MPI_INT)];
        let late = process.request(1, 1, own, &[("dev.ch4.self.tag", 9), fields[1], fields[2]]);
        let early = process.request(1, 1, own, &fields);
        process.list(2, &[early, late]);
        process.request(2, 1, own, &[("dev.ch4.self.tag", -1), fields[1], fields[2]]);
        let report = process.read();
        let own = &report.communicators[1];
        assert_eq!(own.context_id.as_deref(), Some(SELF_CONTEXT.to_string().as_str()));
        assert_eq!(
            (own.pending_sends.operations[0].desired_tag, own.pending_sends.operations[0].desired_length),
            (Some(4), Some(20))
        );
        assert!(own.pending_receives.operations[0].tag_wild);
        assert!(own.pending_receives.operations[0].unknown["desired_local_rank"].contains("MPI_ANY_SOURCE"));
        let order = |queue: &model::Queue| -> Vec<_> {
            queue.operations.iter().filter_map(|found| found.desired_tag).collect()
        };
        assert_eq!((order(&own.pending_sends), order(&own.unexpected_messages)), (vec![4, 9], vec![4, 9]));
        assert_eq!(own.unexpected_messages.state, QueueState::Ok);
        assert_eq!(own.unexpected_messages.operations[0].actual_length, Some(20));
    });
}
