//! Pending sends of MPICH: what their requests keep, and what they do not.

use model::{QueueState, Remark};

use super::{everywhere, on_ch4};
use made_up::mpich::{Device, MORE, MPI_BYTE, MPI_INT, Mpich, PERSISTENT_SEND, SEND};

const LARGE: i64 = 8 << 20;
const UNUSED: (i64, i64) = (0, 0);

fn send(process: &mut Mpich, bytes: i64, sent: i64, left: i64) -> target::address::TargetAddr {
    let world = process.world();
    let fields = [
        ("dev.ch4.am.u.send.dest", 2),
        ("dev.ch4.am.count", bytes),
        ("dev.ch4.am.datatype", MPI_BYTE),
        ("dev.ch4.am.buffer", 0x77_0000),
    ];
    let at = process.request(SEND, 1, world, &fields);
    let more = process.more(at);
    process.set(more, MORE, "send_async.offset", sent);
    process.set(more, MORE, "send_async.data_sz_left", left);
    // Memory that no send has used yet has no datatype there.
    process.set(more, MORE, "send_async.datatype", if (sent, left) == UNUSED { 0 } else { MPI_BYTE });
    at
}

#[test]
fn a_large_message_is_kept_whole_but_for_its_tag() {
    on_ch4(|mut process| {
        let at = send(&mut process, LARGE, 0, 0);
        let queue = process.read_world().pending_sends;
        assert_eq!(queue.state, QueueState::Ok);
        let found = &queue.operations[0];
        assert_eq!(
            (found.desired_local_rank, found.desired_length, found.buffer),
            (Some(2), Some(8 << 20), Some(0x77_0000))
        );
        assert_eq!(
            (found.desired_tag, found.unknown.keys().cloned().collect::<Vec<_>>()),
            (None, vec!["desired_tag".into()])
        );
        assert_eq!((found.library_request, queue.unordered), (Some(at.get()), 1));
    });
}

#[test]
fn a_message_that_has_gone_leaves_old_values_which_are_not_shown() {
    on_ch4(|mut process| {
        send(&mut process, 100, 24, 0);
        // Both a large message, whose cell was used before, and a synchronous one, whose request was.
        send(&mut process, LARGE, 24, 0);
        let [gone, either] = &process.read_world().pending_sends.operations[..] else { panic!() };
        assert_eq!((gone.desired_local_rank, gone.desired_length, gone.buffer), (None, Some(24), None));
        assert!(gone.unknown["desired_local_rank"].contains("at once"));
        assert_eq!((either.desired_local_rank, either.desired_length), (None, None));
        assert!(either.unknown["desired_length"].contains("does not say"));
        assert_eq!(either.extra_text, [Remark::from("either 8388608 bytes to 2, or 24 bytes of a synchronous send")]);
    });
}

#[test]
fn a_message_that_is_going_is_a_large_one_only_where_its_bytes_are_those_of_the_request() {
    on_ch4(|mut process| {
        send(&mut process, LARGE, LARGE - 7, 7);
        send(&mut process, LARGE, 0, 500);
        let [large, waits] = &process.read_world().pending_sends.operations[..] else { panic!() };
        assert_eq!((large.desired_local_rank, large.desired_length), (Some(2), Some(8 << 20)));
        assert_eq!((waits.desired_local_rank, waits.desired_length), (None, Some(500)));
        assert_eq!(waits.extra_text, [Remark::WaitsForRoom]);
    });
}

#[test]
fn a_persistent_request_knows_what_its_send_does_not() {
    on_ch4(|mut process| {
        let world = process.world();
        let started = send(&mut process, LARGE, 0, 0);
        let persistent = process.request(
            PERSISTENT_SEND,
            0,
            world,
            &[
                ("u.persist.real_request", started.get() as i64),
                ("dev.ch4.preq.p_type", 3),
                ("dev.ch4.preq.rank", 2),
                ("dev.ch4.preq.tag", 321),
                ("dev.ch4.preq.count", 6),
                ("dev.ch4.preq.datatype", MPI_INT),
            ],
        );
        let found = &process.read_world().pending_sends.into_owned().operations;
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].desired_tag, found[0].desired_length), (Some(321), Some(24)));
        assert_eq!((found[0].call.as_deref(), found[0].persistent), (Some("MPI_Ssend_init"), true));
        assert_eq!(found[0].request, Some(process.handle(persistent)));
        assert!(found[0].unknown.is_empty());
    });
}

#[test]
fn ch3_keeps_everything() {
    everywhere(|mut process| {
        if process.device != Device::Ch3 {
            return;
        }
        let world = process.world();
        process.request(
            SEND,
            1,
            world,
            &[
                ("dev.match.parts.rank", 3),
                ("dev.match.parts.tag", 66),
                ("dev.user_count", 3),
                ("dev.datatype", MPI_INT),
                ("dev.state", 3 << 4),
            ],
        );
        let found = &process.read_world().pending_sends.operations[0];
        assert_eq!((found.desired_local_rank, found.desired_tag, found.desired_length), (Some(3), Some(66), Some(12)));
        assert_eq!(found.extra_text, [Remark::SynchronousSend]);
    });
}

#[test]
fn the_lists_for_debuggers_have_the_tag() {
    on_ch4(|mut process| {
        let sends = [send(&mut process, LARGE, 0, 0), send(&mut process, 100, 24, 0)];
        let size = process.types.size("MPIR_Debugq");
        let head = process.mem.alloc(8, 8);
        let mut next = 0;
        for (index, request) in (0..).zip(sends) {
            let entry = process.mem.alloc(size, 8);
            for (field, value) in
                [("req", request.get() as i64), ("tag", 50 + index), ("rank", 3), ("count", 4), ("next", next)]
            {
                process.set(entry, "MPIR_Debugq", field, value);
            }
            next = entry.get() as i64;
            process.mem.put_pointer(head, entry);
        }
        process.symbols.push(("MPIR_Sendq_head", head));
        let found = process.read_world().pending_sends.into_owned().operations;
        let tags: Vec<_> = found.iter().map(|found| (found.desired_tag, found.desired_local_rank)).collect();
        assert_eq!(tags, [(Some(50), Some(3)), (Some(51), Some(3))]);
        assert!(found[0].evidence.as_deref().unwrap().contains("debuggers"));
    });
}

#[test]
fn what_only_the_network_knows_is_no_information() {
    on_ch4(|mut process| {
        let null = target::address::TargetAddr::NULL;
        process.request(SEND, 1, null, &[("dev.is_local", 0), ("dev.ch4.am.req", 0)]);
        let world = process.read_world();
        assert_eq!(world.pending_sends.state, QueueState::NoInformation);
        assert!(world.pending_sends.detail.as_deref().unwrap().contains("network"));
        // It is a send: the other queues are as well known as before.
        assert_eq!(world.pending_receives.state, QueueState::Ok);
    });
}
