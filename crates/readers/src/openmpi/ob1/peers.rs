//! ob1's state of one communicator: its peers, the messages from them, and where its lists of posted receives are.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

use super::posted::{ListReader, PostedLists};
use super::requests::{Decoded, Decoder};
use super::shapes::Ob1Shapes;
use super::shared_memory::InTransit;
use super::unexpected::Fragments;
use crate::openmpi::communicators::Found;
use crate::openmpi::shapes::Shapes;
use crate::openmpi::tags::InternalTags;
use crate::queues::fill_in_world_ranks;
use crate::record::Record;
use model::{Operation, Traffic};
use target::Target;
use target::address::TargetAddr;

/// A communicator never has more peers than this (4 Mi).
const MAX_PEERS: u64 = 1 << 22;

/// All communicators together never have more peers than this (64 Mi) in their tables.
const MAX_ALL_PEERS: u64 = 1 << 26;

/// Sequence numbers travel in 16 bits (`hdr_seq`, ompi/mca/pml/ob1/pml_ob1_hdr.h, v4.1.4 and v5.0.7).
const SEQUENCE_NUMBERS: u64 = 1 << 16;

/// That of the first message (`mca_pml_ob1_comm_proc_construct`, ompi/mca/pml/ob1/pml_ob1_comm.c, v4.1.4 and v5.0.7).
const FIRST_SEQUENCE: u64 = 1;

/// A problem is told this many times for each communicator.
const MAX_SAME_PROBLEM: usize = 4;

/// What could not be read of one communicator.
#[derive(Default)]
pub struct Problems {
    /// Of its posted receives.
    pub receives: Vec<String>,
    /// Of its messages.
    pub unexpected: Vec<String>,
}

impl Problems {
    fn both(&mut self, problem: &str) {
        add(&mut self.receives, problem.to_owned());
        add(&mut self.unexpected, problem.to_owned());
    }
}

fn add(problems: &mut Vec<String>, problem: String) {
    if problems.len() < MAX_SAME_PROBLEM {
        problems.push(problem);
    }
}

/// ob1's state of one communicator.
#[derive(Default)]
pub struct CommState {
    /// The number that its next receive will get.
    pub receive_sequence: u64,
    /// The number of the last send to each peer.
    pub send_sequences: HashMap<i64, u64>,
    /// The number of the next message from each peer that has a state here.
    expected: HashMap<i64, u64>,
    /// What could not be read.
    pub problems: Problems,
    /// Its lists of posted receives.
    posted: PostedLists,
}

/// Reads ob1's state of communicators.
pub struct Peers<'a> {
    /// The process.
    pub target: &'a dyn Target,
    /// Structures that every pml shares.
    pub shapes: &'a Shapes,
    /// Structures of ob1.
    pub ob1: &'a Ob1Shapes,
    /// The reader of messages.
    pub fragments: &'a Fragments<'a>,
    /// The meaning of negative tags.
    pub tags: &'a InternalTags,
    /// Peers that were read: none belongs to two communicators.
    seen: RefCell<HashSet<TargetAddr>>,
    /// How many peers the tables that were read have.
    in_tables: Cell<u64>,
}

impl<'a> Peers<'a> {
    /// Nothing is read yet.
    pub fn new(
        target: &'a dyn Target,
        shapes: &'a Shapes,
        ob1: &'a Ob1Shapes,
        fragments: &'a Fragments<'a>,
        tags: &'a InternalTags,
    ) -> Self {
        Self { target, shapes, ob1, fragments, tags, seen: RefCell::default(), in_tables: Cell::new(0) }
    }

    /// Reads ob1's part of a communicator; the messages in it go to its queue at once, at most `room` of them.
    pub fn read(&self, found: &mut Found, room: &mut usize) -> CommState {
        let mut state = CommState::default();
        if found.pml_comm.is_null() {
            // The communicator is being made, or ob1 has already let go of it: no message can be for it.
            found.facts.traffic_complete = found.numbered;
            return state;
        }
        let shape = &self.ob1.pml_comm;
        let record = match Record::owned(self.target, found.pml_comm, shape.size) {
            Ok(record) => record,
            Err(error) => {
                state.problems.both(&error.to_string());
                return state;
            }
        };
        state.receive_sequence = record.uint(shape.sequence);
        state.posted.add(self.shapes.constants.any_source, record.address_of(shape.wild_receives));
        let peers = record.uint(shape.num_procs);
        let width = self.target.abi().pointer_width.bytes();
        self.in_tables.set(self.in_tables.get().saturating_add(peers));
        // ob1 has a slot for every process that operations can name (mca_pml_ob1_add_comm, v4.1.4 and v5.0.7).
        let members = found.peers.as_ref().map_or(peers, |members| members.len() as u64);
        let table = if peers > MAX_PEERS || peers != members || self.in_tables.get() > MAX_ALL_PEERS {
            Err(format!("ob1 has {peers} peers for it, its group {members} members"))
        } else {
            let at = record.pointer(shape.procs);
            self.target.read_bytes(at, (peers * width) as usize).map_err(|error| error.to_string())
        };
        match table {
            Ok(table) => {
                found.facts.traffic_complete = found.numbered;
                for (peer, pointer) in (0..).zip(table.chunks_exact(width as usize)) {
                    let at = TargetAddr::new(self.target.abi().uint(pointer));
                    if !at.is_null() {
                        self.read_peer(found, peer, at, &mut state, room);
                    }
                }
            }
            Err(problem) => state.problems.both(&problem),
        }
        state
    }

    /// Notes how many messages went to a peer and came from it: ob1 numbers them from 1 on, when a send begins and when a
    /// message is taken in order (`mca_pml_ob1_comm_proc_t` in ompi/mca/pml/ob1/pml_ob1_comm.{c,h},
    /// `mca_pml_ob1_recv_frag_match` in pml_ob1_recvfrag.c, v4.1.4 and v5.0.7).
    fn count(&self, found: &mut Found, local_rank: i64, record: &Record<'_>) {
        let shape = &self.ob1.pml_proc;
        let sent = record.uint(shape.send_sequence) % SEQUENCE_NUMBERS;
        let arrived = record.uint(shape.expected_sequence).wrapping_sub(1) % SEQUENCE_NUMBERS;
        if found.numbered && (sent, arrived) != (0, 0) {
            let (sent, arrived) = (Some(sent), Some(arrived));
            let traffic = Traffic { local_rank, sent, arrived, modulus: SEQUENCE_NUMBERS, ..Traffic::default() };
            found.facts.traffic.push(traffic);
        }
    }

    fn read_peer(&self, found: &mut Found, peer: i64, at: TargetAddr, state: &mut CommState, room: &mut usize) {
        let shape = &self.ob1.pml_proc;
        if !self.seen.borrow_mut().insert(at) {
            state.problems.both(&format!("peer {peer}: another peer's state is there, at {at}"));
            found.facts.traffic_complete = false;
            return;
        }
        let record = match Record::owned(self.target, at, shape.size) {
            Ok(record) => record,
            Err(error) => {
                state.problems.both(&format!("peer {peer}: {error}"));
                found.facts.traffic_complete = false;
                return;
            }
        };
        self.count(found, peer, &record.view());
        state.send_sequences.insert(peer, record.uint(shape.send_sequence));
        state.expected.insert(peer, record.uint(shape.expected_sequence));
        state.posted.add(peer, record.address_of(shape.specific_receives));
        let problems = &mut state.problems.unexpected;
        let mut messages = self.fragments.list(record.address_of(shape.unexpected), *room);
        let early = record.pointer(shape.out_of_order);
        if !early.is_null() {
            let early = self.fragments.out_of_order(early, record.uint(shape.expected_sequence), *room);
            messages.operations.extend(early.operations);
            messages.problems.extend(early.problems);
        }
        for problem in messages.problems {
            add(problems, format!("messages from peer {peer}: {problem}"));
        }
        for operation in messages.operations {
            if *room == 0 {
                break;
            }
            *room -= 1;
            self.take(operation, found, peer, problems);
        }
    }

    /// Adds the messages that lie in shared memory, behind those that have arrived; at most `room` of them.
    pub fn add_in_transit(&self, found: &mut Found, state: &CommState, letters: &mut InTransit, room: &mut usize) {
        // A peer has no state before the first message.
        let expected = |peer| state.expected.get(&peer).copied().unwrap_or(FIRST_SEQUENCE);
        for operation in letters.take(found, expected) {
            if *room == 0 {
                break;
            }
            *room -= 1;
            self.put(operation, found);
        }
    }

    fn take(&self, operation: Operation, found: &mut Found, peer: i64, problems: &mut Vec<String>) {
        let source = operation.desired_local_rank.unwrap_or_default();
        if source != peer {
            add(problems, format!("a message from {source} lies in the list of peer {peer}"));
        }
        self.put(operation, found);
    }

    fn put(&self, mut operation: Operation, found: &mut Found) {
        fill_in_world_ranks(&mut operation, |rank| found.world_rank(rank));
        if let Some(tag) = operation.desired_tag.filter(|tag| *tag < 0) {
            operation.internal = true;
            operation.extra_text.push(self.tags.describe(tag));
        }
        found.facts.unexpected_messages.operations.push(operation);
    }

    /// Adds the posted requests that do not come from the pool, and compares the lists with those that do.
    pub fn add_probes(
        &self,
        state: &mut CommState,
        decoder: &mut Decoder<'_>,
        receives: &mut Vec<Decoded>,
        room: &mut usize,
    ) {
        let reader = ListReader { target: self.target, shapes: self.shapes, ob1: self.ob1 };
        for problem in state.posted.complete(&reader, decoder, receives, room) {
            add(&mut state.problems.receives, format!("posted receives: {problem}"));
        }
    }
}
