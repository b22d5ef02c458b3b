//! Epochs of windows in which stuck ranks stand.

use super::Context;
use crate::job::PartyId;
use crate::words;
use functions::Way;
use model::{Finding, FindingKind};

/// One finding for all stuck ranks that stand in functions of one-sided synchronisation, certain ones apart from others.
pub fn find(context: &Context<'_>) -> Vec<Finding> {
    let in_epoch = |party: &PartyId| {
        context.threads(*party).iter().any(|thread| thread.way == Way::Epoch || thread.call.c_name() == "MPI_Win_fence")
    };
    let all = || (0..context.job.parties.len()).map(PartyId).filter(in_epoch);
    let certain: Vec<PartyId> = all().filter(|party| context.stuck_for_certain(*party)).collect();
    let possible: Vec<PartyId> = all().filter(|party| context.possible.is_stuck(*party)).collect();
    [(certain, true), (possible, false)]
        .into_iter()
        .filter(|(parties, _)| !parties.is_empty())
        .map(|(parties, certain)| finding(context, &parties, certain))
        .collect()
}

fn finding(context: &Context<'_>, parties: &[PartyId], certain: bool) -> Finding {
    let mut functions: Vec<(String, Vec<PartyId>)> = Vec::new();
    for party in parties {
        let threads = context.threads(*party);
        let Some(thread) = threads.iter().find(|thread| thread.call.c_name().starts_with("MPI_Win_")) else { continue };
        let name = thread.call.c_name();
        match functions.iter_mut().find(|(known, _)| *known == name) {
            Some((_, parties)) => parties.push(*party),
            None => functions.push((name, vec![*party])),
        }
    }
    let told: Vec<String> = functions
        .iter()
        .map(|(name, parties)| {
            let verb = words::wait(parties.len());
            format!("{} {verb} in {name}", words::parties(context.job, parties))
        })
        .collect();
    let mut evidence = vec!["Nobody who could end these epochs can go on.".to_owned()];
    if !certain {
        evidence.extend(context.doubts(parties));
    }
    Finding {
        kind: FindingKind::OneSidedEpochs,
        summary: format!("{} for others that can never go on", words::list(&told, "and")),
        ranks: context.ranks(parties),
        calls: context.calls(parties),
        certain,
        evidence,
        advice: Some(
            "Each post needs a start, each start a complete, each lock an unlock, each fence all members.".to_owned(),
        ),
    }
}
