//! Words for ranks, communicators and operations, the same in all findings.

use super::job::{Job, Proc, ProcIndex};
use model::{Communicator, Operation};

/// How many ranks of a list are written out.
const SHOWN: usize = 12;

/// `rank 3`, or what else a process is known by.
pub fn proc(job: &Job<'_>, id: ProcIndex) -> String {
    let process = job.procs.get(id.0).and_then(|proc| proc.process);
    match (rank(job, id), process.and_then(|process| process.pid)) {
        (Some(rank), _) => format!("rank {rank}"),
        (None, Some(pid)) => format!("process {pid}, whose rank is not known"),
        (None, None) => "a process whose rank is not known".to_owned(),
    }
}

/// A process's rank.
pub fn rank(job: &Job<'_>, id: ProcIndex) -> Option<i64> {
    job.procs.get(id.0).and_then(|proc: &Proc<'_>| proc.rank)
}

/// `rank 3`, `ranks 0, 1 and 2`, `ranks 0-3 and 5-1023`: ascending, neighbours joined; of many the first ones and how many more.
pub fn ranks(of: impl IntoIterator<Item = i64>) -> String {
    let mut sorted: Vec<i64> = of.into_iter().collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut runs: Vec<(i64, i64)> = Vec::new();
    for rank in &sorted {
        match runs.last_mut() {
            Some(run) if run.1.checked_add(1) == Some(*rank) => run.1 = *rank,
            _ => runs.push((*rank, *rank)),
        }
    }
    let mut parts: Vec<String> = Vec::new();
    for (first, last) in runs {
        match last.saturating_sub(first) {
            0 => parts.push(first.to_string()),
            1 => parts.extend([first.to_string(), last.to_string()]),
            _ => parts.push(format!("{first}-{last}")),
        }
    }
    if parts.len() > SHOWN {
        let rest = parts.len() - SHOWN;
        parts.truncate(SHOWN);
        parts.push(format!("{rest} more"));
    }
    format!("{} {}", if sorted.len() == 1 { "rank" } else { "ranks" }, list(&parts, "and"))
}

/// The ranks of processes; those without are counted.
pub fn procs(job: &Job<'_>, of: &[ProcIndex]) -> String {
    let known: Vec<i64> = of.iter().filter_map(|id| rank(job, *id)).collect();
    match (known.is_empty(), of.len() - known.len()) {
        (false, 0) => ranks(known),
        (true, 1) => proc(job, of[0]),
        (true, unknown) => format!("{unknown} processes whose ranks are not known"),
        (false, unknown) => format!("{} and {unknown} others whose ranks are not known", ranks(known)),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(parts: &[String], last: &str) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

/// A communicator by its name: what the application named it in quotes, else as the library calls it.
pub fn communicator(communicator: &Communicator) -> String {
    named(&communicator.name)
}

/// The same of a name.
pub fn named(name: &str) -> String {
    match name {
        "" => "a communicator without a name".to_owned(),
        name if name.starts_with("MPI_COMM_") => name.to_owned(),
        name => format!("\"{name}\""),
    }
}

/// `tag 17`, `any tag`, `a tag that is not known`.
pub fn tag(operation: &Operation) -> String {
    match (operation.tag_wild, operation.desired_tag.or(operation.actual_tag)) {
        (true, _) => "any tag".to_owned(),
        (false, Some(tag)) => format!("tag {tag}"),
        (false, None) => "a tag that is not known".to_owned(),
    }
}

/// One waits, several wait.
pub fn wait(number: usize) -> &'static str {
    if number == 1 { "waits" } else { "wait" }
}

/// `1 message`, `2 messages`.
pub fn counted(number: usize, one: &str) -> String {
    if number == 1 { format!("1 {one}") } else { format!("{number} {one}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_ranks() {
        assert_eq!(ranks([3]), "rank 3");
        assert_eq!(ranks([1, 0]), "ranks 0 and 1");
        assert_eq!(ranks([0, 1, 2, 5]), "ranks 0-2 and 5");
        assert_eq!(ranks([2, 0, 4]), "ranks 0, 2 and 4");
        assert_eq!(ranks([i64::MAX, i64::MIN, i64::MAX]), format!("ranks {} and {}", i64::MIN, i64::MAX));
        assert_eq!(ranks((0..40).map(|rank| 2 * rank)), "ranks 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22 and 28 more");
    }
}
