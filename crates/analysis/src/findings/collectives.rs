//! Collective operations in which stuck ranks stand: different ones, different roots, and members that are missing.
//!
//! Ranks leave a rooted collective at different times, so two ranks in different ones may merely be at different steps. What is
//! claimed here is of ranks that can never go on, and for certain only where no step explains it.

use hashbrown::{HashMap, HashSet};
use std::collections::BTreeMap;

use super::Context;
use super::circles::{Circles, Which, passed_by_words};
use super::finished::finished;
use super::non_blocking::Pending;
use crate::advice::{self, Change};
use crate::graph;
use crate::job::{CommunicatorId, ProcIndex};
use crate::stuck::Seen;
use crate::waits::{Collective, CollectiveId, Finished, Op, Peer, Posted, peer};
use crate::words;
use functions::{Reach, WaitKind, wait_kind};
use model::{Finding, FindingKind};

/// Findings of more ranks than these are about those that are fewer.
const ALL_RANKS: usize = 64;

/// How many findings of one kind are shown.
const SHOWN: usize = 16;

/// The ranks that stand in one function, and whether all of them are stuck for certain.
#[derive(Debug)]
pub struct Group<'a> {
    pub(super) id: CollectiveId,
    pub(super) collective: &'a Collective,
    pub(super) stuck: Vec<ProcIndex>,
    certain: bool,
    reach: Reach,
}

/// By communicator, those of fewer ranks first.
pub type Groups<'a> = BTreeMap<CommunicatorId, Vec<Group<'a>>>;

/// Where stuck ranks stand in blocking collectives.
pub fn groups<'a>(context: &Context<'a>) -> Groups<'a> {
    let mut by_communicator: Groups<'a> = BTreeMap::new();
    for (id, collective) in context.waits.collectives.iter() {
        let Some(communicator) = collective.communicator else { continue };
        let WaitKind::Collective(_, reach) = wait_kind(&collective.function) else { continue };
        // A thread whose communicator is not known stands in several of these, and proves nothing.
        let here = |proc: &&ProcIndex| {
            context.threads(**proc).iter().any(|thread| thread.collective == Some(id)) && context.perhaps_stuck(**proc)
        };
        let stuck: Vec<ProcIndex> = collective.present.iter().filter(here).copied().collect();
        if stuck.is_empty() {
            continue;
        }
        let certain = stuck.iter().all(|proc| context.stuck_for_certain(*proc));
        by_communicator.entry(communicator).or_default().push(Group { id, collective, stuck, certain, reach });
    }
    for groups in by_communicator.values_mut() {
        groups.sort_by_key(|group| (group.stuck.len(), group.id));
    }
    by_communicator
}

/// All findings about these; `pending` are the non-blocking ones. What `circles` has is not repeated.
pub fn find(context: &Context<'_>, groups: &Groups<'_>, pending: &[Pending<'_>], circles: &Circles) -> Vec<Finding> {
    let mut findings: [Vec<Finding>; 3] = Default::default();
    // Where ranks have given different roots, that may be why they do not meet.
    let mut rooted: HashSet<CollectiveId> = HashSet::new();
    for (id, collective) in context.waits.collectives.iter() {
        if let Some(finding) = roots(context, id, collective).or_else(|| only_roots(context, id, collective)) {
            rooted.insert(id);
            findings[2].push(finding);
        }
    }
    for (communicator, groups) in groups {
        let communicator = *communicator;
        findings[0].extend(different(context, communicator, groups, &rooted));
        let crossed: Vec<Crossed<'_>> = pending
            .iter()
            .filter(|pending| pending.communicator == communicator)
            .flat_map(|pending| groups.iter().filter_map(move |group| Crossed::new(context, pending, group)))
            .collect();
        findings[0].extend(crossed.iter().map(|crossed| crossed.finding(context)));
        for group in groups {
            let of_group = crossed.iter().filter(|crossed| crossed.group.id == group.id);
            let mut elsewhere: HashSet<ProcIndex> =
                of_group.flat_map(|crossed| crossed.pending.waiting().to_vec()).collect();
            elsewhere.extend(circles.missing(Which::Blocking(group.id)).into_iter().flatten());
            findings[1].extend(missing(context, communicator, group, (groups, &elsewhere, rooted.contains(&group.id))));
        }
    }
    // Who is missing is likelier wrong than those that wait, the fewer they are the more.
    findings[1].sort_by_key(|finding| finding.ranks.len());
    for kind in &mut findings {
        kind.truncate(SHOWN);
    }
    let [different, missing, roots] = findings;
    different.into_iter().chain(roots).chain(missing).collect()
}

/// ` on "halo"`, after the function of a collective; empty of one that is about the whole job.
pub(super) fn place(context: &Context<'_>, collective: &Collective) -> String {
    let on = |id| format!(" on {}", about(context, id, &collective.function));
    collective.communicator.map_or_else(String::new, on)
}

/// A communicator in words.
pub fn on(context: &Context<'_>, id: CommunicatorId) -> String {
    about(context, id, "")
}

/// What a function on a communicator is about, in words: its file or window, or the communicator itself.
pub fn about(context: &Context<'_>, id: CommunicatorId, function: &str) -> String {
    words::object_of(context.job, id, function)
}

pub(super) fn is_are(number: usize) -> &'static str {
    if number == 1 { "is" } else { "are" }
}

/// Stuck members of one communicator in different functions.
fn different(
    context: &Context<'_>,
    communicator: CommunicatorId,
    groups: &[Group<'_>],
    rooted: &HashSet<CollectiveId>,
) -> Option<Finding> {
    if groups.len() < 2 {
        return None;
    }
    let inside: HashSet<ProcIndex> = groups.iter().flat_map(|group| group.stuck.iter().copied()).collect();
    let all_here = groups[0].collective.whole
        && groups[0].collective.missing.iter().chain(&groups[0].collective.present).all(|proc| inside.contains(proc));
    // Who is in one that some leave early may merely be a step behind, where somebody else is missing in it; but not where some
    // of both hold one another.
    let circling = if all_here { HashSet::new() } else { circling(context, groups) };
    let counts = |group: &&Group<'_>| all_here || group.reach == Reach::All || circling.contains(&group.id);
    let groups: Vec<&Group<'_>> = groups.iter().filter(counts).collect();
    if groups.len() < 2 {
        return None;
    }
    let job = context.job;
    let clauses: Vec<String> = groups
        .iter()
        .map(|group| {
            let ranks = words::procs(job, &group.stuck);
            format!("{ranks} {} in {}", is_are(group.stuck.len()), group.collective.function)
        })
        .collect();
    let by_root = groups.iter().find(|group| rooted.contains(&group.id));
    let certain = groups.iter().all(|group| group.certain) && by_root.is_none();
    let total: usize = groups.iter().map(|group| group.stuck.len()).sum();
    let fewer = if total > ALL_RANKS { groups.len() - 1 } else { groups.len() };
    let mut ranks: Vec<i64> = groups.iter().take(fewer).flat_map(|group| context.ranks(&group.stuck)).collect();
    ranks.sort_unstable();
    ranks.dedup();
    let mut evidence = vec![
        "All members of a communicator must call its collective operations in the same order; none of these can \
         complete."
            .to_owned(),
    ];
    if let Some(group) = by_root {
        let function = &group.collective.function;
        evidence.push(format!("Not certain: ranks in {function} gave different roots, which may be the reason."));
    } else if !certain {
        evidence.extend(context.doubts(&groups.iter().flat_map(|group| group.stuck.clone()).collect::<Vec<_>>()));
    }
    Some(Finding {
        kind: FindingKind::CollectiveMismatch,
        summary: format!(
            "on {} {}",
            about(context, communicator, &groups[0].collective.function),
            words::list(&clauses, "and")
        ),
        ranks,
        calls: groups.iter().flat_map(|group| context.calls(&group.stuck)).collect(),
        certain,
        evidence,
        blamed: context.blamed(&groups.iter().flat_map(|group| group.stuck.clone()).collect::<Vec<_>>()),
        ..Finding::default()
    })
}

/// The collectives with members that hold members of another of them, by what their library has posted for these, or since all
/// must enter them. What they wait for besides does not count: who has left an operation early is only a step ahead.
fn circling(context: &Context<'_>, groups: &[Group<'_>]) -> HashSet<CollectiveId> {
    let count = context.job.procs.len();
    let mut of_proc: HashMap<ProcIndex, CollectiveId> = HashMap::new();
    let mut edges: Vec<(usize, usize)> = Vec::new();
    for (number, group) in groups.iter().enumerate() {
        // A node for each collective: many wait for all that are missing.
        let entering = count + number;
        edges.extend(group.collective.missing.iter().map(|proc| (entering, proc.0)));
        for proc in &group.stuck {
            of_proc.insert(*proc, group.id);
            let threads = context.threads(*proc).iter().filter(|thread| thread.collective == Some(group.id));
            for thread in threads {
                edges.extend(thread.need.needs_all_of(group.id).then_some((proc.0, entering)));
                let internal = thread.operations.iter().filter(|op| op.operation.internal);
                let peers = internal.filter_map(|op| context.job.proc(op.global_rank()?));
                edges.extend(peers.map(|peer| (proc.0, peer.0)));
            }
        }
    }
    let mut collectives = HashSet::new();
    for circle in graph::circles(count + groups.len(), edges) {
        let within: HashSet<CollectiveId> =
            circle.iter().filter_map(|node| of_proc.get(&ProcIndex(*node)).copied()).collect();
        if within.len() > 1 {
            collectives.extend(within);
        }
    }
    collectives
}

/// Members that stand in a blocking collective, and have not begun the non-blocking one of the same communicator for which others
/// wait, who are not in the first.
struct Crossed<'g> {
    pending: &'g Pending<'g>,
    group: &'g Group<'g>,
    /// Those in the blocking one.
    inside: Vec<ProcIndex>,
}

impl<'g> Crossed<'g> {
    fn new(context: &Context<'_>, pending: &'g Pending<'g>, group: &'g Group<'g>) -> Option<Self> {
        // Who may leave early is perhaps only a step ahead.
        let absent = |proc: &ProcIndex| group.collective.missing.contains(proc);
        if !pending.waiting().iter().all(absent) {
            return None;
        }
        let behind = |proc: &&ProcIndex| pending.is_missing(context, **proc) == Some(true);
        let inside: Vec<ProcIndex> = group.stuck.iter().filter(behind).copied().collect();
        (!inside.is_empty()).then_some(Self { pending, group, inside })
    }

    fn finding(&self, context: &Context<'_>) -> Finding {
        let (job, waiting) = (context.job, self.pending.waiting());
        let all: Vec<ProcIndex> = self.inside.iter().chain(waiting).copied().collect();
        let certain = all.iter().all(|proc| context.stuck_for_certain(*proc));
        let function = &self.group.collective.function;
        let name = self.pending.name();
        let mut ranks = context.ranks(&all);
        ranks.sort_unstable();
        ranks.dedup();
        let mut evidence = vec![
            "All members of a communicator must call its collective operations in the same order, also the \
             non-blocking \
             ones."
                .to_owned(),
            format!(
                "By the library's numbers, {} {} not started what {} {} for.",
                words::procs(job, &self.inside),
                if self.inside.len() == 1 { "has" } else { "have" },
                words::procs(job, waiting),
                words::wait(waiting.len())
            ),
        ];
        if !certain {
            evidence.extend(context.doubts(&all));
        }
        let mut calls = context.calls(&self.inside);
        calls.extend(context.calls(waiting));
        Finding {
            kind: FindingKind::CollectiveMismatch,
            summary: format!(
                "on {} {} {} in {function} and {} {} for {name}",
                on(context, self.pending.communicator),
                words::procs(job, &self.inside),
                is_are(self.inside.len()),
                words::procs(job, waiting),
                words::wait(waiting.len()),
            ),
            ranks,
            calls,
            certain,
            evidence,
            blamed: context.blamed(&all),
            ..Finding::default()
        }
    }
}

/// Members that do not take part though others can never go on without them.
fn missing(
    context: &Context<'_>,
    communicator: CommunicatorId,
    group: &Group<'_>,
    (all, waiting, by_root): (&[Group<'_>], &HashSet<ProcIndex>, bool),
) -> Option<Finding> {
    let job = context.job;
    let others = all.iter().filter(|other| other.id != group.id).flat_map(|other| &other.stuck);
    let elsewhere: HashSet<ProcIndex> = others.chain(waiting).copied().collect();
    let gone = |proc: &ProcIndex| context.is_out(*proc) && !elsewhere.contains(proc);
    let missing: Vec<ProcIndex> = group.collective.missing.iter().copied().filter(gone).collect();
    if missing.is_empty() {
        return None;
    }
    // Who is not in an operation that some leave early may have left it, but not who owes one its part of it.
    let owing = owing(context, group);
    let proven: Vec<ProcIndex> = missing.iter().copied().filter(|proc| owing.contains(proc)).collect();
    let all = group.reach == Reach::All;
    let certain = group.certain && !by_root && (all || !proven.is_empty());
    let missing = if certain && !all { proven } else { missing };
    let verb = words::wait(group.stuck.len());
    let function = &group.collective.function;
    let mut summary = format!(
        "{} {} not in {function} on {}, where {} {verb}",
        words::procs(job, &missing),
        is_are(missing.len()),
        about(context, communicator, function),
        words::procs(job, &group.stuck),
    );
    let mut evidence = whereabouts(context, &missing, &mut summary);
    evidence.extend(passed_by_words(context, &missing, function));
    if by_root {
        evidence.push("Not certain: ranks gave different roots, which may be the reason.".to_owned());
    } else if !certain {
        if group.reach != Reach::All {
            evidence.push(format!("Not certain: ranks may leave {function} before others have entered it."));
        } else {
            evidence.extend(context.doubts(&group.stuck));
        }
    }
    let mut calls = context.calls(&missing);
    calls.extend(context.calls(&group.stuck));
    let concerned: Vec<ProcIndex> = missing.iter().chain(&group.stuck).copied().collect();
    let ended = missing.iter().all(|proc| finished(context, *proc) == Some(Finished::Ended));
    let mut finding = Finding {
        kind: FindingKind::MissingInCollective,
        summary,
        ranks: context.ranks(&missing),
        calls,
        certain,
        evidence,
        blamed: context.blamed(&concerned),
        ..Finding::default()
    };
    let for_message = |proc: &ProcIndex| {
        let first = context.threads(*proc).first();
        first.is_some_and(|thread| {
            thread.collective.is_none() && thread.operations.iter().any(|op| !op.operation.internal)
        })
    };
    if ended {
        advice::give(&mut finding, Change::Gone);
    } else if missing.iter().all(for_message) {
        advice::give(&mut finding, Change::Before);
    }
    Some(finding)
}

/// Members from whom, or by whom, members that are stuck in a collective still wait for a message of it: it was not exchanged,
/// so these have not been through it.
fn owing(context: &Context<'_>, group: &Group<'_>) -> HashSet<ProcIndex> {
    if group.reach == Reach::All {
        return HashSet::new();
    }
    let inside = group.stuck.iter().flat_map(|proc| context.threads(*proc));
    let posted = inside.filter(|thread| thread.collective == Some(group.id)).flat_map(|thread| &thread.operations);
    let named = posted.filter(|op| op.operation.internal && !op.operation.any_source);
    let ranks = named.filter_map(Op::global_rank);
    ranks.filter_map(|rank| context.job.proc(rank)).collect()
}

/// Where those are that are missing, as sentences; a single one also at the end of the summary.
pub fn whereabouts(context: &Context<'_>, missing: &[ProcIndex], summary: &mut String) -> Vec<String> {
    let job = context.job;
    let mut sentences = Vec::new();
    for proc in missing.iter().take(3) {
        let thread = context.threads(*proc).first();
        let place = match (finished(context, *proc), thread) {
            (Some(how), _) => how.words(1).to_owned(),
            (None, Some(thread)) => format!("is in {}", thread.call.c_name()),
            (None, None) => continue,
        };
        let waits_for = thread.and_then(|thread| context.waits.words(job, *proc, thread));
        let waits_for = waits_for.map_or_else(String::new, |words| format!(" and waits for {words}"));
        if missing.len() == 1 {
            summary.push_str(&format!(": it {place}"));
        }
        sentences.push(format!("{} {place}{waits_for}.", super::deadlock::capital(&words::proc(job, *proc))));
    }
    sentences
}

/// Members of a collective whose root receives, or some on the way to it do, and in which all receive: nobody is a leaf, so each
/// takes itself, or another one that does, for the root. It needs no arguments. A receive of nothing says nothing: by it a root
/// lets others begin (`ompi_coll_base_gather_intra_linear_sync`, ompi/mca/coll/base/coll_base_gather.c, v4.1.4 and v5.0.7).
fn only_roots(context: &Context<'_>, id: CollectiveId, collective: &Collective) -> Option<Finding> {
    let WaitKind::Collective(_, Reach::ToRoot) = wait_kind(&collective.function) else { return None };
    let receives = |proc: &ProcIndex| {
        let mut own = context.threads(*proc).iter().filter(|thread| thread.collective == Some(id));
        own.any(|thread| {
            let mut operations = thread.operations.iter();
            let takes = |op: &Op<'_>| op.operation.desired_length.is_some_and(|length| length > 0);
            thread.operations.iter().any(|op| op.queue == Posted::Receives)
                && operations.all(|op| op.operation.internal && op.queue == Posted::Receives && takes(op))
        })
    };
    let all = &collective.present;
    let sure = |proc: &ProcIndex| context.stuck_for_certain(*proc);
    let is_whole = collective.missing.is_empty() && collective.whole && all.len() > 1;
    if !is_whole || !all.iter().all(|proc| receives(proc) && context.perhaps_stuck(*proc)) {
        return None;
    }
    let certain = all.iter().all(sure);
    let place = place(context, collective);
    let each = words::procs(context.job, all);
    let mut evidence = vec!["All members must give the same root. With one root, some members only send.".to_owned()];
    if !certain {
        evidence.extend(context.doubts(all));
    }
    Some(Finding {
        kind: FindingKind::RootMismatch,
        summary: format!(
            "in {}{place} {each} all receive, as only a root does: their roots differ",
            collective.function
        ),
        ranks: context.ranks(all),
        calls: context.calls(all),
        certain,
        evidence,
        blamed: context.blamed(all),
        ..Finding::default()
    })
}

/// Members in the same rooted collective with different roots.
fn roots(context: &Context<'_>, id: CollectiveId, collective: &Collective) -> Option<Finding> {
    let WaitKind::Collective(_, Reach::FromRoot | Reach::ToRoot) = wait_kind(&collective.function) else { return None };
    let mut by_root: BTreeMap<i64, Vec<ProcIndex>> = BTreeMap::new();
    for proc in &collective.present {
        let process = context.process(*proc)?;
        let still = context.seen.get(proc.0) == Some(&Seen::Still);
        let thread = context.threads(*proc).iter().find(|thread| thread.collective == Some(id));
        if let (Some(thread), true) = (thread, still || context.perhaps_stuck(*proc))
            && let Peer::Rank(root) = peer(process, thread.call.argument("root"))
        {
            by_root.entry(root).or_default().push(*proc);
        }
    }
    if by_root.len() < 2 {
        return None;
    }
    let mut groups: Vec<(i64, Vec<ProcIndex>)> = by_root.into_iter().collect();
    groups.sort_by_key(|(root, procs)| (procs.len(), *root));
    let all: Vec<ProcIndex> = groups.iter().flat_map(|(_, procs)| procs.iter().copied()).collect();
    // Where somebody is missing the others may be at different calls of the same function.
    let certain = collective.missing.is_empty()
        && collective.whole
        && collective
            .present
            .iter()
            .all(|proc| context.stuck_for_certain(*proc) || context.seen.get(proc.0) == Some(&Seen::Still))
        && collective.present.iter().any(|proc| context.stuck_for_certain(*proc));
    let clauses: Vec<String> =
        groups.iter().map(|(root, procs)| words::gives_root(context.job, procs, *root)).collect();
    let fewer = if all.len() > ALL_RANKS { groups.len() - 1 } else { groups.len() };
    let mut ranks: Vec<i64> = groups.iter().take(fewer).flat_map(|(_, procs)| context.ranks(procs)).collect();
    ranks.sort_unstable();
    let place = place(context, collective);
    let mut evidence = vec!["All members must give the same root; the root is a rank in the communicator.".to_owned()];
    if !certain {
        evidence.push("Not certain: ranks may be at different calls of the same function.".to_owned());
    }
    Some(Finding {
        kind: FindingKind::RootMismatch,
        summary: format!("in {}{place} {}", collective.function, words::list(&clauses, "and")),
        ranks,
        calls: context.calls(&all),
        certain,
        evidence,
        blamed: context.blamed(&all),
        ..Finding::default()
    })
}
