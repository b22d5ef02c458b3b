//! Ranks for which others wait, and which are at work, or stand outside MPI in something that may never end.

use hashbrown::HashSet;
use std::collections::{BTreeMap, VecDeque};

use super::Context;
use super::deadlock::capital;
use super::exceptions;
use super::held;
use super::other_tag;
use crate::advice::{self, Change, Outside as Doing};
use crate::awaited::shared_memory;
use crate::graph::NodeId;
use crate::job::ProcIndex;
use crate::matching::Entry;
use crate::stuck::{Seen, Stuck};
use crate::waits::{
    DeviceCall, Free, Need, ProcState, Standstill, Thread, awaited, base, device_call, in_lock, reads_input,
    waits_for_heap, writes_output,
};
use crate::words;
use functions::wait_kind;
use model::{
    AwaitedKind, Call, Exception, ExceptionState, Finding, FindingKind, OperationStatus, Outside, Process,
    RankException, Text,
};

/// How many places at which slow ranks stand have a finding each.
const SHOWN: usize = 16;

/// What holds a rank up, and where; findings come in this order.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Delay {
    Stopped(Standstill),
    /// In the handler of a signal, and what it waits for there.
    Handler(Box<Exception>, InHandler),
    Lock(Spot),
    /// Waits for what another process or thread has, in words.
    Awaits(String, Doing, Spot),
    Input(Spot),
    /// Writes to a file of this number, which takes no more.
    Output(i64, Spot),
    /// In a call of a GPU's library.
    Device(DeviceCall, String, Spot),
    Work(Spot),
    NotStarted(Spot),
    Call(String, Spot),
    /// Goes in and out of one-sided calls.
    Accesses(String, Spot),
}

impl Delay {
    /// Whether it is one outside MPI, of a rank that may have messages to receive.
    fn is_outside(&self) -> bool {
        !matches!(self, Self::NotStarted(_) | Self::Call(..) | Self::Accesses(..))
    }
}

/// What a thread does in the handler of a signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum InHandler {
    WaitsForHeap,
    WaitsForThread,
    Runs,
}

/// Innermost function, the application's function, its file and line.
type Spot = (Option<String>, Option<String>, Option<String>, Option<i64>);

/// One finding for each place at which ranks stand for which others wait.
pub fn find(context: &Context<'_>) -> Vec<Finding> {
    let delays = by_delay(context, |proc| !context.polling.is_stuck(proc));
    if delays.is_empty() {
        return Vec::new();
    }
    let waiters = Waiters::new(context.possible);
    let mut findings = Vec::new();
    for (delay, mut procs) in delays.into_iter().take(4 * SHOWN) {
        if findings.len() == SHOWN {
            break;
        }
        let waiting = waiters.not_stuck(context, &procs);
        if waiting.is_empty() {
            continue;
        }
        // Of a few at one place those for whom somebody waits.
        if procs.len() > 1 && procs.len() <= SHOWN {
            procs.retain(|proc| !waiters.not_stuck(context, &[*proc]).is_empty());
        }
        findings.push(finding(context, &delay, &procs, &waiting));
    }
    findings
}

/// Ranks that may go on, by what holds them up.
fn by_delay(context: &Context<'_>, wanted: impl Fn(ProcIndex) -> bool) -> BTreeMap<Delay, Vec<ProcIndex>> {
    let mut delays: BTreeMap<Delay, Vec<ProcIndex>> = BTreeMap::new();
    for (index, state) in context.waits.states.iter().enumerate() {
        let proc = ProcIndex(index);
        // The finding is about whoever has what it waits for.
        if context.waits.held.contains_key(&proc) {
            continue;
        }
        let delay = match state {
            ProcState::Free(free) => {
                let signal = handler(context, proc, free);
                let awaits = || awaits(context, proc, free);
                signal.or_else(awaits).or_else(|| delay_of(free, is_before_init(context, proc)))
            }
            ProcState::Blocked(threads) => accesses(threads, context.seen.get(index).copied().unwrap_or_default()),
            _ => None,
        };
        if let Some(delay) = delay.filter(|_| wanted(proc)) {
            delays.entry(delay).or_default().push(proc);
        }
    }
    delays
}

/// What ranks do that may go on, and for which some of those wait that never can: `rank 0 is outside MPI in solve`.
/// The first place alone, in words; `None` where nobody waits for such a rank.
pub fn besides(context: &Context<'_>) -> Option<String> {
    let waiters = [context.sure, context.possible].map(Waiters::new);
    let waits = |procs: &[ProcIndex]| {
        let mut waiting = waiters.iter().flat_map(|waiters| waiters.all(procs));
        waiting.any(|proc| context.perhaps_stuck(proc))
    };
    let delays = by_delay(context, |proc| !context.perhaps_stuck(proc));
    let (delay, procs) = delays.into_iter().take(4 * SHOWN).find(|(_, procs)| waits(procs))?;
    Some(format!("{} {}", words::procs(context.job, &procs), does(&delay, procs.len()).0))
}

fn is_before_init(context: &Context<'_>, proc: ProcIndex) -> bool {
    context.process(proc).is_some_and(Process::is_before_init)
}

fn spot(thread: &Outside) -> Spot {
    (thread.function.clone(), thread.caller.clone(), thread.file.clone(), thread.line)
}

/// That of a rank outside MPI whose thread is in the handler of a signal.
fn handler(context: &Context<'_>, proc: ProcIndex, free: &Free<'_>) -> Option<Delay> {
    let Free::Outside(thread) = free else { return None };
    let is_its =
        |one: &&Exception| one.state == ExceptionState::Signal && one.thread.is_none_or(|own| own == thread.thread);
    let exception = context.process(proc)?.exceptions.iter().find(is_its)?;
    let exception = Exception { thread: None, ..exception.clone() };
    let does = if waits_for_heap(thread) {
        InHandler::WaitsForHeap
    } else if in_lock(thread) {
        InHandler::WaitsForThread
    } else {
        InHandler::Runs
    };
    Some(Delay::Handler(Box::new(exception), does))
}

/// That of a rank outside MPI of which it is known what it waits for.
fn awaits(context: &Context<'_>, proc: ProcIndex, free: &Free<'_>) -> Option<Delay> {
    let Free::Outside(thread) = free else { return None };
    let awaited = awaited(thread)?;
    let doing = match awaited.kind {
        AwaitedKind::Reader => Doing::Output,
        AwaitedKind::Writer => Doing::Input,
        AwaitedKind::Opener => Doing::Opening,
        _ => Doing::Held,
    };
    Some(Delay::Awaits(held::awaited(context, proc, awaited), doing, spot(thread)))
}

fn delay_of(free: &Free<'_>, is_before_init: bool) -> Option<Delay> {
    match free {
        Free::Stopped(by) => Some(Delay::Stopped(*by)),
        Free::NotStarted => Some(Delay::NotStarted((None, None, None, None))),
        Free::Outside(thread) => Some(outside(thread, is_before_init)),
        Free::Polling(call) | Free::Local(call) => Some(Delay::Call(call.c_name().into_owned(), spot_of(call))),
        Free::Unknown | Free::NotRead => None,
    }
}

fn outside(thread: &Outside, is_before_init: bool) -> Delay {
    let spot = spot(thread);
    // A library of GPUs may wait by a lock of its own.
    if let Some((does, name)) = device_call(thread) {
        return Delay::Device(does, name.to_owned(), spot);
    }
    match writes_output(thread) {
        _ if in_lock(thread) => Delay::Lock(spot),
        _ if reads_input(thread) => Delay::Input(spot),
        Some(file) => Delay::Output(file, spot),
        None if is_before_init => Delay::NotStarted(spot),
        None => Delay::Work(spot),
    }
}

/// That of a rank in a one-sided call that ends by itself. Where two looks find it there it calls it again and again: it may look
/// for what another one writes.
fn accesses(threads: &[Thread<'_>], seen: Seen) -> Option<Delay> {
    let [thread] = threads else { return None };
    if !thread.wait_kind.is_one_sided() || thread.need != Need::Nothing && seen != Seen::Moved {
        return None;
    }
    let (function, spot) = (thread.call.c_name().into_owned(), spot_of(thread.call));
    Some(if seen == Seen::Once { Delay::Call(function, spot) } else { Delay::Accesses(function, spot) })
}

fn spot_of(call: &Call) -> Spot {
    let text = |text: &Option<Text>| text.as_ref().map(ToString::to_string);
    (None, text(&call.caller), text(&call.file), call.line)
}

/// Who waits for whom, the other way round.
pub struct Waiters<'a> {
    stuck: &'a Stuck,
    starts: Vec<usize>,
    waiters: Vec<NodeId>,
}

impl<'a> Waiters<'a> {
    /// Turns the edges of a graph round once.
    pub fn new(stuck: &'a Stuck) -> Self {
        let mut starts = vec![0; stuck.len() + 1];
        for (_, on) in stuck.edges() {
            starts[on.0 + 1] += 1;
        }
        for index in 1..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut next = starts.clone();
        let mut waiters = vec![NodeId(0); starts[stuck.len()]];
        for (node, on) in stuck.edges() {
            waiters[next[on.0]] = node;
            next[on.0] += 1;
        }
        Self { stuck, starts, waiters }
    }

    /// Who waits for any of these, directly or through others, and is not stuck anyway.
    pub fn not_stuck(&self, context: &Context<'_>, procs: &[ProcIndex]) -> Vec<ProcIndex> {
        let moved = |proc: ProcIndex| context.seen.get(proc.0) == Some(&Seen::Moved);
        let mut waiting = self.all(procs);
        waiting.retain(|proc| !moved(*proc) && !context.perhaps_stuck(*proc));
        waiting
    }

    /// Who waits for any of these, directly or through others.
    pub fn all(&self, procs: &[ProcIndex]) -> Vec<ProcIndex> {
        let mut met = vec![false; self.stuck.len()];
        let mut next: VecDeque<NodeId> = VecDeque::new();
        for proc in procs {
            for node in [self.stuck.node(*proc), self.stuck.helping(*proc)] {
                if !std::mem::replace(&mut met[node.0], true) {
                    next.push_back(node);
                }
            }
        }
        let own: HashSet<ProcIndex> = procs.iter().copied().collect();
        let mut waiting = Vec::new();
        while let Some(on) = next.pop_front() {
            for node in &self.waiters[self.starts[on.0]..self.starts[on.0 + 1]] {
                if std::mem::replace(&mut met[node.0], true) {
                    continue;
                }
                waiting.extend(self.stuck.proc(*node).filter(|proc| !own.contains(proc)));
                next.push_back(*node);
            }
        }
        waiting.sort_unstable();
        waiting.dedup();
        waiting
    }
}

/// What so many ranks do, after their names.
fn does(delay: &Delay, ranks: usize) -> (String, Doing) {
    let verb = |one: &'static str, many: &'static str| if ranks == 1 { one } else { many };
    match delay {
        Delay::Stopped(by) => (format!("{} {}", verb("is", "are"), by.participle()), Doing::Stopped(*by)),
        Delay::Handler(exception, does) => {
            let it = verb("it waits", "they wait");
            let waits = match does {
                InHandler::WaitsForHeap => format!(", where {it} for the heap's lock"),
                InHandler::WaitsForThread => format!(", where {it} for another thread"),
                InHandler::Runs => String::new(),
            };
            (format!("{}{waits}", exceptions::does(exception, ranks)), Doing::Handler)
        }
        Delay::Lock(spot) => (
            format!("{} outside MPI and wait{} for another thread{}", verb("is", "are"), verb("s", ""), within(spot)),
            Doing::Lock,
        ),
        Delay::Awaits(clause, doing, spot) => {
            (format!("{} for {clause}{}", words::wait(ranks), after_comma(&within(spot))), *doing)
        }
        Delay::Input(spot) => (format!("read{} input{}", verb("s", ""), within(spot)), Doing::Input),
        Delay::Output(file, spot) => {
            let is = verb("is", "are");
            (format!("{is} blocked writing to {}{}", output(*file, ranks), within(spot)), Doing::Output)
        }
        Delay::Device(does, name, spot) => {
            let its = verb("its", "their");
            let clause = match does {
                DeviceCall::Waits => format!("wait{} for {its} GPU ({name})", verb("s", "")),
                DeviceCall::Asks => format!("ask{} again and again for {its} GPU ({name})", verb("s", "")),
                DeviceCall::Meets => format!("{} in {name}, which waits for other ranks,", verb("is", "are")),
            };
            // The library's own functions have no names that mean anything to a reader.
            let spot = (None, spot.1.clone(), None, None);
            (format!("{clause}{}", within(&spot)), Doing::Device)
        }
        Delay::Work(spot) => (format!("{} outside MPI{}", verb("is", "are"), within(spot)), Doing::Work),
        Delay::NotStarted(spot) => {
            let within = within(spot);
            let there = if within.is_empty() { String::new() } else { format!(" and {}{within}", verb("is", "are")) };
            (format!("{} not called MPI_Init yet{there}", verb("has", "have")), Doing::NotStarted)
        }
        Delay::Accesses(function, spot) => {
            let calls = verb("calls", "call");
            (format!("{calls} {function} again and again{}", within(spot)), Doing::Accesses)
        }
        Delay::Call(function, spot) => {
            let doing = if wait_kind(function).is_one_sided() { Doing::Accesses } else { Doing::Call };
            (format!("{} in {function}{}", verb("is", "are"), after_comma(&within(spot))), doing)
        }
    }
}

/// The file of that number.
fn output(file: i64, ranks: usize) -> String {
    let its = if ranks == 1 { "its" } else { "their" };
    match file {
        1 => format!("{its} standard output"),
        2 => format!("{its} standard error"),
        other => format!("file {other}"),
    }
}

fn finding(context: &Context<'_>, delay: &Delay, procs: &[ProcIndex], waiting: &[ProcIndex]) -> Finding {
    let job = context.job;
    let who = words::procs(job, procs);
    let verb = |one: &'static str, many: &'static str| if procs.len() == 1 { one } else { many };
    let (does, doing) = does(delay, procs.len());
    // Whoever looks at its own memory until the others have written to it waits for ever: they may need its library.
    let accesses = if matches!(delay, Delay::Work(_)) { one_sided(context, waiting) } else { Vec::new() };
    let kind = match delay {
        Delay::Work(_) if accesses.is_empty() => FindingKind::SlowRank,
        Delay::Stopped(_)
        | Delay::Lock(_)
        | Delay::Work(_)
        | Delay::Handler(_, InHandler::WaitsForHeap | InHandler::WaitsForThread) => FindingKind::StuckOutside,
        _ => FindingKind::SlowRank,
    };
    let waits = words::wait(waiting.len());
    let mut summary = format!("{who} {does} while {} {waits} for {}", words::procs(job, waiting), verb("it", "them"));
    if !accesses.is_empty() {
        let (functions, them) = (words::list(&accesses, "and"), verb("it", "them"));
        summary.push_str(&format!(" in {functions}, which may need {them} to call MPI"));
    }
    let letters = letters(context, delay, procs);
    if letters > 0 {
        let (it, does, them) = (verb("it", "they"), verb("does", "do"), verb("it", "them"));
        let (messages, wait) = (words::counted(letters, "message"), words::wait(letters));
        summary.push_str(&format!(" ({it} {does} not take part in MPI: {messages} {wait} for {them})"));
    }
    if let Some(others) = shares_memory_with(context, delay, procs).filter(|_| accesses.is_empty()) {
        let it_waits = verb("it waits", "they wait");
        summary.push_str(&format!("; perhaps {it_waits} for {}", shared_memory(&others)));
    }
    let arrived = || other_tag::arrived(context, procs).filter(|_| letters == 0);
    if let Some(other) = other_tag::posted(context, procs).or_else(arrived).filter(|_| delay.is_outside()) {
        summary.push_str(&format!("; {other}"));
    }
    let mut evidence = Vec::new();
    for proc in waiting.iter().take(3) {
        for thread in context.threads(*proc).iter().filter(|thread| thread.need != Need::Nothing).take(1) {
            if let Some(waits_for) = context.waits.words(job, *proc, thread) {
                let function = thread.call.c_name();
                evidence
                    .push(format!("{} is in {function} and waits for {waits_for}.", capital(&words::proc(job, *proc))));
            }
        }
    }
    let mut calls = context.calls(procs);
    calls.extend(context.calls(waiting));
    evidence.extend(in_the_kernel(context, delay, procs));
    let mut finding = Finding {
        kind,
        summary,
        ranks: context.ranks(procs),
        calls,
        certain: !matches!(delay, Delay::Lock(_) | Delay::Handler(..)) && accesses.is_empty(),
        evidence,
        blamed: context.blamed(procs),
        ..Finding::default()
    };
    if let Delay::Handler(exception, _) = delay {
        finding.exceptions = vec![RankException { ranks: finding.ranks.clone(), exception: (**exception).clone() }];
        finding.blamed = exceptions::blamed(&finding.exceptions);
    }
    advice::give(&mut finding, Change::Rank(if accesses.is_empty() { doing } else { Doing::Target }));
    if let Delay::Handler(exception, _) = delay {
        advice::of_exceptions(&mut finding, exception);
    }
    finding
}

/// The one-sided functions in which ranks wait for a target to call MPI, each once.
fn one_sided(context: &Context<'_>, waiting: &[ProcIndex]) -> Vec<String> {
    let threads = waiting.iter().flat_map(|proc| context.threads(*proc));
    let needs = |thread: &&Thread<'_>| {
        thread.wait_kind.is_one_sided()
            && matches!(&thread.need, Need::Unclear(needs) if needs.iter().any(|need| matches!(need, Need::Proc(_))))
    };
    let mut names: Vec<String> = threads.filter(needs).map(|thread| thread.call.c_name().into_owned()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The other ranks that share memory which these have at hand where they run.
fn shares_memory_with(context: &Context<'_>, delay: &Delay, procs: &[ProcIndex]) -> Option<String> {
    let Delay::Work(_) = delay else { return None };
    let mut others = Vec::new();
    for proc in procs {
        let ProcState::Free(Free::Outside(thread)) = &context.waits.states[proc.0] else { continue };
        let shared = thread.system_call.as_ref().and_then(|call| call.waits_for.as_deref());
        let Some(shared) = shared.filter(|awaited| awaited.kind == AwaitedKind::SharedMemory) else { continue };
        let process = context.process(*proc)?;
        let rank = |pid: i64| context.waits.by_pid.beside(process, pid);
        others.extend(shared.owners.iter().filter_map(|owner| rank(owner.pid?)));
    }
    others.retain(|other| !procs.contains(other));
    others.sort_unstable();
    others.dedup();
    (!others.is_empty()).then(|| words::procs(context.job, &others))
}

/// How many messages of the application lie in front of ranks that stand outside MPI.
fn letters(context: &Context<'_>, delay: &Delay, procs: &[ProcIndex]) -> usize {
    if !delay.is_outside() {
        return 0;
    }
    let operations = |proc: &ProcIndex| context.matching.of_proc(*proc).iter();
    let waits = |entry: &&Entry<'_>| entry.is_own() && entry.operation.status == OperationStatus::InTransit;
    procs.iter().flat_map(operations).filter(waits).count()
}

/// A hint at messages that have come no further than the kernel's connections, in front of ranks that stand outside MPI.
fn in_the_kernel(context: &Context<'_>, delay: &Delay, procs: &[ProcIndex]) -> Option<String> {
    if !delay.is_outside() {
        return None;
    }
    let unread = |proc: &ProcIndex| context.process(*proc)?.tcp.as_ref()?.unread_bytes;
    let (holders, bytes): (Vec<_>, Vec<_>) =
        procs.iter().filter_map(|proc| Some((*proc, unread(proc).filter(|bytes| *bytes > 0)?))).unzip();
    let bytes = bytes.into_iter().fold(0, i64::saturating_add);
    let who = words::procs(context.job, &holders);
    (bytes > 0).then(|| {
        format!("Perhaps messages wait in the kernel: {bytes} bytes on TCP connections of {who} are not read.")
    })
}

/// The function in which a thread stands, after words that say that it does: that of the program, and the C library's in which it
/// waits. Its line stands in the table of the finding. Empty where nothing is known.
pub fn within(spot: &Spot) -> String {
    let (function, caller, ..) = spot;
    let caller = caller.as_deref().filter(|name| !name.is_empty());
    let inner = function.as_deref().filter(|name| !name.is_empty() && caller != Some(*name));
    let mut words = caller.map_or_else(String::new, |caller| format!(" in {caller}"));
    if let Some(inner) = inner {
        words.push_str(&format!(" ({})", base(inner)));
    }
    words
}

/// The same as a further part of a sentence.
fn after_comma(words: &str) -> String {
    if words.is_empty() { String::new() } else { format!(",{words}") }
}
