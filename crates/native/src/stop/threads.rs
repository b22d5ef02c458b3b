//! What `/proc` says of processes and their threads (proc(5)).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use target::processes;

/// More threads of one process are not traced.
pub(crate) const MAX_THREADS: usize = 1 << 15;

/// How a process stands, by `/proc/PID/status`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Status {
    /// The letter of its state: `R`, `S`, `D`, `T`, `t`, `Z`, `X`.
    pub state: char,
    /// The process that the thread belongs to.
    pub process: u32,
    /// The process that has started it, or whoever took it over.
    pub parent: u32,
    /// Who traces it; 0: nobody.
    pub tracer: u32,
    /// Its effective user.
    pub user: u32,
    /// Its users: the real one, the effective one, and the one that it may become again. `None` where they are not told.
    pub users: Option<[u32; 3]>,
    /// The function of the kernel in which it waits, where the kernel tells.
    pub waits_in: Option<String>,
}

/// The status of a process or thread; `None` where there is none.
pub fn status(id: u32) -> Option<Status> {
    let text = fs::read(format!("/proc/{id}/status")).ok()?;
    let text = String::from_utf8_lossy(&text);
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim);
    let number = |name: &str, at: usize| field(name)?.split_whitespace().nth(at)?.parse().ok();
    let place = fs::read_to_string(format!("/proc/{id}/wchan")).ok();
    Some(Status {
        state: field("State")?.chars().next()?,
        process: number("Tgid", 0)?,
        parent: number("PPid", 0).unwrap_or(0),
        tracer: number("TracerPid", 0).unwrap_or(0),
        user: number("Uid", 1).unwrap_or(0),
        users: number("Uid", 0).zip(number("Uid", 1)).zip(number("Uid", 2)).map(|((own, now), kept)| [own, now, kept]),
        waits_in: place.filter(|place| !place.is_empty() && place != "0"),
    })
}

/// What the kernel says of the system call that a thread is in; `None` where it does not tell, or may not.
pub(crate) fn system_call(thread: u32) -> Option<String> {
    fs::read_to_string(format!("{}/{thread}/syscall", processes::PROC)).ok()
}

/// Where a path leads that a process names, as others may follow it.
pub(crate) fn seen_by(pid: u32, path: &Path) -> PathBuf {
    let from = if path.is_absolute() { "root" } else { "cwd" };
    processes::place(pid).join(from).join(path.strip_prefix("/").unwrap_or(path))
}

/// The numbers of a process's threads.
pub(crate) fn of_process(pid: u32) -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(format!("/proc/{pid}/task"))? {
        let name = entry?.file_name();
        found.extend(name.to_str().and_then(|name| name.parse::<u32>().ok()));
        if found.len() > MAX_THREADS {
            return Err(io::Error::other(format!("it has more than {MAX_THREADS} threads")));
        }
    }
    Ok(found)
}

/// Whether a thread has ended and merely has not been waited for: the main thread of a process may, and the others go on.
pub(crate) fn has_ended(id: u32) -> bool {
    status(id).is_none_or(|status| processes::is_ended(status.state))
}
