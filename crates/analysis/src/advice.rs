//! What to change, and at which line: one place for all findings.

use super::blame;
use crate::waits::{Standstill, is_heap};
use model::{Exception, ExceptionState, Finding, FindingKind};

/// Collectives with a count for each rank.
const COUNTS_OF_EACH: [&str; 9] = [
    "MPI_Allgatherv",
    "MPI_Alltoallv",
    "MPI_Alltoallw",
    "MPI_Gatherv",
    "MPI_Neighbor_allgatherv",
    "MPI_Neighbor_alltoallv",
    "MPI_Neighbor_alltoallw",
    "MPI_Reduce_scatter",
    "MPI_Scatterv",
];

/// How ranks wait for one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Circle {
    /// All for messages.
    Receives,
    /// All for somebody to receive theirs.
    Sends,
    /// For requests: messages that they have begun to receive.
    Requests,
    /// One for itself.
    Itself,
    /// All of them in one call of a collective operation.
    OneCall,
    /// Some of them in collective operations.
    Collectives,
    /// Some of them for a lock, which others of them hold.
    Held,
    /// Some of them for what others are to write, to read or to end.
    Ends,
    /// A thread for a lock that it holds itself.
    Relocked,
    /// A thread for a lock whose holder has ended.
    NeverUnlocked,
    /// Threads of one process for locks of one another.
    OrderOfLocks,
    /// For requests that were freed.
    Freed,
    /// In other ways.
    Mixed,
}

/// What a rank for which others wait does outside MPI, or in calls that wait for nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outside {
    /// The kernel holds it.
    Stopped(Standstill),
    /// It waits for a GPU, or for others through a library of GPUs.
    Device,
    /// It waits for what somebody outside the job, or another thread, has.
    Held,
    /// It waits for another thread.
    Lock,
    /// It opens a FIFO of which nobody has the other end.
    Opening,
    /// It reads input.
    Input,
    /// It writes to what takes no more.
    Output,
    /// It computes, or sleeps.
    Work,
    /// It computes, or looks at its own memory, while others wait in one-sided calls.
    Target,
    /// It is in one-sided calls that end by themselves.
    Accesses,
    /// It is in the handler of a signal.
    Handler,
    /// It has not called MPI_Init.
    NotStarted,
    /// It is in an MPI function that waits for nobody.
    Call,
}

/// What is to be changed, where the kind of a finding alone does not say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// What the kind says.
    Usual(FindingKind),
    /// The order of calls that wait for one another.
    Order(Circle),
    /// What a rank does for which others wait.
    Rank(Outside),
    /// The communicators of collective operations, or the order in which these are used.
    Communicators,
    /// The order of collective operations on several communicators.
    OrderOfCommunicators,
    /// Whom the ranks in one call of a collective name.
    Partners,
    /// By which name they make a communicator of a group.
    Names,
    /// The counts and datatypes of collective operations.
    Contents,
    /// The order of messages.
    OrderOfMessages,
    /// Requests of a rank that has finished.
    Unfinished,
    /// An exception that ended a Python program.
    Unhandled,
    /// An exception in whose handler a Python program came to its end.
    Handled,
    /// The message for which a rank waits before it enters a collective.
    Before,
    /// A rank that has ended, nobody knows how.
    Gone,
    /// The end of a program by itself.
    Ending,
    /// A Python program that has ended, perhaps by an exception.
    PythonEnded,
}

/// Adds what to change if the first exception of a finding is the reason.
pub fn of_exceptions(finding: &mut Finding, exception: &Exception) {
    complete(finding);
    if let Some(advice) = &mut finding.advice {
        advice.push(' ');
        advice.push_str(&of_exception(exception));
    }
}

/// What to change of an exception.
fn of_exception(exception: &Exception) -> String {
    match exception.state {
        ExceptionState::Handled | ExceptionState::Unhandled => {
            "If this exception is the reason, make its handler do what the others wait for, or end all ranks \
             (comm.Abort(), MPI_Abort)."
                .to_owned()
        }
        ExceptionState::Unwinding => {
            "A destructor that runs because of an exception must not wait for other ranks: call MPI_Abort where one rank \
             throws, or catch the exception and tell all ranks."
                .to_owned()
        }
        ExceptionState::Signal => {
            let in_heap = exception.name == "SIGABRT" && exception.within.as_deref().is_some_and(is_heap);
            let damaged = if in_heap {
                "The C library calls abort there when it finds a corrupted heap. The corruption happened earlier: look for it \
                 with valgrind or -fsanitize=address. "
            } else {
                ""
            };
            format!(
                "{damaged}A signal handler must not allocate memory, use streams or call MPI: make it call _exit, or remove \
                 it."
            )
        }
        ExceptionState::Ended => {
            "If an exception ended the program, its standard error says which. Run it with python -m mpi4py to end all ranks \
             when that happens."
                .to_owned()
        }
        ExceptionState::Ending => {
            "A rank that cannot go on must end all ranks (MPI_Abort), not only itself.".to_owned()
        }
    }
}

/// Fills in what to change, by the blamed calls of a finding.
pub fn give(finding: &mut Finding, change: Change) {
    finding.advice = Some(words(change, finding));
}

/// Gives the usual advice to a finding that has none.
pub fn complete(finding: &mut Finding) {
    if finding.advice.is_none() {
        give(finding, Change::Usual(finding.kind));
    }
}

/// One or two sentences. Places are named without their lines, which stand in the table of the finding.
fn words(change: Change, finding: &Finding) -> String {
    let first = finding.blamed.first().map_or("that call", blame::name);
    let plain = match change {
        Change::Usual(kind) => return of_kind(kind, finding, first),
        Change::Order(circle) => return of_circle(circle, finding, first),
        Change::Rank(doing) => return of_rank(doing, first),
        Change::Unfinished => {
            return format!("Complete every request (MPI_Wait, MPI_Test or the like) before {first}.");
        }
        Change::Communicators => {
            "Use the same communicator in these calls, or if both are meant, call them in the same order on all ranks."
        }
        Change::OrderOfCommunicators => "Call the collectives of these communicators in the same order on all ranks.",
        Change::Contents => "Use the same count and datatype in all of these calls.",
        Change::Partners => "Make both ranks name each other in this call, or when the communicator is created.",
        Change::Names => "Pass the same group and the same name on all of its members.",
        Change::OrderOfMessages => "Send and receive these messages in the same order.",
        Change::Unhandled => {
            "Fix what raises the exception; python -m mpi4py ends all ranks where one has an unhandled one."
        }
        Change::Handled => "Make the exception handler do what the others wait for, or end all ranks (comm.Abort()).",
        Change::Before => {
            "Send and receive the message before the others enter the collective, or remove the call that waits for it."
        }
        Change::Gone => "Find out how the rank ended: standard error, a core file, dmesg.",
        Change::Ending => "Make a rank that cannot go on end all ranks (MPI_Abort).",
        Change::PythonEnded => {
            "Make the rank that has ended do its part first. If an exception ended it, python -m mpi4py would end all ranks."
        }
    };
    plain.to_owned()
}

/// By the kind of a finding alone.
fn of_kind(kind: FindingKind, finding: &Finding, first: &str) -> String {
    let plain = match kind {
        FindingKind::Deadlock => return of_circle(Circle::Mixed, finding, first),
        FindingKind::StuckOutside => return of_rank(Outside::Lock, first),
        FindingKind::SlowRank => return of_rank(Outside::Work, first),
        FindingKind::Polling => {
            return format!("Nobody sends what it asks for: check what ends the loop around {first}.");
        }
        FindingKind::OddRank => return format!("Find out how that rank got to {first}: the others may wait for it."),
        FindingKind::CollectiveMismatch => {
            let same = "Make all ranks of the communicator call the same collectives in the same order.";
            return same.to_owned() + &of_counts(finding);
        }
        FindingKind::MissingInCollective => {
            let missing = "Make the missing ranks reach the call in which the others wait, or remove that call.";
            return missing.to_owned() + &of_counts(finding);
        }
        FindingKind::OneSidedEpochs => {
            let mut names = finding.blamed.iter().map(|one| one.function.as_str());
            of_epochs(names.find(|name| name.starts_with("MPI_Win_")))
        }
        FindingKind::FinishedRank => {
            "Make the rank that has ended do its part first, or remove the call that waits for it."
        }
        FindingKind::TagMismatch => "Use the same tag in the send and the receive.",
        FindingKind::CommunicatorMismatch => "Use the same communicator in the send and the receive.",
        FindingKind::RankMismatch => "Make the destination of the send and the source of the receive name each other.",
        FindingKind::Truncation => "Make the receive at least as long as the message, or send less.",
        FindingKind::CountMismatch => "Use the same count and datatype on both sides.",
        FindingKind::DatatypeMismatch => "Use the same datatype in the send and the receive.",
        FindingKind::OperatorMismatch => "Use the same operator in all of these calls.",
        FindingKind::RootMismatch => "Use the same root in all of these calls.",
        FindingKind::UnmatchedSend => "Post a receive that matches, or remove the send.",
        FindingKind::UnmatchedReceive => "Send what it waits for, or remove the receive.",
        FindingKind::NeverStarted => "Start the request with MPI_Start or MPI_Startall before each wait for it.",
        FindingKind::NeverCompleted => "Complete every request with MPI_Wait, MPI_Test or the like.",
        FindingKind::UnexpectedFlood => {
            "Post the receives earlier, or make the senders wait for the receiver (MPI_Ssend, credits)."
        }
    };
    plain.to_owned()
}

/// What else may be wrong where ranks wait in a collective whose counts are those of each rank: who is to send and to receive nothing
/// there has left it.
fn of_counts(finding: &Finding) -> String {
    let functions = finding.blamed.iter().map(|one| one.function.as_str());
    let mut of_each = functions.filter(|name| COUNTS_OF_EACH.contains(name));
    of_each.next().map_or_else(String::new, |name| {
        format!(" Or the counts of {name} disagree: a rank with nothing to send and receive leaves it at once.")
    })
}

fn of_circle(circle: Circle, finding: &Finding, first: &str) -> String {
    let plain = match circle {
        Circle::Receives => "One of these ranks must send before it receives, or use MPI_Sendrecv.",
        Circle::Sends => {
            return format!(
                "One of these ranks must post its receive first: MPI_Irecv before {first}, or MPI_Sendrecv."
            );
        }
        Circle::Itself => {
            return format!(
                "A rank that waits for itself cannot do the other side: start that (MPI_Isend, MPI_Irecv) before {first}."
            );
        }
        Circle::Requests => return of_requests(finding, first),
        Circle::OneCall => "Compare what each rank passes to this call: root, ranks, counts, communicator.",
        Circle::Relocked => "Unlock it before locking it again, or make it recursive.",
        Circle::NeverUnlocked => "Unlock it on every path out of the thread that locks it.",
        Circle::Freed => "Free a request only after the call that waits for it.",
        Circle::OrderOfLocks => {
            "Make all threads take these locks in the same order, or release what they hold before they wait."
        }
        Circle::Ends => "Do what another rank waits for outside MPI before waiting for others in MPI.",
        Circle::Held => "Release the lock before waiting for others in MPI.",
        Circle::Collectives => "Make these calls in the same order on all ranks.",
        Circle::Mixed => "One of these ranks must do what the others wait for before it waits itself.",
    };
    plain.to_owned()
}

/// The call that waits is where the send has to stand before.
fn of_requests(finding: &Finding, first: &str) -> String {
    let mut blame = blame::Blame::default();
    if let Some(waits) = finding.calls.first() {
        blame.standing(waits.rank, &waits.call);
    }
    let places = blame.places();
    let wait = places.first().map_or(first, blame::name);
    format!("One of these ranks must start its send before it waits in {wait}.")
}

/// By the function in which a rank waits.
fn of_epochs(function: Option<&str>) -> &'static str {
    match function.unwrap_or_default() {
        "MPI_Win_wait" => "Make each rank of the group of MPI_Win_post reach MPI_Win_complete.",
        "MPI_Win_start" | "MPI_Win_complete" => {
            "Make each target reach MPI_Win_post before it waits for what this rank does later."
        }
        "MPI_Win_fence" => "Make all ranks of the window reach MPI_Win_fence.",
        name if name.starts_with("MPI_Win_lock")
            || name.starts_with("MPI_Win_unlock")
            || name.starts_with("MPI_Win_flush") =>
        {
            "Make the rank that has locked the window unlock it before it waits for others."
        }
        _ => {
            "Match each post with a start, each start with a complete, each lock with an unlock; all members must call a fence."
        }
    }
}

fn of_rank(doing: Outside, first: &str) -> String {
    match doing {
        Outside::Stopped(Standstill::Signal) => {
            format!("Resume the rank: kill -CONT with its process id. It was stopped in {first}.")
        }
        Outside::Stopped(Standstill::Cgroup) => {
            format!("Resume the rank: write 0 to cgroup.freeze of its cgroup. It was frozen in {first}.")
        }
        Outside::Device => {
            format!("Check what the GPU does (cuda-gdb, rocgdb), and whether all ranks reach what it needs: {first}.")
        }
        Outside::Held => format!("Find out who holds what {first} waits for."),
        Outside::Lock => format!("Check all threads of that rank: which one holds what {first} waits for?"),
        Outside::Opening => format!("Open the other end of the FIFO that {first} opens."),
        Outside::Input => format!("Give it the input, or check why {first} reads any."),
        Outside::Output => "Read that output: a full pipe takes no more, and the launcher passes on only what is read \
             from it."
            .to_owned(),
        Outside::Work => {
            format!("Check whether {first} finishes, or waits itself for what the others do later: a file, a flag.")
        }
        Outside::Target => {
            format!(
                "If {first} waits for what the others write, it must call MPI meanwhile (MPI_Iprobe, MPI_Win_flush_all)."
            )
        }
        Outside::Accesses => {
            format!(
                "If the loop around {first} waits for what another rank writes, make that rank write it before it waits."
            )
        }
        Outside::Handler => format!("Find out why the signal came: {first}."),
        Outside::NotStarted => format!("Check what the rank does before MPI_Init: {first}."),
        Outside::Call => format!("Look again: does the rank leave the loop around {first}?"),
    }
}
