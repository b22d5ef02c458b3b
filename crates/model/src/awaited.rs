//! What a thread waits for outside MPI, and who can end that.

use serde::{Deserialize, Serialize};

use super::Text;

/// What a thread waits for that another one has or does.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Awaited {
    /// What it is.
    pub kind: AwaitedKind,
    /// The file: its path, or what the kernel calls one without a path (`pipe:[4711]`, proc(5)).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<Text>,
    /// The number by which the process has the file open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub descriptor: Option<i64>,
    /// Who can end the wait: all of them must, but of a file that is read or written any one.
    pub owners: Vec<Owner>,
    /// Why owners are not known, where there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unknown: Option<Text>,
}

/// The kinds of what a thread waits for outside MPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AwaitedKind {
    /// A lock of a file: `fcntl`, `lockf` or `flock`.
    FileLock,
    /// A mutex of pthreads, whose owner is the thread that has locked it.
    #[default]
    Mutex,
    /// A lock of pthreads for readers and writers, which a writer has locked.
    Rwlock,
    /// Python's global interpreter lock, which the thread has that runs Python, or that has not given it back.
    Gil,
    /// A `threading.RLock` of Python, whose owner is the thread that has locked it.
    Rlock,
    /// Those threads of its OpenMP team that have not come to the barrier, or to the end of the parallel region.
    Team,
    /// The end of a thread (`pthread_join`).
    Thread,
    /// The end of a child process (`wait4`, `waitid`).
    Child,
    /// Somebody who reads what it writes to a pipe, a FIFO or a socket that takes no more.
    Reader,
    /// Somebody who writes what it reads from one.
    Writer,
    /// Somebody who opens the other end of a FIFO.
    Opener,
    /// Perhaps a value in memory that it has at hand: those who have mapped that, too, may write it. It runs.
    SharedMemory,
}

/// A thread or a process for which a thread waits.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Owner {
    /// Its process, by its id on the host.
    pub pid: Option<i64>,
    /// The debugger's number of the thread, of one of the same process; null: any of the process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<i64>,
    /// The name of the program, never its arguments; null: it is of the same process, or not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Text>,
    /// What it waits for itself to read or to write, of one that is not of the job.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<Box<Awaited>>,
    /// Whether it is there no more: nobody can end the wait.
    #[serde(skip_serializing_if = "super::process::is_false")]
    pub ended: bool,
}
