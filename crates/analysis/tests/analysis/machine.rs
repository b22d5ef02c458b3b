//! MPI as a machine of a few ranks: what programs do, in all orders in which they may do it.

use std::collections::HashSet;

/// One call of a program.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Call {
    Send {
        comm: usize,
        to: usize,
        tag: i64,
        sync: bool,
    },
    Recv {
        comm: usize,
        from: Option<usize>,
        tag: Option<i64>,
    },
    Isend {
        comm: usize,
        to: usize,
        tag: i64,
        sync: bool,
    },
    Irecv {
        comm: usize,
        from: Option<usize>,
        tag: Option<i64>,
    },
    /// Requests by the order in which they were made.
    Wait {
        any: bool,
        requests: Vec<usize>,
    },
    Probe {
        comm: usize,
        from: Option<usize>,
        tag: Option<i64>,
    },
    Barrier {
        comm: usize,
    },
    Bcast {
        comm: usize,
        root: usize,
    },
    Reduce {
        comm: usize,
        root: usize,
    },
    /// Makes a request.
    Ialltoall {
        comm: usize,
    },
    /// Asks once whether a message is there, and goes on.
    Iprobe {
        comm: usize,
        from: Option<usize>,
        tag: Option<i64>,
    },
    Finalize,
}

impl Call {
    pub fn function(&self) -> &'static str {
        match self {
            Self::Send { sync: false, .. } => "MPI_Send",
            Self::Send { sync: true, .. } => "MPI_Ssend",
            Self::Recv { .. } => "MPI_Recv",
            Self::Isend { sync: false, .. } => "MPI_Isend",
            Self::Isend { sync: true, .. } => "MPI_Issend",
            Self::Irecv { .. } => "MPI_Irecv",
            Self::Wait { any: false, .. } => "MPI_Waitall",
            Self::Wait { any: true, .. } => "MPI_Waitany",
            Self::Probe { .. } => "MPI_Probe",
            Self::Barrier { .. } => "MPI_Barrier",
            Self::Bcast { .. } => "MPI_Bcast",
            Self::Reduce { .. } => "MPI_Reduce",
            Self::Ialltoall { .. } => "MPI_Ialltoall",
            Self::Iprobe { .. } => "MPI_Iprobe",
            Self::Finalize => "MPI_Finalize",
        }
    }

    /// The tag of what the library sends for it, as Open MPI's coll_tags.h has it.
    fn collective_tag(&self) -> i64 {
        match self {
            Self::Barrier { .. } => -16,
            Self::Bcast { .. } => -17,
            _ => -21,
        }
    }

    /// What it does one after the other. Collectives are linear, made of sends and receives.
    fn steps(&self, me: usize, programs: &Programs) -> Vec<Step> {
        let (tag, internal) = (self.collective_tag(), true);
        let others =
            |comm: usize, root: usize| programs.members[comm].iter().copied().filter(move |rank| *rank != root);
        let send = |comm: usize, to: usize| {
            Step::Post(Post { comm, peer: Some(to), tag: Some(tag), internal, kind: Kind::Eager })
        };
        let receive = |comm: usize, from: usize| {
            let post = Post { comm, peer: Some(from), tag: Some(tag), internal, kind: Kind::Receive };
            Step::Blocking(post)
        };
        let kind = |sync: bool| if sync { Kind::Sync } else { Kind::Eager };
        match *self {
            Self::Send { comm, to, tag, sync } => {
                vec![Step::Blocking(Post { comm, peer: Some(to), tag: Some(tag), internal: false, kind: kind(sync) })]
            }
            Self::Recv { comm, from, tag } => {
                vec![Step::Blocking(Post { comm, peer: from, tag, internal: false, kind: Kind::Receive })]
            }
            Self::Isend { comm, to, tag, sync } => {
                vec![Step::Post(Post { comm, peer: Some(to), tag: Some(tag), internal: false, kind: kind(sync) })]
            }
            Self::Irecv { comm, from, tag } => {
                vec![Step::Post(Post { comm, peer: from, tag, internal: false, kind: Kind::Receive })]
            }
            Self::Wait { any, ref requests } => vec![Step::Wait { any, requests: requests.clone() }],
            Self::Probe { comm, from, tag } => {
                vec![Step::Probe(Post { comm, peer: from, tag, internal: false, kind: Kind::Receive })]
            }
            Self::Barrier { comm } => {
                let root = programs.members[comm][0];
                match me == root {
                    true => {
                        let receives = others(comm, root).map(|from| receive(comm, from));
                        receives.chain(others(comm, root).map(|to| send(comm, to))).collect()
                    }
                    false => vec![send(comm, root), receive(comm, root)],
                }
            }
            Self::Bcast { comm, root } if me == root => others(comm, root).map(|to| send(comm, to)).collect(),
            Self::Bcast { comm, root } => vec![receive(comm, root)],
            Self::Reduce { comm, root } if me == root => others(comm, root).map(|from| receive(comm, from)).collect(),
            Self::Reduce { comm, root } => vec![send(comm, root)],
            Self::Ialltoall { comm } => vec![Step::Start { comm }],
            Self::Iprobe { .. } => Vec::new(),
            Self::Finalize => vec![Step::Never],
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Step {
    /// Posts, and goes on at once.
    Post(Post),
    /// Posts, and waits for it.
    Blocking(Post),
    Wait {
        any: bool,
        requests: Vec<usize>,
    },
    Probe(Post),
    /// Starts a non-blocking collective of all with all.
    Start {
        comm: usize,
    },
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Receive,
    /// A send that is complete at once.
    Eager,
    /// A send that is complete when it is received.
    Sync,
}

/// A send or a receive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Post {
    pub comm: usize,
    /// `None`: any source.
    pub peer: Option<usize>,
    /// `None`: any tag.
    pub tag: Option<i64>,
    pub internal: bool,
    pub kind: Kind,
}

/// What a rank has posted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Operation {
    pub post: Post,
    pub function: &'static str,
    pub done: bool,
    /// Its number among the rank's requests; `None` of a blocking one.
    pub request: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Message {
    pub from: usize,
    pub to: usize,
    pub comm: usize,
    pub tag: i64,
    pub internal: bool,
    /// The operation that is complete when it is received.
    pub sync: Option<usize>,
}

impl Message {
    pub fn fits(&self, post: &Post) -> bool {
        (self.comm, self.internal) == (post.comm, post.internal)
            && post.peer.is_none_or(|peer| peer == self.from)
            && post.tag.is_none_or(|tag| tag == self.tag)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Rank {
    /// The call that it is in, or makes next.
    pub call: usize,
    /// The step of it; `None` outside MPI.
    pub step: Option<usize>,
    pub operations: Vec<Operation>,
    pub requests: Vec<Request>,
    /// How many non-blocking collectives it has started, by communicator.
    pub started: [usize; COMMS],
    /// How many barriers it has entered, by communicator.
    entered: [usize; COMMS],
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Request {
    /// What it stands for, by places among the rank's operations.
    pub operations: Vec<usize>,
    /// Of a collective: its communicator and its number on this.
    pub collective: Option<(usize, usize)>,
}

/// Of the first non-blocking collective of a communicator; tags of the later ones are smaller.
pub const FIRST_NUMBERED: i64 = -32;

/// The job at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    pub ranks: Vec<Rank>,
    /// Sent, and not arrived.
    pub flying: Vec<Message>,
    /// Arrived, and not received.
    pub unexpected: Vec<Message>,
    /// How many messages were sent, and how many arrived, by communicator, sender and receiver.
    pub sent: Vec<u64>,
    pub arrived: Vec<u64>,
}

impl Rank {
    /// The operations of a request; none where there is no such request.
    fn of(&self, request: usize) -> impl Iterator<Item = &Operation> {
        self.requests.get(request).into_iter().flat_map(|one| &one.operations).map(|at| &self.operations[*at])
    }

    pub fn is_done(&self, request: usize) -> bool {
        self.of(request).all(|operation| operation.done)
    }
}

/// What a rank does for ever when its calls are over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Aside {
    Computing,
    Sleeping,
    /// Outside MPI for the most part, and now and then in a call that asks for a message.
    Polling,
    Stopped,
    /// In a lock of its own threads.
    Locked,
    Ended,
}

/// What a job runs.
#[derive(Debug, Clone)]
pub struct Programs {
    /// By rank.
    pub calls: Vec<Vec<Call>>,
    /// By rank.
    pub asides: Vec<Aside>,
    /// The ranks in each communicator, ascending. The first two have all; the last may have fewer.
    pub members: [Vec<usize>; COMMS],
}

pub const COMMS: usize = 3;

impl State {
    pub fn new(size: usize) -> Self {
        let none = vec![0; COMMS * size * size];
        let ranks = vec![Rank::default(); size];
        Self { ranks, flying: Vec::new(), unexpected: Vec::new(), sent: none.clone(), arrived: none }
    }

    pub fn count(&self, comm: usize, from: usize, to: usize) -> usize {
        (comm * self.ranks.len() + from) * self.ranks.len() + to
    }

    /// All that can happen next.
    pub fn next(&self, programs: &Programs) -> Vec<Self> {
        let mut all = Vec::new();
        for at in 0..self.flying.len() {
            let ends = |message: &Message| (message.from, message.to);
            if !self.flying[..at].iter().any(|earlier| ends(earlier) == ends(&self.flying[at])) {
                let mut next = self.clone();
                next.deliver(at);
                all.push(next);
            }
        }
        for rank in 0..self.ranks.len() {
            let mut next = self.clone();
            let moved = match self.ranks[rank].step {
                Some(_) => next.go_on(programs, rank),
                None if self.ranks[rank].call < programs.calls[rank].len() => {
                    next.enter(programs, rank, 0);
                    true
                }
                None => false,
            };
            if moved {
                all.push(next);
            }
        }
        all
    }

    /// Lets everything arrive and everybody leave MPI who can; nobody enters.
    pub fn settle(&mut self, programs: &Programs) {
        loop {
            while !self.flying.is_empty() {
                self.deliver(0);
            }
            if !(0..self.ranks.len()).any(|rank| self.ranks[rank].step.is_some() && self.go_on(programs, rank)) {
                break;
            }
        }
    }

    /// Enters a step and those after it that do not block.
    fn enter(&mut self, programs: &Programs, rank: usize, step: usize) {
        let call = &programs.calls[rank][self.ranks[rank].call];
        let steps = call.steps(rank, programs);
        if let (0, Call::Barrier { comm }) = (step, call) {
            self.ranks[rank].entered[*comm] += 1;
        }
        for (at, step) in steps.iter().enumerate().skip(step) {
            self.ranks[rank].step = Some(at);
            match step {
                Step::Post(post) => self.post(rank, *post, call.function(), !post.internal),
                Step::Blocking(post) => {
                    self.post(rank, *post, call.function(), false);
                    return;
                }
                Step::Start { comm } => self.start(rank, *comm, call.function(), &programs.members[*comm]),
                Step::Wait { .. } | Step::Probe(_) | Step::Never => return,
            }
        }
        self.leave(rank);
    }

    fn leave(&mut self, rank: usize) {
        self.ranks[rank].call += 1;
        self.ranks[rank].step = None;
    }

    /// Whether a rank is in a wait for requests that were never made.
    pub fn waits_for_nothing(&self, programs: &Programs) -> bool {
        self.ranks.iter().zip(&programs.calls).any(|(own, program)| match program.get(own.call) {
            Some(Call::Wait { requests, .. }) if own.step.is_some() => {
                requests.iter().all(|request| *request >= own.requests.len())
            }
            _ => false,
        })
    }

    /// Goes on if what its step waits for has come about.
    fn go_on(&mut self, programs: &Programs, rank: usize) -> bool {
        let (own, call) = (&self.ranks[rank], &programs.calls[rank][self.ranks[rank].call]);
        let Some(at) = own.step else { return false };
        let done = |request: &usize| own.is_done(*request);
        let ready = match &call.steps(rank, programs)[at] {
            Step::Post(_) | Step::Start { .. } => true,
            Step::Blocking(_) => own.operations.last().is_some_and(|operation| operation.done),
            Step::Wait { any: false, requests } => requests.iter().all(done),
            Step::Wait { any: true, requests } => requests.is_empty() || requests.iter().any(done),
            Step::Probe(post) => self.unexpected.iter().any(|message| message.to == rank && message.fits(post)),
            Step::Never => false,
        };
        if ready {
            self.enter(programs, rank, at + 1);
        }
        ready
    }

    fn post(&mut self, rank: usize, post: Post, function: &'static str, request: bool) {
        let own = &mut self.ranks[rank];
        let (index, number) = (own.operations.len(), own.requests.len());
        if request {
            own.requests.push(Request { operations: vec![index], collective: None });
        }
        let done = post.kind == Kind::Eager;
        own.operations.push(Operation { post, function, done, request: request.then_some(number) });
        match (post.kind, post.peer, post.tag) {
            (Kind::Receive, ..) => {
                let found = self.unexpected.iter().position(|message| message.to == rank && message.fits(&post));
                if let Some(at) = found {
                    let message = self.unexpected.remove(at);
                    self.receive(&message, index);
                }
            }
            (kind, Some(to), Some(tag)) => {
                let (comm, internal) = (post.comm, post.internal);
                let sync = (kind == Kind::Sync).then_some(index);
                self.flying.push(Message { from: rank, to, comm, tag, internal, sync });
                let count = self.count(comm, rank, to);
                self.sent[count] += 1;
            }
            _ => panic!("a send without destination"),
        }
    }

    /// Sends to all others, and receives from them.
    fn start(&mut self, rank: usize, comm: usize, function: &'static str, members: &[usize]) {
        let own = &mut self.ranks[rank];
        let (number, first) = (own.started[comm], own.operations.len());
        own.started[comm] += 1;
        let tag = Some(FIRST_NUMBERED - number as i64);
        for kind in [Kind::Receive, Kind::Eager] {
            for peer in members.iter().copied().filter(|peer| *peer != rank) {
                self.post(rank, Post { comm, peer: Some(peer), tag, internal: true, kind }, function, false);
            }
        }
        let own = &mut self.ranks[rank];
        let operations = (first..own.operations.len()).collect();
        own.requests.push(Request { operations, collective: Some((comm, number)) });
    }

    fn deliver(&mut self, at: usize) {
        let message = self.flying.remove(at);
        let count = self.count(message.comm, message.from, message.to);
        self.arrived[count] += 1;
        let waits = |operation: &Operation| {
            !operation.done && operation.post.kind == Kind::Receive && message.fits(&operation.post)
        };
        match self.ranks[message.to].operations.iter().position(waits) {
            Some(index) => self.receive(&message, index),
            None => self.unexpected.push(message),
        }
    }

    fn receive(&mut self, message: &Message, index: usize) {
        self.ranks[message.to].operations[index].done = true;
        if let Some(send) = message.sync {
            self.ranks[message.from].operations[send].done = true;
        }
    }

    /// Who never leaves the call that it is in, whatever those outside MPI do: the largest set of ranks in which each waits for
    /// others of the set, or for one that has ended. Nothing may be on its way.
    pub fn stuck(&self, programs: &Programs) -> Vec<bool> {
        assert!(self.flying.is_empty());
        let size = self.ranks.len();
        let outside = |(rank, own): (usize, &Rank)| {
            let ended = programs.asides[rank] == Aside::Ended && own.call == programs.calls[rank].len();
            own.step.is_none() && !ended
        };
        let mut free: Vec<bool> = self.ranks.iter().enumerate().map(outside).collect();
        loop {
            let from = |me: usize, post: &Post| match post.peer {
                Some(peer) => free[peer],
                None => programs.members[post.comm].iter().any(|rank| *rank != me && free[*rank]),
            };
            let comes = |me: usize, operation: &Operation| operation.done || from(me, &operation.post);
            let goes = |me: usize| {
                let own = &self.ranks[me];
                // It has ended.
                let Some(step) = own.step else { return false };
                let call = &programs.calls[me][own.call];
                let request = |request: &usize| own.of(*request).all(|operation| comes(me, operation));
                // Nobody leaves a barrier before all have entered it.
                if let Call::Barrier { comm } = call
                    && programs.members[*comm]
                        .iter()
                        .any(|member| self.ranks[*member].entered[*comm] < own.entered[*comm] && !free[*member])
                {
                    return false;
                }
                match &call.steps(me, programs)[step] {
                    Step::Post(_) | Step::Start { .. } => true,
                    Step::Blocking(_) => own.operations.last().is_some_and(|operation| comes(me, operation)),
                    Step::Wait { any: false, requests } => requests.iter().all(request),
                    Step::Wait { any: true, requests } => requests.is_empty() || requests.iter().any(request),
                    Step::Probe(post) => {
                        from(me, post) || self.unexpected.iter().any(|message| message.to == me && message.fits(post))
                    }
                    Step::Never => false,
                }
            };
            let Some(rank) = (0..size).find(|rank| !free[*rank] && goes(*rank)) else { break };
            free[rank] = true;
        }
        free.into_iter().map(|free| !free).collect()
    }

    /// Whether a rank leaves the call that it is in, in any order in which things may happen, as far as `most` states tell.
    pub fn leaves(&self, programs: &Programs, most: usize) -> Vec<bool> {
        let mut seen: HashSet<Self> = HashSet::new();
        let mut left = vec![false; self.ranks.len()];
        let mut next = vec![self.clone()];
        while let Some(state) = next.pop() {
            for (rank, left) in left.iter_mut().enumerate() {
                *left |= state.ranks[rank].call > self.ranks[rank].call;
            }
            for state in state.next(programs) {
                if seen.len() < most && !seen.contains(&state) {
                    seen.insert(state.clone());
                    next.push(state);
                }
            }
        }
        left
    }
}
