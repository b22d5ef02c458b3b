//! Requests of MPICH that libfabric works on.

use model::{OperationStatus, QueueState};
use target::address::TargetAddr;

use super::on_ch4;
use made_up::mpich::{Device, MATCHED_PROBE, MPI_INT, Mpich, OFI_PEEK, OFI_RECEIVE, RECEIVE, WORLD_CONTEXT};

const EVENT: &str = "dev.ch4.netmod.ofi.event_id";
const STATUS: &str = "dev.ch4.netmod.ofi.util_id";

/// A request of the network; what the library writes last, whether it is local, is from an earlier use.
fn probe(process: &mut Mpich, comm: TargetAddr, event: i64, status: i64) -> TargetAddr {
    let fields = [
        ("dev.is_local", 1),
        ("dev.ch4.am.req", 0),
        (EVENT, event),
        (STATUS, status),
        ("status.MPI_SOURCE", 3),
        ("status.MPI_TAG", 44),
        ("status.count_lo", 24),
        ("status.count_hi_and_cancelled", 0),
    ];
    process.request(MATCHED_PROBE, 1, comm, &fields)
}

/// What a receive that libfabric works on has, on MPI_COMM_WORLD.
const OF_LIBFABRIC: [(&str, i64); 4] = [
    ("dev.is_local", 0),
    ("dev.ch4.am.req", 0),
    (EVENT, OFI_RECEIVE),
    ("dev.ch4.netmod.ofi.context_id", WORLD_CONTEXT),
];

#[test]
fn a_probe_that_searches_is_no_operation() {
    on_ch4(|mut process| {
        let world = process.world();
        probe(&mut process, world, OFI_PEEK, 0);
        probe(&mut process, world, OFI_PEEK, 1);
        // An attempt that is only being made: no communicator, and an event of an earlier use.
        probe(&mut process, TargetAddr::NULL, OFI_RECEIVE, 2);
        let world = process.read_world();
        for queue in [&world.pending_sends, &world.pending_receives] {
            assert_eq!((queue.state, queue.operations.len()), (QueueState::Ok, 0), "{:?}", queue.detail);
        }
    });
}

#[test]
fn a_probe_that_has_found_a_message_holds_it() {
    on_ch4(|mut process| {
        let world = process.world();
        probe(&mut process, world, OFI_PEEK, 2);
        let queue = process.read_world().pending_receives;
        let [held] = &queue.operations[..] else { panic!("{queue:?}") };
        assert_eq!((held.actual_local_rank, held.actual_tag, held.actual_length), (Some(3), Some(44), Some(24)));
        assert_eq!((held.status, held.desired_tag), (OperationStatus::Matched, None));
        assert!(held.unknown.contains_key("desired_tag"));
    });
}

#[test]
fn a_probe_that_makes_no_sense_leaves_only_the_receives_unknown() {
    for (event, status) in [(OFI_PEEK, 3), (OFI_PEEK, -1), (1 << 20, 2), (-1, 0)] {
        on_ch4(|mut process| {
            let world = process.world();
            probe(&mut process, world, event, status);
            let report = process.read();
            let [world, own] = [&report.communicators[0], &report.communicators[1]];
            assert_eq!(world.pending_receives.state, QueueState::NoInformation);
            assert!(world.pending_receives.detail.as_deref().is_some_and(|why| why.contains("1 requests")));
            for queue in [&world.pending_sends, &own.pending_receives, &own.pending_sends] {
                assert_eq!(queue.state, QueueState::Ok, "{:?}", queue.detail);
            }
        });
    }
}

#[test]
fn a_message_held_on_a_communicator_that_nobody_names_may_be_anyones() {
    on_ch4(|mut process| {
        probe(&mut process, TargetAddr::NULL, OFI_PEEK, 2);
        for found in process.read().communicators {
            assert_eq!(found.pending_receives.state, QueueState::NoInformation);
            assert_eq!(found.pending_sends.state, QueueState::Ok);
        }
    });
}

#[test]
fn a_receive_that_is_done_has_what_mpi_wait_would_give() {
    on_ch4(|mut process| {
        let world = process.world();
        let fields = [
            ("dev.ch4.netmod.ofi.util.iov.iov_len", 40),
            ("status.MPI_SOURCE", 1),
            ("status.MPI_TAG", 9),
            ("status.count_lo", 12),
            ("status.count_hi_and_cancelled", 0),
            ("status.MPI_ERROR", 0),
        ];
        process.request(RECEIVE, 0, world, &[&OF_LIBFABRIC[..], &fields].concat());
        let queue = process.read_world().pending_receives;
        let [done] = &queue.operations[..] else { panic!("{queue:?}") };
        assert_eq!((done.actual_local_rank, done.actual_tag, done.actual_length), (Some(1), Some(9), Some(12)));
        let newer = (process.device == Device::Ch4Status).then_some(40);
        assert_eq!((done.status, done.desired_length), (OperationStatus::Complete, newer));
        assert!(done.unknown.contains_key("desired_local_rank") && done.unknown.contains_key("desired_tag"));
    });
}

#[test]
fn where_the_data_goes_is_told_only_where_the_release_writes_it() {
    on_ch4(|mut process| {
        let world = process.world();
        // What an earlier use left, where the release writes none of its own.
        for datatype in [MPI_INT, 0x8c00_0003_u32 as i32 as i64] {
            let fields = [
                ("dev.ch4.netmod.ofi.datatype", datatype),
                ("dev.ch4.netmod.ofi.util.iov.iov_base", 0x7770),
                ("dev.ch4.netmod.ofi.util.iov.iov_len", 40),
            ];
            process.request(RECEIVE, 1, world, &[&OF_LIBFABRIC[..], &fields].concat());
        }
        let [plain, derived] = &process.read_world().pending_receives.operations[..] else { panic!() };
        let newer = process.device == Device::Ch4Status;
        assert_eq!((plain.desired_length, plain.buffer), (newer.then_some(40), newer.then_some(0x7770)));
        // Its data may begin elsewhere than its buffer.
        assert_eq!((derived.desired_length, derived.buffer), (newer.then_some(40), None));
        assert!(derived.unknown.contains_key("buffer"));
    });
}

#[test]
fn the_order_of_receives_over_libfabric_is_said_to_be_unknown() {
    on_ch4(|mut process| {
        let world = process.world();
        process.request(RECEIVE, 1, world, &OF_LIBFABRIC);
        assert_eq!(process.read().notes, [""; 0]);
        process.request(RECEIVE, 1, world, &OF_LIBFABRIC);
        let notes = process.read().notes;
        assert!(notes.iter().any(|note| note.contains("their order is not known")), "{notes:?}");
    });
}
