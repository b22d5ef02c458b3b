//! What each thread waits for, by the rules of the standard and by what its library has posted.
//!
//! A need is a formula over parties. Where it is not known which of several things a thread waits for, both readings are kept:
//! under the hopeful one it waits for any of them, under the strict one for all. What is stuck even under the hopeful reading
//! is stuck for certain.

mod collectives;
mod intercomm;
mod lifecycle;
mod one_sided;
mod point_to_point;
mod posted;
mod probes;
mod requests;
mod standing;
mod threads;
mod traffic;
mod words;

pub use collectives::{Collective, CollectiveId, Collectives};
pub use posted::{Op, Open, Own, Peer, Posted, peer};
pub use standing::{Finished, Free, Standing};
pub use threads::{Whose, in_lock, reads_input, whose};
pub use traffic::Traffic;

use std::collections::BTreeMap;

use functions::Way;

use super::job::{CommunicatorId, Job, PartyId, Side};
use super::matching::Matching;
use model::{Call, Process};

/// What must happen before a thread goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// Nothing: it is not blocked, or what it waits for is on its way.
    Nothing,
    /// This party must go on.
    Party(PartyId),
    /// Any member of one group of a communicator must go on; the thread's own party is one and helps nobody.
    AnyOf(CommunicatorId, Side),
    /// The members of a communicator that are not in this collective operation must go on.
    Others(CollectiveId),
    /// Any of these members must.
    AnyOther(CollectiveId),
    /// All of these.
    All(Vec<Need>),
    /// Any one of these.
    Any(Vec<Need>),
    /// All or any of these: it is not known which of them the thread waits for.
    Unclear(Vec<Need>),
    /// This by what was read, of which nothing is certain, for the reason told with it.
    Doubted(Box<Need>, &'static str),
    /// Nobody can bring it about, for the reason told with it.
    Never(&'static str),
    /// It is not known what it waits for.
    Unknown(&'static str),
}

impl Need {
    /// Why nothing is certain of it, or of a part of it.
    pub fn doubt(&self) -> Option<&'static str> {
        match self {
            Self::Doubted(_, why) => Some(why),
            Self::All(needs) | Self::Any(needs) | Self::Unclear(needs) => needs.iter().find_map(Self::doubt),
            _ => None,
        }
    }
}

/// A thread in an MPI function that may wait.
#[derive(Debug)]
pub struct Thread<'a> {
    /// Where it stands.
    pub call: &'a Call,
    /// How its function waits.
    pub way: Way,
    /// What it waits for.
    pub need: Need,
    /// Why what it waits for may be on its way all the same; `None` where nothing is.
    pub in_flight: Option<&'static str>,
    /// The operations that it waits for, as far as they are known.
    pub operations: Vec<Op<'a>>,
    /// The collective operation in which it stands.
    pub collective: Option<CollectiveId>,
}

/// What everybody waits for.
#[derive(Debug)]
pub struct Waits<'a> {
    /// By party.
    pub standing: Vec<Standing<'a>>,
    /// What those wait for who poll, if they do nothing else meanwhile.
    pub polling: BTreeMap<PartyId, Thread<'a>>,
    /// The collective operations in which parties stand.
    pub collectives: Collectives,
    /// What is on its way.
    pub traffic: Traffic,
}

impl<'a> Waits<'a> {
    /// Works out what each thread of each party waits for.
    pub fn new(job: &Job<'a>, matching: &Matching<'a>) -> Self {
        let traffic = Traffic::new(job);
        let mut standing: Vec<Standing<'a>> = job.parties.iter().map(standing::of).collect();
        let open: Vec<Open<'a>> = (job.parties.iter().enumerate())
            .map(|(index, party)| match party.process {
                Some(process) => Open::new(job, PartyId(index), process),
                None => Open::default(),
            })
            .collect();
        let collectives = Collectives::new(job, &standing, &open);
        let inside: Vec<bool> =
            standing.iter().map(|standing| !matches!(standing, Standing::Free(Free::Outside(_)))).collect();
        let mut polling = BTreeMap::new();
        for (index, standing) in standing.iter_mut().enumerate() {
            let Some(process) = job.parties[index].process else { continue };
            let context = Context {
                job,
                matching,
                traffic: &traffic,
                collectives: &collectives,
                inside: &inside,
                party: PartyId(index),
                process,
                open: &open[index],
            };
            match standing {
                Standing::Blocked(threads) => threads.iter_mut().for_each(|thread| context.fill(thread)),
                Standing::Free(Free::Polling(call)) => {
                    let mut thread = standing::thread(call, Way::Poll);
                    context.fill(&mut thread);
                    polling.insert(PartyId(index), thread);
                }
                _ => {}
            }
        }
        Self { standing, polling, collectives, traffic }
    }
}

/// What is known when the need of a thread is worked out.
struct Context<'a, 'b> {
    job: &'b Job<'a>,
    matching: &'b Matching<'a>,
    traffic: &'b Traffic,
    collectives: &'b Collectives,
    /// By party: whether it may be in an MPI call, where the library moves messages.
    inside: &'b [bool],
    party: PartyId,
    process: &'a Process,
    open: &'b Open<'a>,
}

/// What is found out of one need.
#[derive(Debug)]
struct Found<'a> {
    need: Need,
    in_flight: Option<&'static str>,
    operations: Vec<Op<'a>>,
}

impl<'a> Found<'a> {
    fn only(need: Need) -> Self {
        Self { need, in_flight: None, operations: Vec::new() }
    }

    /// Several needs as one.
    fn joined(parts: Vec<Self>, join: impl FnOnce(Vec<Need>) -> Need) -> Self {
        let mut needs = Vec::with_capacity(parts.len());
        let (mut in_flight, mut operations) = (None, Vec::new());
        for part in parts {
            needs.push(part.need);
            in_flight = in_flight.or(part.in_flight);
            operations.extend(part.operations);
        }
        let need = if needs.len() == 1 { needs.swap_remove(0) } else { join(needs) };
        Self { need, in_flight, operations }
    }
}

impl<'a> Context<'a, '_> {
    /// What a loop waits for that calls this function until it finds something.
    fn poll(&self, call: &'a Call) -> Found<'a> {
        match call.c_name().as_str() {
            "MPI_Iprobe" | "MPI_Improbe" => self.probe(call),
            "MPI_Test" | "MPI_Testall" => self.wait(call, true),
            "MPI_Testany" | "MPI_Testsome" => self.wait(call, false),
            "MPI_Win_test" => self.epoch(call),
            _ => Found::only(Need::Unknown("it is not known for what it polls")),
        }
    }

    fn fill(&self, thread: &mut Thread<'a>) {
        let call = thread.call;
        let found = match thread.way {
            Way::Local | Way::Abort => Found::only(Need::Nothing),
            Way::Poll => self.poll(call),
            Way::Receive | Way::MatchedReceive => self.receive(call),
            Way::Send => self.send(call),
            Way::SendReceive => self.exchange(call),
            Way::WaitAll => self.wait(call, true),
            Way::WaitAny => self.wait(call, false),
            Way::Probe => self.probe(call),
            Way::Collective(_, reach) => self.collective(call, reach),
            Way::Epoch => self.epoch(call),
            Way::Init | Way::Finalize => self.lifecycle(call),
            Way::BufferDetach => self.buffered(),
            Way::Connect => Found::only(Need::Unknown("it waits for processes outside this job")),
            Way::Unknown => Found::only(Need::Unknown("it is not known what this function waits for")),
        };
        thread.need = found.need;
        thread.in_flight = found.in_flight;
        thread.operations = found.operations;
        thread.collective = self.collectives.of(self.party, call.thread);
    }
}
