//! Unexpected messages, those that came out of order, and those for communicators that do not exist yet.

use model::QueueState;

use super::{everywhere, one};
use made_up::openmpi_types::Build;
use made_up::process::{ABIS, Message, Process, named, says, tags};

#[test]
fn source_tag_and_true_length_of_every_kind_of_header() {
    for (number, abi) in ABIS.into_iter().enumerate() {
        for (padded, extended) in [(false, false), (true, false), (false, true), (true, true)] {
            let build = Build { padded, extended, ..Build::default() };
            let (mut process, world) = Process::new(abi, build, 100 + number as u64);
            let sizes = [("MATCH", 0), ("MATCH", 21), ("RNDV", 0), ("RNDV", 70_000), ("RGET", 8 << 20)];
            let mut fragments = Vec::new();
            for (tag, (kind, bytes)) in (0..).zip(sizes) {
                for extended in [false, true] {
                    if extended && !build.extended {
                        continue;
                    }
                    let message = Message { from: 2, tag, bytes, kind, extended };
                    fragments.push((process.arrive(world, message), message));
                }
            }
            let report = process.read();
            let queue = &named(&report, "MPI_COMM_WORLD").unexpected_messages;
            assert_eq!((queue.state, queue.operations.len()), (QueueState::Ok, fragments.len()));
            for (found, (_, sent)) in queue.operations.iter().zip(&fragments) {
                assert_eq!((found.desired_local_rank, found.actual_global_rank), (Some(2), Some(2)), "{sent:?}");
                assert_eq!((found.desired_tag, found.actual_tag), (Some(sent.tag), Some(sent.tag)));
                assert_eq!((found.desired_length, found.actual_length), (Some(sent.bytes), Some(sent.bytes)));
                let eager = sent.kind == "MATCH";
                assert!(says(found, if eager { "eager" } else { "rendezvous" }));
                assert_eq!((found.buffer.is_some(), found.system_buffer), (eager, true));
            }
        }
    }
}

#[test]
fn an_eager_message_lies_behind_its_header() {
    let (mut process, world) = one();
    let at = process.arrive(world, Message::default());
    let segment = process.field(at, "mca_pml_ob1_recv_frag_t", "segments");
    let data = process.get(segment, "mca_btl_base_segment_t", "seg_addr");
    let header = process.types.field("mca_pml_ob1_match_hdr_t", "hdr_seq").0 + 2;
    let report = process.read();
    assert_eq!(named(&report, "MPI_COMM_WORLD").unexpected_messages.operations[0].buffer, Some(data + header));
}

#[test]
fn messages_come_in_order_for_each_sender() {
    everywhere(|mut process, world| {
        for (from, tag) in [(0, 1), (3, 2), (0, 3), (3, 4), (0, 5)] {
            process.arrive(world, Message { from, tag, ..Message::default() });
        }
        let report = process.read();
        let messages = &named(&report, "MPI_COMM_WORLD").unexpected_messages.operations;
        assert_eq!(tags(messages), [1, 3, 5, 2, 4].map(Some));
    });
}

#[test]
fn a_negative_tag_is_internal() {
    everywhere(|mut process, world| {
        let tag = process.types.constant("MCA_COLL_BASE_TAG_REDUCE");
        process.arrive(world, Message { tag, ..Message::default() });
        let report = process.read();
        let message = &named(&report, "MPI_COMM_WORLD").unexpected_messages.operations[0];
        assert!(message.internal && says(message, "MPI_Reduce"));
    });
}

#[test]
fn early_messages_are_marked_and_sorted_over_ranges_and_the_wrap() {
    everywhere(|mut process, world| {
        let mut early = |sequence: u16| {
            let tag = i64::from(sequence);
            process.fragment(Message { from: 3, tag, ..Message::default() }, 10, sequence)
        };
        let sequences: [&[u16]; 3] = [&[65_534, 65_535, 0, 1], &[3], &[5, 6]];
        let rings: Vec<Vec<_>> = sequences.iter().map(|ring| ring.iter().map(|one| early(*one)).collect()).collect();
        // The head need not be the lowest number.
        let order = [&rings[1][..], &rings[2][..], &rings[0][..]];
        process.out_of_order(world, 3, 65_532, &order);
        let report = process.read();
        let messages = &named(&report, "MPI_COMM_WORLD").unexpected_messages.operations;
        assert_eq!(tags(messages), [65_534, 65_535, 0, 1, 3, 5, 6].map(Some));
        assert!(messages.iter().all(|message| says(message, "out of order")));
    });
}

#[test]
fn a_message_in_order_comes_before_the_early_ones() {
    let (mut process, world) = one();
    process.arrive(world, Message { tag: 1, ..Message::default() });
    let early = process.fragment(Message { tag: 2, ..Message::default() }, 10, 9);
    process.out_of_order(world, 0, 2, &[&[early]]);
    let report = process.read();
    let messages = &named(&report, "MPI_COMM_WORLD").unexpected_messages.operations;
    assert_eq!(tags(messages), [1, 2].map(Some));
    assert_eq!((says(&messages[0], "out of order"), says(&messages[1], "out of order")), (false, true));
}

#[test]
fn messages_before_their_communicator_are_noted() {
    everywhere(|mut process, _| {
        for context in [77, 78, 77] {
            process.unplaced(Message::default(), context);
        }
        let report = process.read();
        let notes = report.notes.join("\n");
        assert!(notes.contains("context 77") && notes.contains(": 2") && notes.contains("context 78"), "{notes}");
        assert!(named(&report, "MPI_COMM_WORLD").unexpected_messages.operations.is_empty());
    });
}

#[test]
fn the_context_of_an_extended_header_is_the_extended_one() {
    let build = Build { extended: true, ..Build::default() };
    let (mut process, _) = Process::new(ABIS[0], build, 9);
    process.unplaced(Message { extended: true, ..Message::default() }, 0x4d);
    let notes = process.read().notes.join("\n");
    assert!(notes.contains("0x11112222:0x4d"), "{notes}");
}
