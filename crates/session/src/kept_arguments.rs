//! What calls of Python gave MPI, by what the library keeps of the operation that each made: their arguments are values of the
//! interpreter's, of which neither source nor debug information tells.

use functions::Function;
use model::{Argument, Call, Communicator, FrameLanguage, Operation, OperationStatus, Process, Queue, Stack};

/// `Argument.origin` of these.
const ORIGIN: &str = "queue";

/// Fills in peer, tag and communicator of calls that Python code made and of which nothing else tells them: where one operation
/// is the call's for sure.
pub fn tell(process: &mut Process, stacks: &[Stack]) {
    let mut calls = std::mem::take(&mut process.calls);
    for call in &mut calls {
        let stack = stacks.iter().find(|stack| stack.thread == call.thread);
        if call.arguments.is_empty() && stack.is_some_and(is_of_python) {
            fill(call, &process.communicators);
        }
    }
    process.calls = calls;
}

/// Whether the application's innermost code is Python's.
fn is_of_python(stack: &Stack) -> bool {
    let own = stack.frames.iter().find(|frame| frame.application == Some(true));
    own.is_some_and(|frame| frame.language == Some(FrameLanguage::Python))
}

fn fill(call: &mut Call, communicators: &[Communicator]) {
    let name = call.c_name();
    let Some(function) = functions::find(&name) else { return };
    let mut told = Vec::new();
    let mut on = None;
    if function.sends()
        && let Some((communicator, send)) = only(communicators, |one| &one.pending_sends, &name)
    {
        told.push(peer("dest", send));
        told.extend(tag(&function, &["sendtag", "tag"], send));
        on = Some(communicator);
    }
    if function.receives()
        && let Some((communicator, receive)) = only(communicators, |one| &one.pending_receives, &name)
    {
        // Both sides of MPI_Sendrecv are on one communicator.
        if on.is_some_and(|on| on != communicator) {
            return;
        }
        told.push(peer("source", receive));
        told.extend(tag(&function, &["recvtag", "tag"], receive));
        on = Some(communicator);
    }
    let told: Vec<Argument> = told.into_iter().filter(|one| one.value.is_some() || one.meaning.is_some()).collect();
    if let Some(on) = on.filter(|_| !told.is_empty()) {
        call.communicator = call.communicator.or(Some(on));
        call.arguments = told;
        call.arguments_unknown = None;
    }
}

/// The only operation of a kind that a blocking call may have made, with the number of its communicator.
fn only<'a>(
    communicators: &'a [Communicator],
    queue: fn(&Communicator) -> &Queue,
    name: &str,
) -> Option<(u64, &'a Operation)> {
    if !communicators.iter().all(|one| queue(one).is_whole()) {
        return None;
    }
    let all = communicators.iter().flat_map(|one| queue(one).operations.iter().map(|found| (one.unique_id, found)));
    let own = |found: &Operation| found.call.as_deref().is_none_or(|call| call == name);
    let mut open = all.filter(|(_, found)| {
        !found.internal && !found.persistent && found.status != OperationStatus::Complete && own(found)
    });
    let first = open.next().filter(|(_, found)| found.call.as_deref() == Some(name))?;
    open.next().is_none().then_some(first)
}

fn peer(name: &str, operation: &Operation) -> Argument {
    let meaning = operation.any_source.then(|| "MPI_ANY_SOURCE".to_owned());
    let value = operation.desired_local_rank.filter(|_| !operation.any_source);
    argument(name, value, meaning)
}

fn tag(function: &Function, names: &[&str], operation: &Operation) -> Option<Argument> {
    let name = names.iter().find(|name| function.parameter(name).is_some())?;
    let meaning = operation.tag_wild.then(|| "MPI_ANY_TAG".to_owned());
    Some(argument(name, operation.desired_tag.filter(|_| !operation.tag_wild), meaning))
}

fn argument(name: &str, value: Option<i64>, meaning: Option<String>) -> Argument {
    Argument {
        name: name.into(),
        value,
        meaning: meaning.map(Into::into),
        origin: Some(ORIGIN.into()),
        ..Argument::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::Frame;

    fn python() -> Stack {
        let compiled = Frame { function: Some("MPI_Recv".to_owned()), ..Frame::default() };
        let own = Frame {
            function: Some("solve".to_owned()),
            application: Some(true),
            language: Some(FrameLanguage::Python),
            ..Frame::default()
        };
        Stack { thread: 1, complete: true, frames: vec![compiled, own], ..Stack::default() }
    }

    fn receive(call: Option<&'static str>, tag: i64) -> Operation {
        Operation {
            call: call.map(Into::into),
            desired_local_rank: Some(1),
            desired_tag: Some(tag),
            ..Operation::default()
        }
    }

    fn told(receives: Vec<Operation>, stack: &Stack, function: &str) -> (Vec<(String, Option<i64>)>, Option<u64>) {
        let queue = Queue { operations: receives, ..Queue::default() };
        let communicator = Communicator { unique_id: 3, pending_receives: queue.into(), ..Communicator::default() };
        let call = Call { thread: 1, function: function.into(), ..Call::default() };
        let mut process =
            Process { calls: vec![call].into(), communicators: vec![communicator].into(), ..Process::default() };
        tell(&mut process, std::slice::from_ref(stack));
        let call = process.calls.remove(0);
        (call.arguments.into_iter().map(|one| (one.name.to_string(), one.value)).collect(), call.communicator)
    }

    #[test]
    fn one_receive_tells_what_the_call_was_given() {
        let known = vec![("source".to_owned(), Some(1)), ("tag".to_owned(), Some(7))];
        assert_eq!(told(vec![receive(Some("MPI_Recv"), 7)], &python(), "MPI_Recv"), (known.clone(), Some(3)));
        // One that another call made takes nothing away.
        let others = vec![receive(Some("MPI_Irecv"), 8), receive(Some("MPI_Recv"), 7)];
        assert_eq!(told(others, &python(), "MPI_Recv"), (known, Some(3)));
        let wild = Operation { any_source: true, tag_wild: true, ..receive(Some("MPI_Recv"), 7) };
        let (arguments, _) = told(vec![wild], &python(), "MPI_Recv");
        assert_eq!(arguments, [("source".to_owned(), None), ("tag".to_owned(), None)]);
    }

    #[test]
    fn what_may_be_of_another_call_tells_nothing() {
        let own = || receive(Some("MPI_Recv"), 7);
        for others in [vec![own(), receive(None, 8)], vec![own(), own()], vec![receive(None, 7)], Vec::new()] {
            assert_eq!(told(others, &python(), "MPI_Recv"), (Vec::new(), None));
        }
        assert_eq!(told(vec![own()], &python(), "MPI_Barrier").0, []);
        let compiled = Frame { application: Some(true), ..Frame::default() };
        let other = Stack { thread: 1, frames: vec![compiled], ..Stack::default() };
        assert_eq!(told(vec![own()], &other, "MPI_Recv").0, []);
    }
}
