//! Probes that no queue has: MPICH polls for a message and posts nothing, as loops around MPI_Iprobe do, so only the call's
//! arguments tell what is looked for.

use super::Context;
use crate::job::ProcIndex;
use crate::matching::{Entry, OperationPlace, Outcome, peer};
use model::{Call, Operation, Process, QueueKind};

const PROBES: [&str; 4] = ["MPI_Probe", "MPI_Mprobe", "MPI_Iprobe", "MPI_Improbe"];

/// A probe as the receive that Open MPI would show.
pub(super) struct Probe {
    proc: ProcIndex,
    place: usize,
    operation: Operation,
    /// Whether it is certain that its process can never go on.
    pub(super) stuck: bool,
}

/// The probes in which processes are stuck.
pub(super) fn all(context: &Context<'_, '_>) -> Vec<Probe> {
    let mut probes = Vec::new();
    for (index, proc) in context.job.procs.iter().enumerate() {
        let Some(process) = proc.process else { continue };
        let Some(stuck) = context.is_out(ProcIndex(index)).filter(|_| !process.calls.is_empty()) else { continue };
        for call in &process.calls {
            let c_name = call.c_name();
            if !PROBES.contains(&&*c_name) || has_posted(process, &c_name) {
                continue;
            }
            let place = call.communicator.and_then(|id| context.job.by_unique_id(index, id)).map(|(_, place)| place);
            if let (Some(place), Some(operation)) = (place, operation(call)) {
                probes.push(Probe { proc: ProcIndex(index), place, operation, stuck });
            }
        }
    }
    probes
}

fn has_posted(process: &Process, c_name: &str) -> bool {
    let mut receives = process.communicators.iter().flat_map(|communicator| &communicator.pending_receives.operations);
    receives.any(|operation| operation.call.as_deref() == Some(c_name))
}

/// What it looks for; `None` where the arguments do not say.
fn operation(call: &Call) -> Option<Operation> {
    let given = |name: &str, any: &str| {
        let argument = call.argument(name)?;
        match argument.meaning.as_deref() {
            Some(meaning) if meaning == any => Some(None),
            Some(_) => None,
            None => argument.value.filter(|value| *value >= 0).map(Some),
        }
    };
    let (source, tag) = (given("source", "MPI_ANY_SOURCE")?, given("tag", "MPI_ANY_TAG")?);
    Some(Operation {
        desired_local_rank: source,
        any_source: source.is_none(),
        desired_tag: tag,
        tag_wild: tag.is_none(),
        ..Operation::default()
    })
}

impl Probe {
    /// As an operation among the others.
    pub(super) fn entry(&self, context: &Context<'_, '_>) -> Option<Entry<'_>> {
        let communicator = context.job.communicator(self.proc.0, self.place)?;
        let shared = context.job.communicators.get(communicator.0)?;
        let view = shared.view(self.proc)?;
        Some(Entry {
            // In no queue: behind all that are.
            place: OperationPlace {
                proc: self.proc,
                communicator: self.place,
                queue: QueueKind::PendingReceives,
                index: usize::MAX,
            },
            communicator,
            side: view.side,
            operation: &self.operation,
            peer: peer(context.job, shared, view, &self.operation),
            probe: true,
            outcome: Outcome::Unmatched,
            same: None,
        })
    }
}
