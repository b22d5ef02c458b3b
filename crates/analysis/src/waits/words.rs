//! What a thread waits for, in words.

use std::borrow::Cow;

use super::posted::{Op, Posted};
use super::{CollectiveId, Need, Thread, Waits, requests};
use crate::job::{Job, ProcIndex};
use crate::words;
use functions::WaitKind;
use model::{Remark, RequestState};

/// How many operations are shown of one thread.
const SHOWN: usize = 3;

impl Waits<'_> {
    /// What a thread of a process waits for: `rank 1 to send tag 17 on "halo"`. `None` where that is not known.
    pub fn words(&self, job: &Job<'_>, proc: ProcIndex, thread: &Thread<'_>) -> Option<String> {
        if let Some(id) = thread.collective.filter(|id| self.unentered.contains(id)) {
            return self.entering(job, id);
        }
        let freed = thread.call.requests.iter().filter(|one| one.state == RequestState::Freed).count();
        if freed > 0 && thread.need.doubt() == Some(requests::REUSED) {
            return Some(if freed == 1 { "a request that was freed" } else { "requests that were freed" }.to_owned());
        }
        if !thread.operations.is_empty() {
            return Some(self.of_operations(job, proc, thread));
        }
        if thread.wait_kind.is_one_sided() {
            let mut named = Vec::new();
            procs(&thread.need, &mut named);
            // At least one of these has not completed: which, nobody keeps.
            let some = if named.len() > 1 && is_unclear(&thread.need) { "some of " } else { "" };
            let does = match &*thread.call.c_name() {
                "MPI_Win_wait" if named.len() > 1 => "complete their accesses to the window",
                "MPI_Win_wait" => "complete its access to the window",
                "MPI_Win_start" | "MPI_Win_complete" => "post the window",
                "MPI_Win_lock" | "MPI_Win_lock_all" if !matches!(thread.need, Need::Unclear(_)) => "unlock the window",
                _ => "call MPI",
            };
            return (!named.is_empty()).then(|| format!("{some}{} to {does}", words::procs(job, &named)));
        }
        self.entering(job, thread.collective?)
    }

    /// Those that are missing in a collective, and that they are to enter it.
    fn entering(&self, job: &Job<'_>, id: CollectiveId) -> Option<String> {
        let collective = self.collectives.get(id);
        if collective.missing.is_empty() {
            return None;
        }
        let missing = words::procs(job, &collective.missing);
        let object = |id| format!(" on {}", words::object_of(job, id, &collective.function));
        let on = collective.communicator.map_or_else(String::new, object);
        let name = collective.group.as_ref().map_or_else(String::new, |group| format!(" with {}", group.name));
        Some(format!("{missing} to enter {}{on}{name}", collective.function))
    }

    /// Who is to do what for the operations of a thread: `ranks 1 and 2 to send tag 17 on "halo"`.
    fn of_operations(&self, job: &Job<'_>, proc: ProcIndex, thread: &Thread<'_>) -> String {
        // Which of them it is given is not always known.
        let any = thread.wait_kind == WaitKind::WaitAny || is_unclear(&thread.need);
        let mut clauses: Vec<(Vec<i64>, String, String)> = Vec::new();
        for op in &thread.operations {
            let does = if self.is_inside(job, thread, op) {
                format!(", also in {}{}", function(thread, op), on(job, proc, op))
            } else {
                format!(" to {}", Self::does(job, proc, thread, op))
            };
            let rank = op.global_rank().filter(|_| !is_any(op));
            let same = clauses.iter().position(|(ranks, who, known)| {
                let alike = if rank.is_some() { !any && !ranks.is_empty() } else { *who == peer(op) };
                *known == does && alike
            });
            match same {
                Some(place) => clauses[place].0.extend(rank),
                None if clauses.len() == SHOWN => {
                    clauses.push((Vec::new(), "others".to_owned(), String::new()));
                    break;
                }
                None => clauses.push((rank.into_iter().collect(), peer(op), does)),
            }
        }
        let parts = clauses.into_iter().map(|(ranks, who, does)| {
            let who = if ranks.is_empty() { who } else { words::ranks(ranks) };
            format!("{who}{does}")
        });
        words::list(&parts.collect::<Vec<_>>(), if any { "or" } else { "and" })
    }

    /// What the peer of an operation that a thread waits for is to do: `send tag 17 on "halo"`.
    pub fn does(job: &Job<'_>, proc: ProcIndex, thread: &Thread<'_>, op: &Op<'_>) -> String {
        let on = on(job, proc, op);
        if op.operation.internal {
            return format!("take part in {}{on}", function(thread, op));
        }
        let verb = if op.queue == Posted::Receives { "send" } else { "receive" };
        format!("{verb} {}{on}", words::tag(op.operation))
    }

    /// Whether the peer of an operation by which a library carries out a collective is in that collective, too.
    fn is_inside(&self, job: &Job<'_>, thread: &Thread<'_>, op: &Op<'_>) -> bool {
        let Some((id, peer)) = thread.collective.zip(op.global_rank()) else { return false };
        let is_present = |peer| self.collectives.get(id).present.binary_search(&peer).is_ok();
        op.operation.internal && !is_any(op) && job.proc(peer).is_some_and(is_present)
    }
}

/// The communicator of an operation, after what is done on it.
fn on(job: &Job<'_>, proc: ProcIndex, op: &Op<'_>) -> String {
    let process = job.procs.get(proc.0).and_then(|proc| proc.process);
    let communicator = process.and_then(|process| process.communicators.get(op.place));
    communicator.map_or_else(String::new, |communicator| format!(" on {}", words::communicator(communicator)))
}

/// The collective operation that a library carries out by an operation: nobody has called what its algorithm is made of.
fn function<'a>(thread: &'a Thread<'_>, op: &'a Op<'_>) -> Cow<'a, str> {
    if let WaitKind::Collective(..) = thread.wait_kind {
        return thread.call.c_name();
    }
    let within = op.operation.extra_text.iter().find_map(|remark| match remark {
        Remark::Collective(Some((function, _))) => Some(&**function),
        _ => None,
    });
    within.unwrap_or("a non-blocking collective").into()
}

/// Whether any rank may be the peer of an operation.
fn is_any(op: &Op<'_>) -> bool {
    op.operation.any_source && op.queue == Posted::Receives
}

fn is_unclear(need: &Need) -> bool {
    match need {
        Need::Doubted(need, _) => is_unclear(need),
        other => matches!(other, Need::Unclear(_)),
    }
}

/// The processes that a need names.
fn procs(need: &Need, named: &mut Vec<ProcIndex>) {
    match need {
        Need::Proc(proc) => named.push(*proc),
        Need::All(needs) | Need::Any(needs) | Need::Unclear(needs) => {
            needs.iter().for_each(|need| procs(need, named));
        }
        Need::Doubted(need, _) => procs(need, named),
        _ => {}
    }
}

/// The peer of an operation: `rank 1`.
fn peer(op: &Op<'_>) -> String {
    let operation = op.operation;
    let global = op.global_rank();
    let local = operation.actual_local_rank.or(operation.desired_local_rank);
    match (is_any(op), global, local) {
        (true, _, _) => "any rank".to_owned(),
        (false, Some(rank), _) => format!("rank {rank}"),
        (false, None, Some(rank)) => format!("rank {rank} of the communicator"),
        (false, None, None) => "a rank that is not known".to_owned(),
    }
}
