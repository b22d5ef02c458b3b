//! Makes up the digests of the agents of many nodes, from what was really read of a small job.
//!
//! `digests NODES RANKS DIRECTORY <snapshot.json`: RANKS on each of NODES nodes, the digests of two looks of node N as
//! DIRECTORY/N.1 and DIRECTORY/N.2. The job that was read has 8 ranks, of which rank 5 is odd; in the large one the rank in the
//! middle stands for it, those beside it for 3, 4, 6 and 7, ranks 0 and 1 for these, the others before it for 2, behind it
//! for 7. Peers are as far away as they were, addresses are others in each rank, and at the second look a third of the ranks
//! stands elsewhere in MPI. Of counted messages all have arrived.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::collections::HashMap;
use std::io::Read as _;

use model::digest::Digester;
use model::{Group, HandleWord, Process, QueueKind, Snapshot};

/// Ranks of communicators that are parts of MPI_COMM_WORLD.
const ROW: i64 = 64;

struct Job {
    templates: Vec<model::Shared<Process>>,
    nodes: i64,
    ranks: i64,
    odd: i64,
    world: Group,
    rows: HashMap<(&'static str, i64), Group>,
}

impl Job {
    fn size(&self) -> i64 {
        self.nodes * self.ranks
    }

    /// Who of the small job a rank stands for.
    fn template(&self, rank: i64) -> i64 {
        match rank - self.odd + 5 {
            near @ 3..=7 => near,
            _ if rank < 2 => rank,
            _ if rank > self.odd => 7,
            _ => 2,
        }
    }

    /// The peer of a rank that has `peer` where it stands for `of`.
    fn peer(&self, rank: i64, of: i64, peer: i64) -> i64 {
        match (peer - of).abs() {
            0..=1 => (rank + peer - of).rem_euclid(self.size()),
            7 => (rank - (peer - of).signum()).rem_euclid(self.size()),
            _ if peer == 5 => self.odd,
            _ => peer,
        }
    }

    /// How many messages a rank has sent to another one, where it counts those to it.
    fn sent(&self, communicator: &str, rank: i64, to: i64) -> Option<u64> {
        let of = self.template(rank);
        let template = self.templates.get(usize::try_from(of).ok()?)?;
        let same = template.communicators.iter().find(|one| &*one.name == communicator)?;
        same.traffic.iter().find(|one| self.peer(rank, of, one.local_rank) == to)?.sent
    }

    /// A group that is the world, one rank, neighbours, or ranks with equal distances.
    fn group(&mut self, name: &str, rank: i64) -> (Group, i64) {
        let (size, rows) = (self.size(), self.size() / ROW);
        let (name, at, first, step, count) = match name {
            "MPI_COMM_SELF" => ("self", rank, rank, 1, 1),
            "row" => ("row", rank / ROW, rank - rank % ROW, 1, ROW.min(size)),
            "column" => ("column", rank % ROW, rank % ROW, ROW, rows.max(1)),
            _ => return (self.world.clone(), rank),
        };
        let group = self.rows.entry((name, at)).or_insert_with(|| (0..count).map(|i| Some(first + i * step)).collect());
        (group.clone(), (rank - first) / step)
    }

    fn process(&mut self, rank: i64, look: u32) -> model::Shared<Process> {
        let of = self.template(rank);
        let mut process = self.templates[usize::try_from(of).expect("a rank")].clone();
        let mut random = Random(u64::try_from(rank).expect("a rank") + 1);
        // Where the program and its libraries lie.
        let moved = (random.next() % (1 << 28)) << 12;
        let address = |value: u64| if value > 1 << 40 { value ^ moved } else { value };
        let word = |word: HandleWord| HandleWord(address(word.0));
        process.rank = Some(rank);
        process.world_size = Some(self.size());
        process.pid = Some(40_000 + 3 * (rank % self.ranks));
        process.host = Some(format!("node{}", rank / self.ranks).into());
        process.executable = Some("/home/user/halo/halo".into());
        for call in &mut process.calls {
            call.fingerprint = call.fingerprint.as_ref().map(|_| format!("{:016x}", random.next()));
            for argument in &mut call.arguments {
                let moved = |value: i64| u64::try_from(value).map_or(value, |value| address(value).cast_signed());
                argument.value = match argument.name.as_str() {
                    "source" | "dest" => argument.value.map(|peer| self.peer(rank, of, peer)),
                    _ => argument.value.map(moved),
                };
                argument.values.iter_mut().flatten().for_each(|value| *value = moved(*value));
            }
            for request in &mut call.requests {
                request.handle = request.handle.map(word);
                let summary = request.summary.take().unwrap_or_default();
                let peers = [("from ", of - 1), ("to ", of + 1)];
                request.summary = Some(peers.iter().fold(summary, |text, (word, peer)| {
                    let now = self.peer(rank, of, *peer);
                    text.replace(&format!("{word}{}", peer.rem_euclid(8)), &format!("{word}{now}"))
                }));
            }
        }
        for sender in &mut process.senders {
            sender.dest = sender.dest.map(|peer| self.peer(rank, of, peer));
        }
        if look == 2 && rank % 3 == 1 {
            let stack = process.stacks.first_mut().expect("a stack");
            stack.frames.first_mut().expect("a frame").line = Some(87);
        }
        for communicator in &mut process.communicators {
            let (group, local_rank) = self.group(&communicator.name, rank);
            communicator.size = i64::try_from(group.len()).ok();
            communicator.group = Some(group);
            communicator.local_rank = Some(local_rank);
            communicator.handle = communicator.handle.map(word);
            for traffic in &mut communicator.traffic {
                traffic.local_rank = self.peer(rank, of, traffic.local_rank);
                // As many have arrived as were sent: nothing is on its way that somebody could wait for.
                traffic.arrived = self.sent(&communicator.name, traffic.local_rank, rank).or(traffic.arrived);
            }
            // As readers give them.
            communicator.traffic.sort_by_key(|one| (one.within_local_group, one.local_rank));
            for kind in QueueKind::ALL {
                if kind.of(communicator).operations.is_empty() {
                    continue;
                }
                for operation in &mut kind.of_mut(communicator).operations {
                    for peer in [
                        &mut operation.desired_local_rank,
                        &mut operation.desired_global_rank,
                        &mut operation.actual_local_rank,
                        &mut operation.actual_global_rank,
                    ] {
                        *peer = peer.map(|peer| self.peer(rank, of, peer));
                    }
                    operation.buffer = operation.buffer.map(address);
                    operation.request = operation.request.map(address);
                    operation.library_request = operation.library_request.map(address);
                }
            }
        }
        process
    }
}

/// Numbers that look like any: splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

fn main() {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [nodes, ranks, directory] = given.as_slice() else { panic!("usage: digests NODES RANKS DIRECTORY") };
    let (nodes, ranks) = (nodes.parse::<i64>().expect("nodes"), ranks.parse::<i64>().expect("ranks"));
    let mut json = String::new();
    std::io::stdin().read_to_string(&mut json).expect("a snapshot");
    let read: Snapshot = serde_json::from_str(&json).expect("a snapshot");
    let world = (0..nodes * ranks).map(Some).collect();
    let odd = nodes * ranks / 2 + 5;
    let mut job = Job { templates: read.processes, nodes, ranks, odd, world, rows: HashMap::new() };
    for node in 0..nodes {
        let mut digester = Digester::default();
        for look in [1, 2] {
            let processes = (node * ranks..(node + 1) * ranks).map(|rank| job.process(rank, look)).collect();
            let snapshot = Snapshot { processes, captured_at: read.captured_at.clone(), ..Snapshot::default() };
            let digest = digester.write(&snapshot).expect("its text");
            std::fs::write(format!("{directory}/{node}.{look}"), digest).expect("a file");
        }
    }
}
