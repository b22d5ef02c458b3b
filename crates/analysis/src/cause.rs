//! Which finding is the cause, and which only follow from it: what a person must mend comes first.

use std::collections::HashSet;

use model::{Finding, FindingKind};

/// Puts the causes before what follows from them, and the rest behind.
pub fn order(findings: &mut [Finding]) {
    let stuck: Vec<HashSet<i64>> = findings
        .iter()
        .filter(|finding| finding.kind == FindingKind::Deadlock)
        .map(|finding| finding.ranks.iter().copied().collect())
        .collect();
    let sure = findings.iter().any(|finding| finding.kind.is_stuck() && finding.certain);
    // Equal ones stay as they were.
    findings.sort_by_key(|finding| rank(finding, sure, &stuck));
}

/// The place of a finding: the smaller the earlier. `sure`: some ranks can never go on for certain.
fn rank(finding: &Finding, sure: bool, deadlocks: &[HashSet<i64>]) -> (u8, bool) {
    use FindingKind as Kind;
    let place = match finding.kind {
        Kind::Deadlock | Kind::FinishedRank | Kind::Polling => 3,
        // What is only possible explains nothing that is certain.
        _ if sure && !finding.certain => 4,
        Kind::CollectiveMismatch | Kind::RootMismatch | Kind::TagMismatch | Kind::CommunicatorMismatch => 0,
        Kind::RankMismatch | Kind::NeverStarted => 1,
        Kind::OneSidedEpochs => 2,
        Kind::MissingInCollective if holds_a_circle(finding, deadlocks) => 2,
        _ => 4,
    };
    (place, place == 3 && !finding.certain)
}

/// Whether a circle of ranks that wait for one another goes through the collective: some of it are missing there, and some wait.
fn holds_a_circle(finding: &Finding, deadlocks: &[HashSet<i64>]) -> bool {
    let missing: HashSet<i64> = finding.ranks.iter().copied().collect();
    let waiting = || finding.calls.iter().filter_map(|call| call.rank).filter(|rank| !missing.contains(rank));
    deadlocks
        .iter()
        .any(|circle| missing.iter().any(|rank| circle.contains(rank)) && waiting().any(|rank| circle.contains(&rank)))
}

/// The place of the cause that the headline tells of ranks that can never go on; `None`: that finding is its own cause.
pub fn of(findings: &[Finding]) -> Option<usize> {
    let first = findings.first()?;
    (!first.kind.is_stuck() && !first.kind.is_wait()).then_some(0)
}
