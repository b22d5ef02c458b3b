//! How many messages went to peers and came from them.

use model::{Communicator, QueueReport};

use super::{everywhere, one};
use made_up::process::{Comm, Member, Message, Process, Send, named};

const COMM: &str = "ompi_communicator_t";
const PEER: &str = "mca_pml_ob1_comm_proc_t";

/// Rank, messages sent, messages arrived.
fn counts(found: &Communicator) -> Vec<(i64, u64, u64)> {
    assert!(found.traffic.iter().all(|peer| peer.modulus == 65_536));
    found.traffic.iter().map(|peer| (peer.local_rank, peer.sent.unwrap(), peer.arrived.unwrap())).collect()
}

fn world(report: &QueueReport) -> &Communicator {
    named(report, "MPI_COMM_WORLD")
}

/// ob1's state of a peer after so many messages.
fn exchanged(process: &mut Process, comm: Comm, rank: i64, sent: i64, arrived: i64) {
    let peer = process.peer(comm, rank);
    process.set(peer, PEER, "send_sequence", sent);
    process.set(peer, PEER, "expected_sequence", (arrived + 1) & 0xffff);
}

#[test]
fn every_send_and_every_message_counts() {
    everywhere(|mut process, comm| {
        for to in [0, 3, 0, 0] {
            process.send(comm, Send { to, ..Send::default() });
        }
        for from in [3, 3] {
            process.arrive(comm, Message { from, ..Message::default() });
        }
        let report = process.read();
        assert_eq!(counts(world(&report)), [(0, 3, 0), (3, 1, 2)]);
        assert!(world(&report).traffic_complete);
    });
}

#[test]
fn counts_wrap_as_those_of_the_peer_do() {
    everywhere(|mut process, comm| {
        exchanged(&mut process, comm, 0, 65_535, 65_535);
        exchanged(&mut process, comm, 2, 65_536, 65_536);
        exchanged(&mut process, comm, 3, i64::from(i32::MIN) + 4, 65_537);
        // One that wrapped to nothing sent and nothing arrived looks like one with which there was no traffic.
        assert_eq!(counts(world(&process.read())), [(0, 65_535, 65_535), (3, 4, 1)]);
    });
}

#[test]
fn without_traffic_it_is_known_that_there_was_none() {
    everywhere(|mut process, comm| {
        process.peer(comm, 2);
        let report = process.read();
        assert_eq!((counts(world(&report)), world(&report).traffic_complete), (Vec::new(), true));
    });
}

#[test]
fn messages_that_may_overtake_are_not_counted() {
    everywhere(|mut process, comm| {
        exchanged(&mut process, comm, 0, 5, 0);
        let overtake = process.types.constants["OMPI_COMM_ASSERT_ALLOW_OVERTAKE"];
        process.set(process.addr(comm), COMM, "c_assertions", !overtake);
        assert_eq!(counts(world(&process.read())), [(0, 5, 0)]);
        process.set(process.addr(comm), COMM, "c_assertions", overtake);
        let report = process.read();
        assert_eq!((counts(world(&report)), world(&report).traffic_complete), (Vec::new(), false));
    });
}

#[test]
fn layouts_that_cannot_tell_whether_messages_overtake_give_no_counts() {
    let (mut process, comm) = one();
    exchanged(&mut process, comm, 0, 5, 0);
    process.types.constants.remove("OMPI_COMM_ASSERT_ALLOW_OVERTAKE");
    let report = process.read();
    assert_eq!((counts(world(&report)), world(&report).traffic_complete), (Vec::new(), false));
}

#[test]
fn a_peer_that_cannot_be_read_makes_the_counts_incomplete() {
    let (mut process, comm) = one();
    exchanged(&mut process, comm, 0, 5, 4);
    process.peer(comm, 3);
    let pml = process.pml_comm(comm);
    let procs = process.mem.get_pointer(process.field(pml, process.pml_type(), "procs"));
    process.mem.put_pointer(procs.wrapping_add(3 * process.width()), target::address::TargetAddr::new(8));
    let report = process.try_read().unwrap();
    assert_eq!((counts(world(&report)), world(&report).traffic_complete), (vec![(0, 5, 4)], false));
    let number = process.get(pml, process.pml_type(), "num_procs");
    process.set(pml, process.pml_type(), "num_procs", number as i64 + 1);
    let report = process.try_read().unwrap();
    assert_eq!((counts(world(&report)), world(&report).traffic_complete), (Vec::new(), false));
}

#[test]
fn an_intercommunicator_has_the_traffic_within_its_own_group_too() {
    everywhere(|mut process, _| {
        let local = process.group(&[Member::Ours(0), Member::Ours(1)]);
        let remote = process.group(&[Member::Ours(3)]);
        let (comm, inner) = process.intercomm("bridge", local, remote, 1);
        exchanged(&mut process, comm, 0, 6, 7);
        exchanged(&mut process, inner, 1, 2, 1);
        let report = process.read();
        let bridge = named(&report, "bridge");
        assert_eq!(counts(bridge), [(0, 6, 7), (1, 2, 1)]);
        assert_eq!(bridge.traffic.iter().map(|peer| peer.within_local_group).collect::<Vec<_>>(), [false, true]);
        assert!(bridge.traffic_complete);
    });
}
