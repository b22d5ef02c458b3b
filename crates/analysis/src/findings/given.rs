//! What ranks have given one call of a collective: operators, datatypes and counts that do not agree. These are ranks that
//! stand in the call: its arguments are enough, without a flight recorder.
//!
//! MPI-5.0, 6.1: the type signatures of what is sent and of what is received for it must be equal. Signatures of as many bytes
//! are taken for equal here: who sends four characters for an integer does not wait for it.

use super::Context;
use super::collectives::place;
use super::pairs::{self, Part};
use crate::advice::{self, Change};
use crate::datatypes;
use crate::job::ProcIndex;
use crate::stuck::Seen;
use crate::waits::{Collective, CollectiveId, Peer, Thread, peer};
use crate::words;
use functions::{Reach, WaitKind, small, wait_kind};
use model::{Call, Finding, FindingKind};

/// How many findings are shown.
const SHOWN: usize = 16;

/// How many ranks that gave something of their own are each named.
const NAMED: usize = 4;

/// What a rank has for each of the others, or of each.
struct Items<'a> {
    part: Part<'a>,
    /// `sends`, `receives`, `gives`.
    does: &'static str,
}

impl<'a> Items<'a> {
    fn from_call(call: &'a Call, does: &'static str, count: &str, datatype: &str) -> Option<Self> {
        Some(Self { part: Part::of_all(call, count, datatype)?, does })
    }

    fn bytes(&self) -> Option<i64> {
        self.part.bytes()
    }

    fn words(&self) -> String {
        format!("{} {}", self.does, self.part.words())
    }
}

/// Whether a buffer is MPI_IN_PLACE: count and datatype beside it mean nothing then. `None`: it may be. It is `(void *)1` in
/// Open MPI and `(void *)-1` in MPICH (mpi.h), and may come in a variable; in Fortran it is the address of a variable.
pub(super) fn in_place(call: &Call, name: &str) -> Option<bool> {
    let Some(buffer) = call.argument(name) else { return Some(false) };
    if buffer.meaning.as_deref() == Some("MPI_IN_PLACE") || matches!(buffer.value, Some(1 | -1)) {
        return Some(true);
    }
    let fortran = call.function.starts_with("mpi_");
    let known = buffer.value.is_some() && (!fortran || buffer.expression.is_some());
    known.then_some(false)
}

/// What a rank has given that must be alike on all; nothing where its arguments are not known, or are arrays.
fn items(call: &Call, is_root: Option<bool>) -> Vec<Items<'_>> {
    let is_buffer = |name: &str| in_place(call, name) == Some(false);
    let sends = || Items::from_call(call, "sends", "sendcount", "sendtype").filter(|_| is_buffer("sendbuf"));
    let receives = || Items::from_call(call, "receives", "recvcount", "recvtype").filter(|_| is_buffer("recvbuf"));
    let items = match (small(&call.c_name()), is_root) {
        ("MPI_Bcast" | "MPI_Reduce" | "MPI_Allreduce" | "MPI_Scan" | "MPI_Exscan", _) => {
            [Items::from_call(call, "gives", "count", "datatype"), None]
        }
        ("MPI_Reduce_scatter_block", _) => [Items::from_call(call, "gives", "recvcount", "datatype"), None],
        ("MPI_Allgather" | "MPI_Alltoall", _) => [sends(), receives()],
        ("MPI_Gather", Some(true)) | ("MPI_Scatter", Some(false)) => [receives(), None],
        ("MPI_Gather", Some(false)) | ("MPI_Scatter", Some(true)) => [sends(), None],
        _ => [None, None],
    };
    items.into_iter().flatten().collect()
}

/// A rank in the call.
struct Member<'a> {
    proc: ProcIndex,
    thread: &'a Thread<'a>,
}

/// One finding for each collective.
pub fn find(context: &Context<'_>) -> Vec<Finding> {
    let all = context.waits.collectives.iter();
    all.filter_map(|(id, collective)| of_collective(context, id, collective)).take(SHOWN).collect()
}

fn of_collective(context: &Context<'_>, id: CollectiveId, collective: &Collective) -> Option<Finding> {
    let WaitKind::Collective(_, reach) = wait_kind(&collective.function) else { return None };
    let member = |proc: &ProcIndex| {
        let thread = context.threads(*proc).iter().find(|thread| thread.collective == Some(id))?;
        Some(Member { proc: *proc, thread })
    };
    let members: Vec<Member<'_>> = collective.present.iter().filter_map(member).collect();
    let still = |proc: ProcIndex| context.seen.get(proc.0) == Some(&Seen::Still);
    // All of them in one call of it: none is missing, or none has left it, since one that is missing has not entered it.
    let gathered = collective.missing.is_empty()
        && collective.whole
        && members.iter().all(|one| still(one.proc) || context.stuck_for_certain(one.proc));
    let begun_by_none = |member: &Member<'_>| {
        member.thread.need.needs_all_of(id) && (member.thread.in_flight.is_none() || still(member.proc))
    };
    let (members, certain) = if gathered {
        (members, true)
    } else if reach == Reach::All && members.iter().filter(|member| begun_by_none(member)).count() > 1 {
        (members.into_iter().filter(begun_by_none).collect(), true)
    } else {
        (members.into_iter().filter(|member| context.perhaps_stuck(member.proc)).collect(), false)
    };
    let mut finding = operators(context, collective, &members).or_else(|| contents(context, collective, &members))?;
    finding.certain = certain;
    if !certain {
        finding.evidence.push("Not certain: these ranks may be at different calls of the same function.".to_owned());
    }
    Some(finding)
}

fn operators(context: &Context<'_>, collective: &Collective, members: &[Member<'_>]) -> Option<Finding> {
    let named = members.iter().filter_map(|one| {
        let op = one.thread.call.argument("op")?.meaning.as_deref()?;
        Some((one.proc, format!("gives {op}")))
    });
    let named: Vec<(ProcIndex, String)> = named.collect();
    let rule = "All members must give the same operator.";
    differing(context, collective, FindingKind::OperatorMismatch, &named, rule)
}

fn contents(context: &Context<'_>, collective: &Collective, members: &[Member<'_>]) -> Option<Finding> {
    let mut given: Vec<(ProcIndex, Items<'_>)> = Vec::new();
    let mut of_pairs = Vec::new();
    for member in members {
        let call = member.thread.call;
        let own = context.process(member.proc).and_then(|process| {
            let place =
                process.communicators.iter().find(|communicator| Some(communicator.unique_id) == call.communicator)?;
            place.local_rank
        });
        let root = context.process(member.proc).map(|process| peer(process, call.argument("root")));
        let is_root = match (root, own) {
            (Some(Peer::Rank(root)), Some(own)) => Some(root == own),
            _ => None,
        };
        of_pairs.extend(own.map(|rank| pairs::Member { proc: member.proc, rank, call, is_root }));
        given.extend(items(call, is_root).into_iter().map(|items| (member.proc, items)));
    }
    given.retain(|(_, items)| items.bytes().is_some());
    let Some((_, first)) = given.first() else { return pairs::find(context, collective, &of_pairs) };
    if given.iter().all(|(_, other)| other.bytes() == first.bytes()) {
        return None;
    }
    let element = |items: &Items<'_>| datatypes::element(Some(items.part.datatype));
    let same_type = given.iter().all(|(_, other)| element(other) == element(first));
    let kind = if same_type { FindingKind::CountMismatch } else { FindingKind::DatatypeMismatch };
    let named: Vec<(ProcIndex, String)> = given.iter().map(|(proc, items)| (*proc, items.words())).collect();
    let rule = "A send and its receive must have the same number of elements of the same datatype.";
    let mut finding = differing(context, collective, kind, &named, rule)?;
    advice::give(&mut finding, Change::Contents);
    Some(finding)
}

/// A finding of what ranks have given, in words; `None` where all have given the same.
fn differing(
    context: &Context<'_>,
    collective: &Collective,
    kind: FindingKind,
    given: &[(ProcIndex, String)],
    rule: &str,
) -> Option<Finding> {
    let mut groups: Vec<(&str, Vec<ProcIndex>)> = Vec::new();
    for (proc, words) in given {
        let is_full = groups.len() > NAMED;
        match groups.iter_mut().find(|(known, _)| known == words) {
            Some((_, procs)) => procs.push(*proc),
            None if is_full => {}
            None => groups.push((words, vec![*proc])),
        }
    }
    if groups.len() < 2 {
        return None;
    }
    groups.sort_by_key(|(_, procs)| procs.len());
    let job = context.job;
    let clauses: Vec<String> =
        groups.iter().take(NAMED).map(|(words, procs)| format!("{} {words}", words::procs(job, procs))).collect();
    let place = place(context, collective);
    let mut procs: Vec<ProcIndex> = groups.iter().flat_map(|(_, procs)| procs).copied().collect();
    procs.sort_unstable();
    procs.dedup();
    Some(Finding {
        kind,
        summary: format!("in {}{place} {}", collective.function, words::list(&clauses, "and")),
        ranks: context.ranks(&procs),
        calls: context.calls(&procs),
        evidence: vec![rule.to_owned()],
        blamed: context.blamed(&procs),
        ..Finding::default()
    })
}
