//! Where ranks part that one line of the application has led into different calls: within which function of a library, and how
//! they went on there.

use std::collections::BTreeMap;

use crate::words;
use model::{Call, Finding, RankCall, Step};

/// How many ways are shown.
const SHOWN: usize = 3;

/// Says of findings whose ranks stand in different calls that one line has made in which function they part.
pub fn add(findings: &mut [Finding]) {
    for finding in findings {
        if let Some(clause) = where_they_part(&finding.calls) {
            finding.summary.push_str(&clause);
        }
    }
}

/// ` (inside H5Fclose of libhdf5.so.103 rank 0 is in H5FD_truncate and ranks 1 and 2 are in H5AC_flush)`.
fn where_they_part(calls: &[RankCall]) -> Option<String> {
    let (first, others) = calls.split_first()?;
    let line = |call: &Call| (call.file.clone(), call.line, call.caller.clone());
    let own = line(&first.call);
    if own.2.is_none() || others.iter().any(|other| line(&other.call) != own) {
        return None;
    }
    let ways: Vec<&[Step]> = calls.iter().map(|one| one.call.through.as_slice()).collect();
    let shortest = ways.iter().map(|way| way.len()).min()?;
    let alike = |at: usize| ways.iter().all(|way| way.get(at) == ways[0].get(at));
    let common = (0..shortest).take_while(|at| alike(*at)).count();
    let inside = ways[0].get(..common)?.iter().rev().find(|step| step.library.is_some())?;
    let mut parts: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for (one, way) in calls.iter().zip(&ways) {
        let next = way.get(common).map_or(one.call.function.as_str(), |step| step.function.as_str());
        parts.entry(next).or_default().push(one.rank?);
    }
    if parts.len() < 2 {
        return None;
    }
    let mut parts: Vec<(&str, Vec<i64>)> = parts.into_iter().collect();
    parts.sort_by_key(|(_, ranks)| (ranks.len(), ranks.first().copied()));
    let more = parts.len().saturating_sub(SHOWN);
    let mut clauses: Vec<String> = parts
        .iter()
        .take(SHOWN)
        .map(|(function, ranks)| {
            let are = if ranks.len() == 1 { "is" } else { "are" };
            format!("{} {are} in {function}", words::ranks(ranks.iter().copied()))
        })
        .collect();
    if more > 0 {
        clauses.push(words::counted(more, "other way"));
    }
    let library = inside.library.as_ref().map_or_else(String::new, |library| format!(" of {library}"));
    Some(format!(" (inside {}{library} {})", inside.function, words::list(&clauses, "and")))
}
