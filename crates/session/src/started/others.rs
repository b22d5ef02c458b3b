//! Calls in the source that started no request that is open: who sends, which collectives were started before, what comes later.

use functions::{WaitKind, wait_kind};
use model::{EarlierCollective, Process, Sender, SourceCall, Text};

use super::candidates::given;

/// Takes them out of the calls that were found, and tells what follows from them.
pub(super) fn take(process: &mut Process) {
    let calls = std::mem::take(&mut process.source_calls);
    let (earlier, calls): (Vec<_>, Vec<_>) = calls.into_iter().partition(|call| call.way.is_some());
    let (later, calls): (Vec<_>, Vec<_>) = calls.into_iter().partition(|call| call.later);
    let (sent, calls): (Vec<_>, Vec<_>) = calls.into_iter().partition(|call| call.sent);
    let (sends, later): (Vec<_>, Vec<_>) = later.into_iter().partition(|call| call.sent);
    process.senders = senders(sent).into();
    process.earlier_collectives = earlier_collectives(earlier).into();
    process.later_sends = senders(sends).into();
    process.later_collectives = later_collectives(later).map(|found| found.into_iter().map(Text::from).collect());
    process.source_calls = calls.into();
}

fn senders(calls: Vec<SourceCall>) -> Vec<Sender> {
    let sender = |call: SourceCall| {
        let value = |names: &[&str]| given(&call, names).and_then(|argument| argument.value);
        let (dest, tag) = (value(&["dest"]), value(&["sendtag", "tag"]));
        let SourceCall { function, file, line, caller, communicator, elsewhere, .. } = call;
        Sender {
            function: function.into(),
            file: file.map(Into::into),
            line,
            caller: caller.map(Into::into),
            dest,
            tag,
            communicator,
            elsewhere,
        }
    };
    calls.into_iter().map(sender).collect()
}

/// Of several threads it is not known in which order they called.
fn earlier_collectives(calls: Vec<SourceCall>) -> Vec<EarlierCollective> {
    let thread = calls.first().map(|call| call.thread);
    if calls.iter().any(|call| Some(call.thread) != thread) {
        return Vec::new();
    }
    let one = |call: SourceCall| {
        let root = given(&call, &["root"]).and_then(|one| one.value);
        let SourceCall { function, file, line, caller, communicator, way, first, .. } = call;
        EarlierCollective { way: way.unwrap_or_default(), first, function, file, line, caller, communicator, root }
    };
    calls.into_iter().map(one).collect()
}

/// Known where the source was followed to the end of the program, of one thread.
fn later_collectives(calls: Vec<SourceCall>) -> Option<Vec<String>> {
    let thread = calls.first()?.thread;
    let whole = calls.iter().all(|call| call.thread == thread);
    let mut functions: Vec<String> = calls.into_iter().map(|call| call.function).collect();
    functions.sort_unstable();
    functions.dedup();
    let ends = |function: &String| wait_kind(function) == WaitKind::Finalize;
    (whole && functions.iter().any(ends)).then_some(functions)
}
