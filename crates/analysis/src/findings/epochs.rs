//! Epochs of windows in which stuck ranks stand.

use super::Context;
use crate::job::ProcIndex;
use crate::words;
use functions::WaitKind;
use model::{Finding, FindingKind};

/// One finding for all stuck ranks that stand in functions of one-sided synchronisation, certain ones apart from others.
pub fn find(context: &Context<'_>) -> Vec<Finding> {
    let in_epoch = |proc: &ProcIndex| {
        context
            .threads(*proc)
            .iter()
            .any(|thread| thread.wait_kind == WaitKind::Epoch || thread.call.c_name() == "MPI_Win_fence")
    };
    let all = || (0..context.job.procs.len()).map(ProcIndex).filter(in_epoch);
    let certain: Vec<ProcIndex> = all().filter(|proc| context.stuck_for_certain(*proc)).collect();
    let possible: Vec<ProcIndex> = all().filter(|proc| context.possible.is_stuck(*proc)).collect();
    [(certain, true), (possible, false)]
        .into_iter()
        .filter(|(procs, _)| !procs.is_empty())
        .map(|(procs, certain)| finding(context, &procs, certain))
        .collect()
}

fn finding(context: &Context<'_>, procs: &[ProcIndex], certain: bool) -> Finding {
    let mut functions: Vec<(String, Vec<ProcIndex>)> = Vec::new();
    for proc in procs {
        let threads = context.threads(*proc);
        let Some(thread) = threads.iter().find(|thread| thread.call.c_name().starts_with("MPI_Win_")) else { continue };
        let name = thread.call.c_name();
        match functions.iter_mut().find(|(known, _)| *known == name) {
            Some((_, procs)) => procs.push(*proc),
            None => functions.push((name, vec![*proc])),
        }
    }
    let told: Vec<String> = functions
        .iter()
        .map(|(name, procs)| {
            let verb = words::wait(procs.len());
            format!("{} {verb} in {name}", words::procs(context.job, procs))
        })
        .collect();
    let mut evidence = vec!["Nobody who could end these epochs can go on.".to_owned()];
    if !certain {
        evidence.extend(context.doubts(procs));
    }
    Finding {
        kind: FindingKind::OneSidedEpochs,
        summary: format!("{} for others that can never go on", words::list(&told, "and")),
        ranks: context.ranks(procs),
        calls: context.calls(procs),
        certain,
        evidence,
        blamed: context.blamed(procs),
        ..Finding::default()
    }
}
