//! What a stack says of exceptions of C++, of signals, and of the end of the program.

use super::{Exception, ExceptionState, Frame, Stack};

/// The signals of Linux on x86-64 and AArch64 by their numbers, from 1 (`include/uapi/asm-generic/signal.h`).
const SIGNALS: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

/// That of abort.
const SIGABRT: i64 = 6;

/// The name of a signal; empty where it is not known.
fn signal(number: i64) -> String {
    let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    match place.and_then(|place| SIGNALS.get(place)) {
        Some(name) => (*name).to_owned(),
        // The first ones are the C library's own (nptl/internaltypes.h).
        None if (34..=64).contains(&number) => format!("SIGRTMIN+{}", number - 34),
        None => String::new(),
    }
}

/// How a program ends itself, by the library's function: as its language calls it. What starts and ends each process calls
/// `exit` as well, but below `main` nobody asks.
const ENDINGS: &[(&str, &str)] = &[
    ("exit", "exit"),
    ("quick_exit", "quick_exit"),
    ("_gfortran_error_stop_numeric", "ERROR STOP"),
    ("_gfortran_error_stop_string", "ERROR STOP"),
    ("_gfortran_stop_numeric", "STOP"),
    ("_gfortran_stop_string", "STOP"),
    ("_gfortran_exit_i4", "EXIT"),
    ("_gfortran_exit_i8", "EXIT"),
    ("_gfortran_runtime_error", "a run-time error"),
    ("_gfortran_runtime_error_at", "a run-time error"),
    ("_gfortran_os_error_at", "a run-time error"),
    ("_gfortran_generate_error", "a run-time error"),
    ("_FortranAStopStatement", "STOP"),
    ("_FortranAStopStatementText", "STOP"),
    ("for_stop_core", "STOP"),
];

/// What C++ calls for an exception that nobody catches ("std::terminate", ISO C++; libstdc++, libsupc++/eh_terminate.cc).
const TERMINATES: [&str; 2] = ["std::terminate", "__cxxabiv1::__terminate"];

impl Stack {
    /// What took the thread off its way, the latest first.
    pub fn exceptions(&self) -> Vec<Exception> {
        let mut found = Vec::new();
        let named = |frame: &Frame| frame.function.as_deref().map(|name| plain(name).to_owned());
        let ended = (self.frames.iter().enumerate().rev())
            .find_map(|(at, frame)| Some((at, ending(frame)?)))
            .map(|(at, name)| (at, Exception { name, state: ExceptionState::Ending, ..self.place(at + 1) }));
        let terminated = self.frames.iter().rposition(|frame| {
            frame.function.as_deref().is_some_and(|name| TERMINATES.contains(&name)) && frame.application != Some(true)
        });
        for (at, frame) in self.frames.iter().enumerate() {
            let Some(number) = frame.signal else { continue };
            let own = self.own(at + 1).unwrap_or(self.frames.len());
            let called = self.frames.get(at + 1..own).unwrap_or_default();
            // What abort sends itself is told by nobody where the number is not known.
            let aborts = called.iter().filter_map(named).any(|name| name == "abort");
            found.push(Exception {
                name: if number == 0 && aborts { signal(SIGABRT) } else { signal(number) },
                state: ExceptionState::Signal,
                within: called.last().and_then(named),
                handler: at.checked_sub(1).and_then(|inner| self.frames.get(inner)?.function.clone()),
                ..self.place(at + 1)
            });
        }
        if let Some(at) = terminated {
            // What it calls for the last of its own: the exception is still where it was thrown.
            let name = self.caught.clone().unwrap_or_default();
            found.push(Exception { name, state: ExceptionState::Unhandled, ..self.place(at + 1) });
        } else if self.unwinding {
            found.push(Exception { state: ExceptionState::Unwinding, ..self.place(self.destructor()) });
        } else if let Some(name) = &self.caught {
            // Where it was thrown is not kept.
            found.push(Exception { name: name.clone(), ..Exception::default() });
        }
        found.extend(ended.map(|(_, ended)| ended));
        found.retain(|one| one.function.is_some() || one.state != ExceptionState::Ending);
        found.into_iter().map(|one| Exception { thread: Some(self.thread), ..one }).collect()
    }

    /// The place of the application's innermost frame from `from` outwards.
    fn own(&self, from: usize) -> Option<usize> {
        let frames = self.frames.get(from..)?;
        Some(from + frames.iter().position(|frame| frame.application == Some(true) && !frame.wrapper)?)
    }

    /// Where the application stands, from `from` outwards.
    fn place(&self, from: usize) -> Exception {
        // A program's own file begins with that.
        let begins = |frame: &&Frame| frame.function.as_deref() == Some("_start");
        let own = self.own(from).and_then(|at| self.frames.get(at)).filter(|frame| !begins(frame));
        Exception {
            function: own.and_then(|frame| frame.function.clone()),
            file: own.and_then(|frame| frame.file.clone()),
            line: own.and_then(|frame| frame.line),
            ..Exception::default()
        }
    }

    /// The place behind the outermost destructor on the stack: an exception calls it, and so its function is the one that is
    /// left. Where none has a name, one that is inlined stands in the application's innermost function.
    fn destructor(&self) -> usize {
        let destroys = |frame: &Frame| {
            frame.application == Some(true) && frame.function.as_deref().is_some_and(|name| name.contains("::~"))
        };
        self.frames.iter().rposition(destroys).map_or(0, |at| at + 1)
    }
}

fn ending(frame: &Frame) -> Option<String> {
    let name = frame.function.as_deref().filter(|_| frame.application != Some(true))?;
    ENDINGS.iter().find(|(function, _)| *function == plain(name)).map(|(_, said)| (*said).to_owned())
}

/// A function of the C library as programs call it: its own symbols are there where its debug information is.
fn plain(name: &str) -> &str {
    name.trim_start_matches("__GI_").trim_start_matches("__libc_")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Functions from the innermost; the application's begin with `*`.
    fn stack(functions: &[&str]) -> Stack {
        let frame = |name: &&str| Frame {
            function: Some(name.trim_start_matches('*').to_owned()),
            application: Some(name.starts_with('*')),
            signal: name.contains("signal").then_some(6),
            line: Some(7),
            ..Frame::default()
        };
        Stack { thread: 1, complete: true, frames: functions.iter().map(frame).collect(), ..Stack::default() }
    }

    #[test]
    fn a_signal_says_what_it_interrupted_and_who_handles_it() {
        let found = stack(&["futex", "malloc", "*dump", "<signal>", "raise", "abort", "malloc", "*advance", "*main"]);
        let found = found.exceptions();
        assert_eq!(found.len(), 1);
        let one = &found[0];
        assert_eq!((one.name.as_str(), one.state), ("SIGABRT", ExceptionState::Signal));
        assert_eq!((one.handler.as_deref(), one.within.as_deref()), (Some("dump"), Some("malloc")));
        assert_eq!(one.function.as_deref(), Some("advance"));
        // One that came while the program itself ran interrupted no call.
        let found = stack(&["*dump", "<signal>", "*advance", "*main"]).exceptions();
        assert_eq!((found[0].within.as_deref(), found[0].function.as_deref()), (None, Some("advance")));
    }

    #[test]
    fn an_exception_that_unwinds_is_told_of_the_function_that_it_leaves() {
        let mut stack = stack(&["poll", "MPI_Win_free", "*Team::~Team", "*run", "*main"]);
        assert!(stack.exceptions().is_empty());
        stack.unwinding = true;
        let found = stack.exceptions();
        assert_eq!((found[0].state, found[0].function.as_deref()), (ExceptionState::Unwinding, Some("run")));
    }

    #[test]
    fn what_ends_the_program_is_told_of_who_asked_for_it() {
        let of = |functions: &[&str]| {
            let found = stack(functions).exceptions();
            found.into_iter().map(|one| (one.name, one.state, one.function.unwrap_or_default())).collect::<Vec<_>>()
        };
        let fortran = of(&["poll", "*cleanup", "exit", "_gfortran_error_stop_string", "*check", "*main"]);
        assert_eq!(fortran, [("ERROR STOP".to_owned(), ExceptionState::Ending, "check".to_owned())]);
        let thrown = of(&["poll", "*at_end", "std::terminate", "__cxa_throw", "*parse", "*main"]);
        assert_eq!(thrown, [(String::new(), ExceptionState::Unhandled, "parse".to_owned())]);
        // After main has returned nobody has asked.
        assert_eq!(of(&["poll", "*at_end", "exit", "__libc_start_main", "*_start"]), []);
    }
}
