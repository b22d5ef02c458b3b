//! Members of a communicator that have started what does not fit together as the same non-blocking collective.

use std::collections::BTreeMap;

use super::Context;
use super::collectives::on;
use super::non_blocking::{Pending, have};
use super::planned::Misfit;
use crate::job::ProcIndex;
use crate::words;
use model::{Finding, FindingKind};

/// Members that have started other functions as the same collective, by the source.
pub fn others_started(
    context: &Context<'_>,
    pending: &Pending<'_>,
    certain: bool,
    misfit: Option<&Misfit>,
) -> Option<Finding> {
    let group = &pending.group;
    if group.names.len() < 2 {
        return None;
    }
    let job = context.job;
    let mut by_call: Vec<(&str, Vec<ProcIndex>)> = Vec::new();
    for (proc, started) in &group.started {
        match by_call.iter_mut().find(|(function, _)| *function == started.function) {
            Some((_, procs)) => procs.push(*proc),
            None => by_call.push((&started.function, vec![*proc])),
        }
    }
    by_call.sort_by_key(|(_, procs)| procs.len());
    let proven = misfit == Some(&Misfit::Functions);
    let is_sure = |function: &str, procs: &[ProcIndex]| {
        let by_source = |proc: &ProcIndex| group.started.iter().any(|(other, one)| other == proc && one.certain);
        let by_plan = |proc: &ProcIndex| {
            group.plans.iter().any(|(other, plan)| other == proc && plan.function() == Some(function))
        };
        procs.iter().all(|proc| by_source(proc) || by_plan(proc))
    };
    let clauses: Vec<String> = by_call
        .iter()
        .map(|(function, procs)| {
            let perhaps = if proven && !is_sure(function, procs) { "what may be " } else { "" };
            format!("{} {} started {perhaps}{function}", words::procs(job, procs), have(procs.len()))
        })
        .collect();
    let sure = certain && (proven || by_call.iter().all(|(function, procs)| is_sure(function, procs)));
    let mut evidence = vec![format!(
        "By the library's numbers, these are the same collective of {}: number {}.",
        on(context, pending.communicator),
        pending.sequence
    )];
    if proven {
        evidence.push(NO_COMMON.to_owned());
    } else if !sure {
        evidence.push("Not certain: which calls started them is known only from the source.".to_owned());
    }
    Some(Finding {
        kind: FindingKind::CollectiveMismatch,
        summary: format!("on {} {}", on(context, pending.communicator), words::list(&clauses, "and")),
        ranks: context.ranks(&group.waiting),
        calls: context.calls(&group.waiting),
        certain: sure,
        evidence,
        blamed: context.blamed(&group.waiting),
        ..Finding::default()
    })
}

/// What the library has planned for the members.
const NO_COMMON: &str = "No single function can have started it on all of them: the library's plans for it differ.";

/// Members whose libraries have planned what does not fit together.
pub fn do_not_fit(context: &Context<'_>, pending: &Pending<'_>, misfit: &Misfit, certain: bool) -> Finding {
    let (waiting, place) = (&pending.group.waiting, on(context, pending.communicator));
    let who = words::procs(context.job, waiting);
    let name = pending.name();
    let numbers =
        format!("By the library's numbers, these are the same collective of {place}: number {}.", pending.sequence);
    let mut evidence = vec![numbers];
    let (kind, summary, proven) = match misfit {
        Misfit::Functions => {
            evidence.push(NO_COMMON.to_owned());
            let clauses = planned_functions(context, pending);
            let summary = match clauses.len() {
                2.. => format!("on {place} {}", words::list(&clauses, "and")),
                _ => format!("on {place} {who} have started different non-blocking collectives"),
            };
            (FindingKind::CollectiveMismatch, summary, true)
        }
        Misfit::Roots { function, by_root } => {
            evidence.push("All members must give the same root; the root is a rank in the communicator.".to_owned());
            evidence.push("The roots are worked out from the messages that the library has planned.".to_owned());
            let clauses: Vec<String> =
                by_root.iter().map(|(root, procs)| words::gives_root(context.job, procs, *root)).collect();
            let name = function.as_deref().unwrap_or(&name);
            let summary = match clauses.len() {
                2.. => format!("in {name} on {place} {}", words::list(&clauses, "and")),
                _ => format!("in {name} on {place} {who} give different roots"),
            };
            (FindingKind::RootMismatch, summary, true)
        }
        Misfit::Messages(exchange) => {
            evidence.push(exchange.words(context));
            let function_known = pending.only().is_some();
            if !function_known {
                evidence.push(
                    "Not certain: the calls do not match, but whether their functions or their roots differ is not \
                     known from that."
                        .to_owned(),
                );
            }
            let kind = if function_known { FindingKind::RootMismatch } else { FindingKind::CollectiveMismatch };
            let started = "the non-blocking collectives that they have started do not match";
            let roots = given_roots(context, pending)
                .map(|clauses| format!(": by the source {}", words::list(&clauses, "and")));
            let roots = roots.unwrap_or_default();
            let summary = match function_known {
                true => format!("in {name} on {place} {who} give arguments that do not match{roots}"),
                false => format!("{who} wait on {place}, but {started}"),
            };
            (kind, summary, function_known)
        }
        Misfit::Sizes(exchange) => {
            evidence.push(exchange.words(context));
            let summary = format!("in {name} on {place} {who} give different counts or datatypes");
            (FindingKind::CountMismatch, summary, true)
        }
    };
    if proven && !certain {
        evidence.extend(context.doubts(waiting));
    }
    Finding {
        kind,
        summary,
        ranks: context.ranks(waiting),
        calls: context.calls(waiting),
        certain: certain && proven,
        evidence,
        blamed: context.blamed(waiting),
        ..Finding::default()
    }
}

/// Who started which function, by what is planned, where it can be only one for each.
fn planned_functions(context: &Context<'_>, pending: &Pending<'_>) -> Vec<String> {
    let mut by_function: BTreeMap<&str, Vec<ProcIndex>> = BTreeMap::new();
    for (proc, plan) in &pending.group.plans {
        let Some(function) = plan.function() else { return Vec::new() };
        by_function.entry(function).or_default().push(*proc);
    }
    let clauses = by_function.iter().map(|(function, procs)| {
        format!("{} {} started {function}", words::procs(context.job, procs), have(procs.len()))
    });
    clauses.collect()
}

/// Who gave which root, by the source, where these differ.
fn given_roots(context: &Context<'_>, pending: &Pending<'_>) -> Option<Vec<String>> {
    let mut by_root: BTreeMap<i64, Vec<ProcIndex>> = BTreeMap::new();
    for (proc, started) in &pending.group.started {
        by_root.entry(started.root?).or_default().push(*proc);
    }
    let clauses = by_root.iter().map(|(root, procs)| words::gives_root(context.job, procs, *root));
    (by_root.len() > 1).then(|| clauses.collect())
}

/// Members that, by the source, have started the same collective with different roots.
pub fn other_roots(context: &Context<'_>, pending: &Pending<'_>) -> Option<Finding> {
    let group = &pending.group;
    let [function] = group.names.as_slice() else { return None };
    let clauses = given_roots(context, pending)?;
    let place = on(context, pending.communicator);
    Some(Finding {
        kind: FindingKind::RootMismatch,
        summary: format!("in {function} on {place} {}", words::list(&clauses, "and")),
        ranks: context.ranks(&group.waiting),
        calls: context.calls(&group.waiting),
        certain: false,
        evidence: vec![
            "All members must give the same root; the root is a rank in the communicator.".to_owned(),
            "Not certain: the roots are what the calls in the source would get now.".to_owned(),
        ],
        blamed: context.blamed(&group.waiting),
        ..Finding::default()
    })
}
