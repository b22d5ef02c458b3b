//! What each thread waits for, by the rules of the standard and by what its library has posted.
//!
//! A need is a formula over processes. Where it is not known which of several things a thread waits for, both readings are kept:
//! under the hopeful one it waits for any of them, under the strict one for all. What is stuck even under the hopeful reading
//! is stuck for certain.

mod collectives;
mod devices;
mod held;
mod intercomm;
mod lifecycle;
mod one_sided;
mod point_to_point;
mod posted;
mod probes;
mod requests;
mod states;
mod threads;
mod traffic;
mod words;

pub use collectives::{Collective, CollectiveId, Collectives, name_of_group};
pub use devices::{DeviceCall, device_call};
pub use held::{ByPid, Held, Never, THREADS, awaited};
pub use intercomm::INTERCOMM_CREATE;
pub use posted::{Op, Open, Own, Peer, Posted, peer};
pub use states::{Finished, Free, ProcState, Standstill};
pub use threads::{Whose, base, in_lock, is_heap, reads_input, waits_for_heap, whose, writes_output};
pub use traffic::Traffic;

use std::collections::BTreeMap;

use hashbrown::HashSet;

use functions::WaitKind;

use super::job::{CommunicatorId, Job, ProcIndex, Side};
use super::matching::Matching;
use super::parallel;
use model::{Call, Process};

/// What must happen before a thread goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// Nothing: it is not blocked, or what it waits for is on its way.
    Nothing,
    /// This process must go on.
    Proc(ProcIndex),
    /// Any member of one group of a communicator must go on; the thread's own process is one and helps nobody.
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
    /// This by what was read, but not for certain, for this reason.
    Doubted(Box<Need>, &'static str),
    /// Nobody can bring it about, for this reason.
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

    /// Whether all that are missing in a collective must enter it, whatever else is needed.
    pub fn needs_all_of(&self, id: CollectiveId) -> bool {
        match self {
            Self::Others(collective) => *collective == id,
            Self::All(needs) => needs.iter().any(|need| need.needs_all_of(id)),
            _ => false,
        }
    }

    /// The same; or unless a member that is there sends what anybody may send.
    pub fn may_need_all_of(&self, id: CollectiveId) -> bool {
        match self {
            Self::Others(collective) => *collective == id,
            Self::All(needs) | Self::Any(needs) => needs.iter().any(|need| need.may_need_all_of(id)),
            _ => false,
        }
    }
}

/// A thread in an MPI function that may wait.
#[derive(Debug)]
pub struct Thread<'a> {
    /// Where it stands.
    pub call: &'a Call,
    /// How its function waits.
    pub wait_kind: WaitKind,
    /// What it waits for.
    pub need: Need,
    /// Why what it waits for may be on its way all the same; `None` where nothing is.
    pub in_flight: Option<&'static str>,
    /// The operations that it waits for, as far as they are known.
    pub operations: Vec<Op<'a>>,
    /// The collective operation in which it stands.
    pub collective: Option<CollectiveId>,
}

impl<'a> Thread<'a> {
    fn fill(&mut self, wait: Wait<'a>, proc: ProcIndex, collectives: &Collectives) {
        self.need = wait.need;
        self.in_flight = wait.in_flight;
        self.operations = wait.operations;
        self.collective = collectives.of_thread(proc, self.call.thread);
    }
}

/// What everybody waits for.
#[derive(Debug)]
pub struct Waits<'a> {
    /// By process.
    pub states: Vec<ProcState<'a>>,
    /// Those outside MPI that can do nothing before others let them go on.
    pub held: BTreeMap<ProcIndex, Held<'a>>,
    /// Whose process ids those have.
    pub by_pid: ByPid<'a>,
    /// What those wait for who poll, if they do nothing else meanwhile.
    pub polling: BTreeMap<ProcIndex, Thread<'a>>,
    /// What those who poll have posted for non-blocking collectives that are numbered.
    pub polled: Vec<Op<'a>>,
    /// The collective operations in which processes stand.
    pub collectives: Collectives,
    /// Those of them in which somebody waits for all that are missing, or for what any of them may send.
    pub unentered: HashSet<CollectiveId>,
    /// What is on its way.
    pub traffic: Traffic,
}

impl<'a> Waits<'a> {
    /// Works out what each thread of each process waits for.
    pub fn new(job: &Job<'a>, matching: &Matching<'a>, traffic: Traffic) -> Self {
        let mut states: Vec<ProcState<'a>> = job.procs.iter().map(states::state_of).collect();
        let open: Vec<Open<'a>> = parallel::map(job.procs.len(), |index| match job.procs[index].process {
            Some(process) => Open::new(job, ProcIndex(index), process),
            None => Open::default(),
        });
        let collectives = Collectives::new(job, &states, &open);
        let inside: Vec<bool> =
            states.iter().map(|state| !matches!(state, ProcState::Free(Free::Outside(_)))).collect();
        let waits = parallel::map(states.len(), |index| {
            let Some(process) = job.procs[index].process else { return Vec::new() };
            let context = Context {
                job,
                matching,
                traffic: &traffic,
                collectives: &collectives,
                inside: &inside,
                proc: ProcIndex(index),
                process,
                open: &open[index],
            };
            match &states[index] {
                ProcState::Blocked(threads) => {
                    let helped = states::has_idle_helper(process);
                    let waits = threads.iter().map(|thread| context.wait_of(thread.call, thread.wait_kind));
                    waits.map(|wait| if helped { wait.doubted(HELPED) } else { wait }).collect()
                }
                ProcState::Free(Free::Polling(call)) => vec![context.wait_of(call, WaitKind::Poll)],
                _ => Vec::new(),
            }
        });
        let (mut polling, mut polled) = (BTreeMap::new(), Vec::new());
        for (index, (state, waits)) in states.iter_mut().zip(waits).enumerate() {
            let proc = ProcIndex(index);
            match state {
                ProcState::Blocked(threads) => {
                    threads.iter_mut().zip(waits).for_each(|(thread, wait)| thread.fill(wait, proc, &collectives));
                }
                ProcState::Free(Free::Polling(call)) => {
                    polled.extend(open[index].numbered());
                    for wait in waits {
                        let mut thread = states::thread(call, WaitKind::Poll);
                        thread.fill(wait, proc, &collectives);
                        polling.insert(proc, thread);
                    }
                }
                _ => {}
            }
        }
        let threads = states.iter().flat_map(|state| match state {
            ProcState::Blocked(threads) => threads.as_slice(),
            _ => &[],
        });
        let unentered = threads.filter_map(|thread| thread.collective.filter(|id| thread.need.may_need_all_of(*id)));
        let unentered = unentered.collect();
        let (held, by_pid) = held::all(job, &states);
        Self { states, held, by_pid, polling, polled, collectives, unentered, traffic }
    }
}

/// What is known when the need of a thread is worked out.
struct Context<'a, 'b> {
    job: &'b Job<'a>,
    matching: &'b Matching<'a>,
    traffic: &'b Traffic,
    collectives: &'b Collectives,
    /// By process: whether it may be in an MPI call, where the library moves messages.
    inside: &'b [bool],
    proc: ProcIndex,
    process: &'a Process,
    open: &'b Open<'a>,
}

/// Why nothing is certain of a process with an idle thread beside those in MPI.
const HELPED: &str = "another thread of the process waits outside MPI, and may call MPI";

/// What a thread or one of its operations waits for.
#[derive(Debug)]
struct Wait<'a> {
    need: Need,
    in_flight: Option<&'static str>,
    operations: Vec<Op<'a>>,
}

impl<'a> Wait<'a> {
    fn only(need: Need) -> Self {
        Self { need, in_flight: None, operations: Vec::new() }
    }

    /// The same, of which nothing is certain for this reason.
    fn doubted(self, why: &'static str) -> Self {
        match self.need {
            Need::Nothing | Need::Unknown(_) => self,
            need => Self { need: Need::Doubted(Box::new(need), why), ..self },
        }
    }

    /// Several needs as one.
    fn joined(parts: Vec<Self>, join: impl FnOnce(Vec<Need>) -> Need) -> Self {
        let mut needs = Vec::with_capacity(parts.len());
        let count = parts.iter().map(|part| part.operations.len()).sum();
        let (mut in_flight, mut operations) = (None, Vec::with_capacity(count));
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
    fn poll(&self, call: &'a Call) -> Wait<'a> {
        let mut wait = self.polled(call);
        // A loop may ask for several things in turn, a non-blocking collective among them.
        let parts: Vec<Need> = self.open.numbered().map(|op| self.operation(op).need).collect();
        if !parts.is_empty() && call.requests.is_empty() {
            wait.need = Need::Any(vec![wait.need, Need::All(parts)]);
        }
        wait
    }

    fn polled(&self, call: &'a Call) -> Wait<'a> {
        match &*call.c_name() {
            "MPI_Iprobe" | "MPI_Improbe" => self.probe(call),
            "MPI_Test" | "MPI_Testall" => self.wait(call, true),
            "MPI_Testany" | "MPI_Testsome" => self.wait(call, false),
            "MPI_Win_test" => self.epoch(call),
            _ => Wait::only(Need::Unknown("what the call polls for is not known")),
        }
    }

    /// What a thread that stands in a call waits for.
    fn wait_of(&self, call: &'a Call, wait_kind: WaitKind) -> Wait<'a> {
        match wait_kind {
            WaitKind::Local | WaitKind::Abort => Wait::only(Need::Nothing),
            WaitKind::Poll => self.poll(call),
            WaitKind::Receive | WaitKind::MatchedReceive => self.receive(call),
            WaitKind::Send => self.send(call),
            WaitKind::SendReceive => self.exchange(call),
            WaitKind::WaitAll => self.wait(call, true),
            WaitKind::WaitAny => self.wait(call, false),
            WaitKind::Probe => self.probe(call),
            WaitKind::Collective(_, reach) => self.collective(call, reach),
            WaitKind::Epoch => self.epoch(call),
            WaitKind::OneSided => self.access(call),
            WaitKind::Init | WaitKind::Finalize => self.lifecycle(call),
            WaitKind::BufferDetach => self.buffered(),
            WaitKind::Connect => Wait::only(Need::Unknown("the call waits for processes outside this job")),
            WaitKind::Unknown => Wait::only(Need::Unknown("what this function waits for is not known")),
        }
    }
}
