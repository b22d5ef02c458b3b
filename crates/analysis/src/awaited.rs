//! Words for what is waited for outside MPI, and for who has it.

use crate::waits::Never;
use crate::words;
use model::{Awaited, AwaitedKind, Owner};

/// How many owners of one lock are named.
pub const NAMED: usize = 4;

/// How the owners of what a process waits for are called.
pub struct Names<'a> {
    /// The process's own id, by which owners that are threads of its own are known.
    pub own: Option<i64>,
    /// The rank of a process on the same host, in words, by its id.
    pub rank: &'a dyn Fn(i64) -> Option<String>,
}

impl Names<'_> {
    /// What it is, and who has it: `the lock of history, which rank 0 holds`. `never`: why nobody gives it back.
    pub fn awaited(&self, awaited: &Awaited, never: Option<&Never>) -> String {
        let (singular, owners) = self.owners(&awaited.owners);
        let (holds, is) = if singular { ("holds", "is") } else { ("hold", "are") };
        match awaited.kind {
            AwaitedKind::FileLock => {
                let name = short(awaited.path.as_deref().unwrap_or_default());
                match (&owners, &awaited.unknown) {
                    (Some(owners), _) => format!("the lock of {name}, which {owners} {holds}"),
                    (None, Some(why)) => format!("the lock of {name} ({why})"),
                    (None, None) => format!("the lock of {name}"),
                }
            }
            AwaitedKind::Mutex | AwaitedKind::Rwlock | AwaitedKind::Gil | AwaitedKind::Rlock => {
                let lock = lock(awaited.kind);
                match (never, owners) {
                    (Some(Never::Itself), _) => format!("{lock} that it has locked itself"),
                    (Some(Never::Ended), _) => format!("{lock} whose thread has ended without unlocking it"),
                    (_, Some(owners)) => format!("{lock}, which {owners} {holds}"),
                    (_, None) => lock.to_owned(),
                }
            }
            AwaitedKind::Team => {
                format!("{} to come to the barrier of OpenMP", owners.unwrap_or_else(|| "other threads".to_owned()))
            }
            AwaitedKind::Thread => format!("{} to end", owners.unwrap_or_else(|| "another thread".to_owned())),
            AwaitedKind::Reader | AwaitedKind::Writer | AwaitedKind::Opener => self.other_end(awaited),
            AwaitedKind::SharedMemory => match owners {
                Some(owners) => shared_memory(&owners),
                None => "others to write to shared memory".to_owned(),
            },
            AwaitedKind::Child => match owners {
                Some(owners) => format!("its child to end, which {is} {owners}"),
                None => "its child to end".to_owned(),
            },
        }
    }

    /// Somebody who is to read, write or open what a process uses: `process 17 (mpirun) to read its standard output`.
    fn other_end(&self, awaited: &Awaited) -> String {
        // A rank has what its launcher had open when it was started, and does not use it.
        let is_rank = |owner: &&Owner| owner.pid.is_some_and(|pid| (self.rank)(pid).is_some());
        let others: Vec<Owner> = awaited.owners.iter().filter(|owner| !is_rank(owner)).cloned().collect();
        let named = if others.is_empty() { &awaited.owners } else { &others };
        let owners = self.owners(named).1.unwrap_or_else(|| "somebody".to_owned());
        let path = awaited.path.as_deref().unwrap_or_default();
        let file = match awaited.descriptor {
            Some(0) => "its standard input".to_owned(),
            Some(1) => "its standard output".to_owned(),
            Some(2) => "its standard error".to_owned(),
            _ if path.starts_with("pipe:[") => "a pipe".to_owned(),
            _ if path.starts_with("socket:[") => "a socket".to_owned(),
            _ => short(path).to_owned(),
        };
        let does = match awaited.kind {
            AwaitedKind::Writer => "write to",
            AwaitedKind::Opener => "open",
            _ => "read",
        };
        let why = awaited.unknown.as_deref().map_or_else(String::new, |why| format!(" ({why})"));
        // Of several each may wait for something else.
        let [Owner { waits_for: Some(next), .. }] = &named[..] else {
            return format!("{owners} to {does} {file}{why}");
        };
        let further = Names { own: None, rank: &|_| None }.other_end(next);
        format!("{owners} to {does} {file}{why}, which itself waits for {further}")
    }

    /// Those who have it, and whether it is one.
    fn owners(&self, of: &[Owner]) -> (bool, Option<String>) {
        let name = |owner: &Owner| {
            let pid = owner.pid?;
            match (owner.thread.filter(|_| self.own == Some(pid)), (self.rank)(pid)) {
                (Some(thread), _) => Some(format!("its thread {thread}")),
                (None, Some(rank)) => Some(rank),
                (None, None) => Some(match owner.command.as_deref().filter(|command| !command.is_empty()) {
                    Some(command) => format!("process {pid} ({command})"),
                    None => format!("process {pid}"),
                }),
            }
        };
        let mut names: Vec<String> = of.iter().filter_map(name).take(NAMED + 1).collect();
        if names.len() > NAMED {
            names.truncate(NAMED);
            names.push("others".to_owned());
        }
        (names.len() == 1, (!names.is_empty()).then(|| words::list(&names, "and")))
    }
}

/// A value in memory that these may write.
pub fn shared_memory(owners: &str) -> String {
    format!("{owners} to write to memory that they share")
}

/// A path's file with its directory.
fn short(path: &str) -> &str {
    match path.rmatch_indices('/').nth(1) {
        Some((at, _)) if at > 0 => &path[at + 1..],
        _ if path.is_empty() => "a file",
        _ => path,
    }
}

/// A lock by its kind.
pub const fn lock(kind: AwaitedKind) -> &'static str {
    match kind {
        AwaitedKind::Rwlock => "a read-write lock",
        AwaitedKind::Gil => "Python's interpreter lock (GIL)",
        AwaitedKind::Rlock => "a threading.RLock",
        AwaitedKind::FileLock => "the lock of a file",
        _ => "a mutex",
    }
}
