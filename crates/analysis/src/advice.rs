//! What to change, and at which line: one place for all findings.

use super::blame;
use crate::waits::is_heap;
use model::{Exception, ExceptionState, Finding, FindingKind};

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
    /// It was stopped by a signal.
    Stopped,
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

/// What is to be changed, where the kind of a finding alone does not tell it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// What the kind tells.
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

/// Adds what to change if the first exception that a finding tells is the reason.
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
            "If the exception is the reason, its handler has to do what the others wait for, or to end all ranks \
             (comm.Abort(), MPI_Abort)."
                .to_owned()
        }
        ExceptionState::Unwinding => {
            "Destructors that are called for an exception must not wait for other ranks: end all ranks (MPI_Abort) where one \
             throws, or catch it and let all of them know."
                .to_owned()
        }
        ExceptionState::Signal => {
            let found = exception.name == "SIGABRT" && exception.within.as_deref().is_some_and(is_heap);
            let damaged = if found {
                "The C library calls abort there where it finds the heap damaged, which has happened before: look for it with \
                 valgrind or -fsanitize=address. "
            } else {
                ""
            };
            format!(
                "{damaged}The handler of a signal must not allocate memory, use streams or call MPI: let it call _exit, or take \
                 it out."
            )
        }
        ExceptionState::Ended => {
            "Where an exception ended the program, what it has written to its standard error tells it; python -m mpi4py ends \
             all ranks then."
                .to_owned()
        }
        ExceptionState::Ending => {
            "A rank that cannot go on has to end all of them (MPI_Abort), not only itself.".to_owned()
        }
    }
}

/// Says what to change of a finding whose blamed calls are told.
pub fn give(finding: &mut Finding, change: Change) {
    finding.advice = Some(words(change, finding));
}

/// Gives the usual advice to a finding that has none.
pub fn complete(finding: &mut Finding) {
    if finding.advice.is_none() {
        give(finding, Change::Usual(finding.kind));
    }
}

/// One or two sentences.
fn words(change: Change, finding: &Finding) -> String {
    let blamed = finding.blamed.as_slice();
    let all = blame::listed(blamed, "and");
    let with = |text: &str| if all.is_empty() { format!("{text}.") } else { format!("{text}: {all}.") };
    let first = blamed.first().map_or_else(|| "that call".to_owned(), blame::place);
    let kind = match change {
        Change::Order(circle) => return of_circle(circle, finding, &first, with),
        Change::Rank(what) => return of_rank(what, &first),
        Change::Communicators => {
            return with("Use the same communicator in these calls; where both are meant, in one order on all ranks");
        }
        Change::OrderOfCommunicators => {
            return with("Call the collectives of these communicators in one order on all ranks");
        }
        Change::Contents => return with("Give the same count and datatype in all of these calls"),
        Change::Partners => {
            return with("Let both ranks name each other in this call, or when the communicator is made");
        }
        Change::Names => return with("Give the same group under the same name on all of its members"),
        Change::OrderOfMessages => return with("Send and receive these messages in the same order"),
        Change::Unfinished => {
            return format!("Complete every request (MPI_Wait, MPI_Test or one of their kin) before {first}.");
        }
        Change::Unhandled => {
            return with(
                "Mend what raises the exception; python -m mpi4py ends all ranks where one has an unhandled one",
            );
        }
        Change::Handled => {
            return with(
                "Let the handler of the exception do what the others wait for, or end all ranks (comm.Abort())",
            );
        }
        Change::Before => {
            return with(
                "Let the message be sent and received before the others enter the collective, or take the call out that waits for it",
            );
        }
        Change::Gone => {
            return with("Look how the rank ended: standard error, a core file, dmesg. These wait for it");
        }
        Change::Ending => return with("Let a rank that cannot go on end all of them (MPI_Abort)"),
        Change::PythonEnded => {
            return with(
                "Let the rank that has ended do its part first. Where an exception ended it, python -m mpi4py ends all ranks",
            );
        }
        Change::Usual(kind) => kind,
    };
    match kind {
        FindingKind::Deadlock => of_circle(Circle::Mixed, finding, &first, with),
        FindingKind::FinishedRank => {
            with("Let the rank that has ended do its part first, or take out the call that waits for it")
        }
        FindingKind::StuckOutside => of_rank(Outside::Lock, &first),
        FindingKind::SlowRank => of_rank(Outside::Work, &first),
        FindingKind::Polling => format!("Nobody sends what is asked for: look what ends the loop around {first}."),
        FindingKind::TagMismatch => with("Give the send and the receive the same tag"),
        FindingKind::CommunicatorMismatch => with("Give the send and the receive the same communicator"),
        FindingKind::RankMismatch => {
            with("Let the destination of the send and the source of the receive name each other")
        }
        FindingKind::Truncation => with("Make the receive at least as long as the message, or send less"),
        FindingKind::CountMismatch => with("Give the same count and datatype on both sides"),
        FindingKind::DatatypeMismatch => with("Give the send and the receive the same datatype"),
        FindingKind::CollectiveMismatch => {
            with("Let all ranks of the communicator call the same collectives in the same order")
        }
        FindingKind::OperatorMismatch => with("Give the same operator in all of these calls"),
        FindingKind::RootMismatch => with("Give the same root in all of these calls"),
        FindingKind::MissingInCollective => {
            with("Lead the ranks that are missing to the call in which the others wait, or take that call out")
        }
        FindingKind::UnmatchedSend => with("Post a receive that fits, or take the send out"),
        FindingKind::UnmatchedReceive => with("Send what it waits for, or take the receive out"),
        FindingKind::NeverStarted => {
            with("Start the request with MPI_Start or MPI_Startall, anew before each wait for it")
        }
        FindingKind::NeverCompleted => with("Complete every request with MPI_Wait, MPI_Test or one of their kin"),
        FindingKind::UnexpectedFlood => {
            with("Let the receiver post its receives earlier, or let the senders wait for it (MPI_Ssend, a credit)")
        }
        FindingKind::OddRank => format!("Look how that rank came to {first}: the others may wait for it."),
        FindingKind::OneSidedEpochs => {
            with(of_epochs(blamed.iter().map(|one| one.function.as_str()).find(|name| name.starts_with("MPI_Win_"))))
        }
    }
}

fn of_circle(circle: Circle, finding: &Finding, first: &str, with: impl Fn(&str) -> String) -> String {
    match circle {
        Circle::Receives => {
            format!("One of these ranks has to send before it receives: before {first}, or with MPI_Sendrecv.")
        }
        Circle::Sends => {
            format!("One of these ranks has to post its receive first: MPI_Irecv before {first}, or MPI_Sendrecv.")
        }
        Circle::Itself => format!(
            "A rank that waits cannot do the other side as well: start that (MPI_Isend, MPI_Irecv) before {first}."
        ),
        Circle::Requests => of_requests(finding, first),
        Circle::OneCall => with("Compare what each rank gives this call: the root, ranks, counts, the communicator"),
        Circle::Relocked => with("Unlock it before it is locked again, or make it recursive"),
        Circle::NeverUnlocked => with("Unlock it on every way out of the thread that has locked it"),
        Circle::Freed => with("Free a request only after the call that waits for it"),
        Circle::OrderOfLocks => {
            with("Let all threads take these in one order, or give back what they have before they wait")
        }
        Circle::Ends => with("Do what another rank waits for outside MPI before waiting for others in MPI"),
        Circle::Held => with("Give the lock back before waiting for others in MPI"),
        Circle::Collectives => with("Bring these calls into one order on all ranks"),
        Circle::Mixed => with("One of these ranks has to do what the others wait for before it waits itself"),
    }
}

/// The call that waits is where the send has to stand before.
fn of_requests(finding: &Finding, first: &str) -> String {
    let mut blame = blame::Blame::default();
    if let Some(waits) = finding.calls.first() {
        blame.standing(waits.rank, &waits.call);
    }
    let wait = blame.places().first().map_or_else(|| first.to_owned(), blame::place);
    format!("One of these ranks has to start its send before it waits: before {wait}.")
}

/// By the function in which a rank waits.
fn of_epochs(function: Option<&str>) -> &'static str {
    match function.unwrap_or_default() {
        "MPI_Win_wait" => "Let each rank of the group that MPI_Win_post was given come to MPI_Win_complete",
        "MPI_Win_start" | "MPI_Win_complete" => {
            "Let each target come to MPI_Win_post before it waits for what this rank does later"
        }
        "MPI_Win_fence" => "Let all ranks of the window come to MPI_Win_fence",
        name if name.starts_with("MPI_Win_lock")
            || name.starts_with("MPI_Win_unlock")
            || name.starts_with("MPI_Win_flush") =>
        {
            "Let the rank that has locked the window unlock it before it waits for others"
        }
        _ => "Give each post its start, each start its complete, each lock its unlock, each fence all members",
    }
}

fn of_rank(what: Outside, first: &str) -> String {
    match what {
        Outside::Stopped => format!("Let the rank go on: kill -CONT with its process id. It was stopped in {first}."),
        Outside::Device => format!(
            "Look what the GPU does (cuda-gdb, rocgdb), and whether all ranks come to what it needs: {first}."
        ),
        Outside::Held => format!("Look at who has what {first} waits for."),
        Outside::Lock => format!("Look at all threads of that rank: who holds what {first} waits for?"),
        Outside::Opening => format!("Let somebody open the other end of the FIFO that {first} opens."),
        Outside::Input => format!("Give it the input, or look why {first} reads any."),
        Outside::Output => {
            "Let somebody read that output: a pipe takes no more when it is full, and the launcher passes on only what is \
             read from it."
                .to_owned()
        }
        Outside::Work => {
            format!(
                "Look whether {first} comes to an end, or waits itself for what the others do later: a file, a flag."
            )
        }
        Outside::Target => {
            format!(
                "If {first} waits for what the others write, it has to call MPI meanwhile (MPI_Iprobe, MPI_Win_flush_all)."
            )
        }
        Outside::Accesses => {
            format!(
                "If the loop around {first} waits for what another rank writes, let that rank write it before it waits."
            )
        }
        Outside::Handler => format!("Look why the signal came: {first}."),
        Outside::NotStarted => format!("Look what the rank does before MPI_Init: {first}."),
        Outside::Call => format!("Look again, whether the rank comes out of the loop around {first}."),
    }
}
