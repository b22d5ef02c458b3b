//! What a thread waits for, in words.

use super::posted::{Op, Posted};
use super::{CollectiveId, Need, Thread, Waits, requests};
use crate::job::{Job, ProcIndex};
use crate::words;
use functions::WaitKind;
use model::{Remark, RequestState};

/// How many operations are told of one thread.
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
            let mut told: Vec<String> = Vec::new();
            for op in &thread.operations {
                let one = format!("{} to {}", peer(op), self.does(job, proc, thread, op));
                if !told.contains(&one) {
                    told.push(one);
                }
                if told.len() > SHOWN {
                    told.pop();
                    told.push("others".to_owned());
                    break;
                }
            }
            // Which of them it is given is not always known.
            let any = thread.wait_kind == WaitKind::WaitAny || is_unclear(&thread.need);
            return Some(words::list(&told, if any { "or" } else { "and" }));
        }
        if thread.wait_kind.is_one_sided() {
            let mut named = Vec::new();
            procs(&thread.need, &mut named);
            let does = match &*thread.call.c_name() {
                "MPI_Win_wait" => "complete its access to the window",
                "MPI_Win_start" | "MPI_Win_complete" => "post the window",
                "MPI_Win_lock" | "MPI_Win_lock_all" if !matches!(thread.need, Need::Unclear(_)) => "unlock the window",
                _ => "call MPI",
            };
            return (!named.is_empty()).then(|| format!("{} to {does}", words::procs(job, &named)));
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

    /// What the peer of an operation that a thread waits for is to do: `send tag 17 on "halo"`.
    pub fn does(&self, job: &Job<'_>, proc: ProcIndex, thread: &Thread<'_>, op: &Op<'_>) -> String {
        let operation = op.operation;
        let process = job.procs.get(proc.0).and_then(|proc| proc.process);
        let communicator = process.and_then(|process| process.communicators.get(op.place));
        let on = communicator.map_or_else(String::new, |found| format!(" on {}", words::communicator(found)));
        let verb = if op.queue == Posted::Receives { "send" } else { "receive" };
        if operation.internal {
            let within = operation.extra_text.iter().find_map(|remark| match remark {
                Remark::Collective(Some((function, _))) => Some(function),
                _ => None,
            });
            let function = match (within, thread.wait_kind) {
                (Some(name), _) => name.clone().into_owned(),
                (None, WaitKind::Collective(..)) => thread.call.c_name().into_owned(),
                (None, _) => "a non-blocking collective".to_owned(),
            };
            return format!("{verb} its part of {function}{on}");
        }
        format!("{verb} {}{on}", words::tag(operation))
    }
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
    match (operation.any_source && op.queue == Posted::Receives, global, local) {
        (true, _, _) => "any rank".to_owned(),
        (false, Some(rank), _) => format!("rank {rank}"),
        (false, None, Some(rank)) => format!("rank {rank} of the communicator"),
        (false, None, None) => "a rank that is not known".to_owned(),
    }
}
