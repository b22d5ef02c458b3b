//! What the functions of MPI wait for, as the standard has it: a table, because there are hundreds of them and few ways to wait.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::table::small;
use super::wrapping::wait_of;

/// Whom a collective operation waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Everybody for everybody.
    All,
    /// The others for the root: MPI_Bcast, MPI_Scatter. The root may go on at once.
    FromRoot,
    /// The root for the others: MPI_Gather, MPI_Reduce. The others may go on at once.
    ToRoot,
    /// Some of the members, which ones the call alone does not tell: lower ranks, neighbours, a group.
    Some,
}

/// How a function waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WaitKind {
    /// It never waits for another process.
    Local,
    /// It looks whether something has come about, and returns.
    Poll,
    /// For a message.
    Receive,
    /// For the message that a matched probe has found.
    MatchedReceive,
    /// Until its message is received, or kept by the library.
    Send,
    /// For both.
    SendReceive,
    /// For all requests that it was given.
    WaitAll,
    /// For any of them.
    WaitAny,
    /// For a message that it does not receive.
    Probe,
    /// For other members of its communicator.
    Collective(Chapter, Reach),
    /// For others in the epochs of a window.
    Epoch,
    /// In some libraries for the target to call MPI, or for a lock of its window (MPI-5.0, 12.7.3: progress).
    OneSided,
    /// For the rest of the job to start.
    Init,
    /// For the rest of the job to end.
    Finalize,
    /// It ends the job.
    Abort,
    /// For the messages in the buffer of MPI_Bsend.
    BufferDetach,
    /// For processes that are not of this job yet.
    Connect,
    /// Not in the table.
    Unknown,
}

impl WaitKind {
    /// Whether it is about a window: an access, or an epoch of accesses.
    pub fn is_one_sided(self) -> bool {
        matches!(self, Self::Epoch | Self::OneSided)
    }
}

/// The chapter of the standard that a collective function is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Chapter {
    /// Collective communication: its messages are its communicator's own.
    Communication,
    /// Neighbourhood collectives.
    Neighborhood,
    /// What makes and frees communicators.
    Communicators,
    /// What makes, frees and fences windows.
    Windows,
    /// Files.
    Files,
    /// What makes processes and connects with them.
    Processes,
}

const TEXT: &str = include_str!("waits.txt");

/// The functions that only ask whether something has come about, by their names in C.
pub fn polls() -> impl Iterator<Item = &'static str> {
    crate::all().map(|function| function.name).filter(|name| wait_kind(name) == WaitKind::Poll)
}

/// How a function waits, by its name in C; of what wraps MPI by its own name.
pub fn wait_kind(c_name: &str) -> WaitKind {
    if let Some(kind) = wait_of(c_name) {
        return kind;
    }
    let name = small(c_name).strip_prefix("MPI_").unwrap_or_default();
    wait_kinds().get(name).copied().unwrap_or(WaitKind::Unknown)
}

fn wait_kinds() -> &'static HashMap<&'static str, WaitKind> {
    static KINDS: OnceLock<HashMap<&'static str, WaitKind>> = OnceLock::new();
    KINDS.get_or_init(|| {
        let mut found = HashMap::new();
        let mut kind = WaitKind::Unknown;
        for line in TEXT.lines().filter(|line| !line.starts_with('#')) {
            match line.strip_prefix(' ') {
                Some(names) => found.extend(names.split_whitespace().map(|name| (name, kind))),
                None => kind = of_words(line),
            }
        }
        found
    })
}

/// A way by its words in the file.
fn of_words(line: &str) -> WaitKind {
    match line {
        "receive" => WaitKind::Receive,
        "matched-receive" => WaitKind::MatchedReceive,
        "send" => WaitKind::Send,
        "send-receive" => WaitKind::SendReceive,
        "wait-all" => WaitKind::WaitAll,
        "wait-any" => WaitKind::WaitAny,
        "probe" => WaitKind::Probe,
        "poll" => WaitKind::Poll,
        "epoch" => WaitKind::Epoch,
        "one-sided" => WaitKind::OneSided,
        "init" => WaitKind::Init,
        "finalize" => WaitKind::Finalize,
        "abort" => WaitKind::Abort,
        "buffer-detach" => WaitKind::BufferDetach,
        "connect" => WaitKind::Connect,
        "local" | "former-local" => WaitKind::Local,
        _ => collective(line).unwrap_or(WaitKind::Unknown),
    }
}

fn collective(line: &str) -> Option<WaitKind> {
    let (chapter, reach) = line.split_once(' ')?;
    let chapter = match chapter {
        "collective" => Chapter::Communication,
        "neighborhood" => Chapter::Neighborhood,
        "communicator" => Chapter::Communicators,
        "window" => Chapter::Windows,
        "file" => Chapter::Files,
        "process" => Chapter::Processes,
        _ => return None,
    };
    let reach = match reach {
        "all" => Reach::All,
        "from-root" => Reach::FromRoot,
        "to-root" => Reach::ToRoot,
        "some" => Reach::Some,
        _ => return None,
    };
    Some(WaitKind::Collective(chapter, reach))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_of_functions() {
        for (name, expected) in [
            ("MPI_Recv", WaitKind::Receive),
            ("MPI_Recv_c", WaitKind::Receive),
            ("MPI_Irecv", WaitKind::Local),
            ("MPI_Ibarrier", WaitKind::Local),
            ("MPI_Iprobe", WaitKind::Poll),
            ("MPI_Init", WaitKind::Init),
            ("MPI_Init_thread", WaitKind::Init),
            ("MPI_Initialized", WaitKind::Local),
            ("MPI_Info_set", WaitKind::Local),
            ("MPI_Intercomm_create", WaitKind::Collective(Chapter::Communicators, Reach::Some)),
            ("MPI_Comm_rank", WaitKind::Local),
            ("MPI_Comm_split", WaitKind::Collective(Chapter::Communicators, Reach::All)),
            ("MPI_Bcast_c", WaitKind::Collective(Chapter::Communication, Reach::FromRoot)),
            ("MPI_Comm_flush_buffer", WaitKind::BufferDetach),
            ("MPI_Type_struct", WaitKind::Local),
            ("MPI_Send_init", WaitKind::Local),
            ("MPI_Bsend", WaitKind::Local),
            ("MPI_Win_wait", WaitKind::Epoch),
            ("MPI_Win_get_attr", WaitKind::Local),
            ("MPI_Frobnicate", WaitKind::Unknown),
            ("", WaitKind::Unknown),
        ] {
            assert_eq!(wait_kind(name), expected, "{name}");
        }
    }

    #[test]
    fn every_function_of_the_standard_is_named_once() {
        let mut named: Vec<&str> = TEXT
            .split("\nformer-local\n")
            .next()
            .unwrap_or_default()
            .lines()
            .filter_map(|line| line.strip_prefix(' '))
            .flat_map(str::split_whitespace)
            .collect();
        named.sort_unstable();
        let mut functions: Vec<&str> = crate::all().filter_map(|one| one.name.strip_prefix("MPI_")).collect();
        functions.sort_unstable();
        assert_eq!(named, functions);
        assert!(wait_kinds().values().all(|kind| *kind != WaitKind::Unknown));
    }

    #[test]
    fn what_the_parameters_say_agrees() {
        for function in crate::all() {
            let given = function.takes_requests();
            let waits_for_requests = matches!(wait_kind(function.name), WaitKind::WaitAll | WaitKind::WaitAny);
            assert!(!waits_for_requests || given, "{}", function.name);
            // A function that returns a request does not wait for what the request stands for.
            let starts = function
                .parameters
                .iter()
                .any(|one| one.object() == Some(crate::HandleKind::Request) && one.direction == crate::Direction::Out);
            assert!(!starts || wait_kind(function.name) == WaitKind::Local, "{}", function.name);
        }
    }
}
