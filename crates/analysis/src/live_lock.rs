//! A live lock: messages go, and nothing else of the job changes between two looks.

use super::findings::Context;
use super::job::ProcIndex;
use super::movement::{Compared, Round};
use super::words;
use model::{Call, Motion};

/// The ranks that may be in a live lock, and that in a sentence; `None` where some rank did anything else, or may have.
pub fn suspected(context: &Context<'_>, compared: &[Compared]) -> Option<(Vec<i64>, String)> {
    let waits_or_goes_round =
        |one: &Compared| one.round != Round::No || matches!(one.movement.state, Motion::Stuck | Motion::Spinning);
    if !compared.iter().all(waits_or_goes_round) || !compared.iter().any(|one| one.round == Round::Same) {
        return None;
    }
    let all = compared.iter().enumerate();
    let ranks: Vec<ProcIndex> =
        all.filter(|(_, one)| one.round != Round::No).map(|(index, _)| ProcIndex(index)).collect();
    if ranks.len() < 2 {
        return None;
    }
    let job = context.job;
    let calls = ranks.iter().filter_map(|proc| job.procs[proc.0].process).flat_map(|process| &process.calls);
    let mut functions: Vec<String> = calls.map(Call::c_name).map(|name| name.to_string()).collect();
    functions.sort_unstable();
    functions.dedup();
    let text = format!(
        "Perhaps a live lock: {} exchange messages ({}), and nothing else in the job changed.",
        words::procs(job, &ranks),
        words::list(&functions, "and"),
    );
    Some((ranks.iter().filter_map(|proc| compared[proc.0].movement.rank).collect(), text))
}
