//! Words for ranks, communicators and operations, the same in all findings.

use super::job::{CommunicatorId, Job, Proc, ProcIndex};
use model::{Communicator, Operation};

/// How many ranks of a list are written out.
const SHOWN: usize = 12;

/// A communicator of no more members is known by these.
const MEMBERS: usize = 8;

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

/// `rank 2 gives root 0`.
pub fn gives_root(job: &Job<'_>, of: &[ProcIndex], root: i64) -> String {
    format!("{} {} root {root}", procs(job, of), if of.len() == 1 { "gives" } else { "give" })
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(parts: &[String], last: &str) -> String {
    match parts {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., end] => format!("{} {last} {end}", first.join(", ")),
    }
}

/// A communicator by the name that the application or the standard gave it, else by its members.
pub fn communicator(communicator: &Communicator) -> String {
    shared_by("communicator", communicator)
}

/// The same of what a function is about: the communicators of files and windows are the library's own.
pub fn object(function: &str, communicator: &Communicator) -> String {
    let is_made_of_one = ["MPI_File_open", "MPI_Win_allocate", "MPI_Win_create"];
    let noun = match function {
        _ if is_made_of_one.iter().any(|name| function.starts_with(name)) => "communicator",
        _ if function.starts_with("MPI_File_") => "file",
        _ if function.starts_with("MPI_Win_") => "window",
        _ => "communicator",
    };
    shared_by(noun, communicator)
}

/// The same of a communicator of the job.
pub fn object_of(job: &Job<'_>, id: CommunicatorId, function: &str) -> String {
    let view = job.communicators.get(id.0).and_then(|shared| shared.views.first());
    view.map_or_else(|| "a communicator".to_owned(), |view| object(function, view.communicator))
}

fn shared_by(noun: &str, communicator: &Communicator) -> String {
    if communicator.name.starts_with("MPI_COMM_")
        || !communicator.name.is_empty() && communicator.name_set != Some(false)
    {
        return named(&communicator.name);
    }
    let (own, remote) = (communicator.group.as_deref(), communicator.remote_group.as_deref());
    let own = members(own.unwrap_or_default()).or_else(|| communicator.size.map(|size| format!("{size} ranks")));
    match (own, remote.map(members)) {
        (Some(own), None) => format!("a {noun} of {own}"),
        (Some(own), Some(Some(remote))) => format!("an intercommunicator of {own} with {remote}"),
        _ if communicator.name.is_empty() => format!("a {noun} without a name"),
        _ => named(&communicator.name),
    }
}

/// Members that are few are named. Of many, each rank's words would take as long as there are members.
fn members(group: &[Option<i64>]) -> Option<String> {
    if group.is_empty() {
        return None;
    }
    let known = if group.len() <= MEMBERS { group.iter().copied().collect::<Option<Vec<i64>>>() } else { None };
    Some(known.map_or_else(|| format!("{} ranks", group.len()), ranks))
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
    fn communicators_that_nobody_has_named_are_known_by_their_members() {
        let known = |ranks: &[i64]| Some(ranks.iter().copied().map(Some).collect::<Vec<_>>().into());
        let automatic = |group: &[i64]| Communicator {
            name: "MPI COMMUNICATOR 3 DUP FROM 0".into(),
            name_set: Some(false),
            group: known(group),
            ..Communicator::default()
        };
        let pair = automatic(&[0, 3]);
        assert_eq!(communicator(&pair), "a communicator of ranks 0 and 3");
        assert_eq!(object("MPI_File_close", &pair), "a file of ranks 0 and 3");
        assert_eq!(object("MPI_Win_fence", &pair), "a window of ranks 0 and 3");
        assert_eq!(object("MPI_Win_create_dynamic", &pair), "a communicator of ranks 0 and 3");
        let inter = Communicator { name: "".into(), remote_group: known(&[1, 2]), ..automatic(&[0]) };
        assert_eq!(communicator(&inter), "an intercommunicator of rank 0 with ranks 1 and 2");
        let many: Vec<i64> = (0..512).collect();
        assert_eq!(communicator(&automatic(&many)), "a communicator of 512 ranks");
        assert_eq!(communicator(&Communicator { name_set: Some(true), ..pair }), "\"MPI COMMUNICATOR 3 DUP FROM 0\"");
        let nothing = Communicator { name: "".into(), group: None, ..automatic(&[]) };
        assert_eq!(communicator(&nothing), "a communicator without a name");
    }

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
