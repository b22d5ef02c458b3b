//! What the flight recorder keeps, and what it says of requests.

use std::collections::HashMap;

use model::{
    Common, Given, HandleWord, History, Operation, Process, QueueKind, RecordedRequest, RequestState, Stack, StartedBy,
    StartedHow, Text,
};
use target::Target;

use super::{Session, recorded};

/// So many operations that are told otherwise are named.
const TOLD: usize = 4;

impl<T: Target> Session<T> {
    /// Adds what the flight recorder keeps, where the process runs with it: of what its calls were given, and of operations
    /// where its queues are not known.
    pub fn add_history(&self, process: &mut Process, stacks: &[Stack]) {
        let _request = self.target.budget().request();
        let named = process.communicators.iter().filter_map(|one| Some((one.handle?, one.name.clone())));
        let names: HashMap<HandleWord, Text> = named.collect();
        match self.record_of(&names) {
            Ok(None) => {}
            Ok(Some(record)) => {
                recorded::fill(process, &record);
                recorded::tell_calls(process, stacks, &record);
                process.history = Some(record.history.into());
            }
            Err(error) => process.problems.push(error.to_string()),
        }
    }
}

/// Says of requests by which call they were started, where the recorder has seen it: whatever was concluded before.
pub(super) fn tell(process: &mut Process) {
    let Some(history) = process.history.take() else { return };
    let recorded: HashMap<u64, &RecordedRequest> =
        history.requests.iter().map(|request| (request.request.0, request)).collect();
    if !recorded.is_empty() {
        let mut otherwise = Vec::new();
        for communicator in &mut process.communicators {
            for kind in [QueueKind::PendingSends, QueueKind::PendingReceives] {
                for operation in &mut kind.of_mut(communicator).operations {
                    tell_operation(operation, &recorded, &mut otherwise);
                }
            }
            for operation in &mut communicator.inactive {
                tell_operation(operation, &recorded, &mut otherwise);
            }
        }
        for request in process.calls.iter_mut().flat_map(|call| &mut call.requests) {
            let is_one = !matches!(request.state, RequestState::Null | RequestState::Freed | RequestState::Invalid);
            let known = request.handle.filter(|_| is_one).and_then(|handle| recorded.get(&handle.0));
            if let Some(known) = known {
                request.started_by = started_by(known, &request.started_by);
            }
        }
        let more = otherwise.len().saturating_sub(TOLD);
        process.problems.extend(otherwise.into_iter().take(TOLD));
        if more > 0 {
            process.problems.push(format!("the flight recorder and the queues differ in {more} more requests"));
        }
    }
    tell_lost(process, &history);
    process.history = Some(history);
}

fn tell_operation(operation: &mut Operation, recorded: &HashMap<u64, &RecordedRequest>, otherwise: &mut Vec<String>) {
    let Some(known) = operation.request.and_then(|request| recorded.get(&request)) else { return };
    let given = &known.given;
    let differs =
        |one: Option<i64>, other: Option<i64>| matches!((one, other), (Some(one), Some(other)) if one != other);
    if differs(operation.desired_local_rank, given.peer) || differs(operation.desired_tag, given.tag) {
        let number = |number: Option<i64>| number.map_or_else(|| "any".to_owned(), |number| number.to_string());
        otherwise.push(format!(
            "request {}: the queues say rank {} and tag {}, the flight recorder saw {} with rank {} and tag {}",
            known.request,
            number(operation.desired_local_rank),
            number(operation.desired_tag),
            known.function,
            number(given.peer),
            number(given.tag),
        ));
        return;
    }
    operation.started_by = started_by(known, &operation.started_by);
}

/// Of a persistent request: where it was made, as what the source tells is. `concluded`: what the source said, which may also
/// know what the request is called there.
fn started_by(known: &RecordedRequest, concluded: &[StartedBy]) -> Common<Vec<StartedBy>> {
    let Given { file, line, caller, .. } = &known.given;
    let same = concluded.iter().find(|one| line.is_some() && one.line == *line && one.function == *known.function);
    vec![StartedBy {
        function: known.function.to_string(),
        file: file.as_ref().map(ToString::to_string),
        line: *line,
        caller: caller.as_ref().map(ToString::to_string),
        request: same.and_then(|one| one.request.clone()),
        root: same.and_then(|one| one.root),
        certain: true,
        how: StartedHow::Recorder,
    }]
    .into()
}

fn tell_lost(process: &mut Process, history: &History) {
    if history.bypassed {
        process.notes.push(
            "the flight recorder is loaded but sees no calls: the program, or a library before it, contains MPI's \
             functions"
                .to_owned(),
        );
    }
    let lost = [
        (history.lost_calls, "calls of further threads"),
        (history.lost_requests, "requests"),
        (history.lost_communicators, "communicators"),
    ];
    for (number, what) in lost.into_iter().filter(|(number, _)| *number > 0) {
        process.notes.push(format!("{number} {what} did not fit into the flight recorder"));
    }
}
