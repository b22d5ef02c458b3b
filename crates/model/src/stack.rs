//! Stacks, and where they stand in MPI.

use functions::wrapping::waits_around;
use functions::{c_name, mpi_function, mpi_function_behind};
use serde::{Deserialize, Serialize};

use super::{Argument, Call, Outside, SourceCall, Step, SystemCall, Text};

/// One frame of a stack.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Frame {
    /// Name of the function without parameters; `None` where the debugger knows none there.
    pub function: Option<String>,
    /// Source file as the compiler was given it, where debug information says it.
    pub file: Option<String>,
    /// Line in it.
    pub line: Option<i64>,
    /// Bytes from the start of the function to where the frame is, of the application's without a line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    /// Whether it is code of the application: of the executable, or of a library that is none of the system's and of the MPI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub application: Option<bool>,
    /// The file that the code is from; `None` where there is none (code that was made at run time, a file that is gone), or in
    /// older recordings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// The language of code that an interpreter runs; `None`: compiled code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<FrameLanguage>,
    /// Whether it is code that wraps MPI for the application: of mpi4py, of Boost.MPI, of a library that the user has named.
    #[serde(skip_serializing_if = "super::process::is_false")]
    pub wrapper: bool,
    /// Of the kernel's call of a signal's handler: the signal's number, 0 where it is not known. The next frame is what it
    /// interrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i64>,
}

/// A language whose code an interpreter runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FrameLanguage {
    /// Python, run by CPython.
    Python,
}

/// The stack of one thread.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Stack {
    /// The debugger's number of the thread.
    pub thread: i64,
    /// Whether it was seen down to its outermost frame.
    pub complete: bool,
    /// Innermost first.
    pub frames: Vec<Frame>,
    /// What the application gave the outermost MPI function on the stack, in the order of its parameters.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Argument>,
    /// Why `arguments` is empty, where the thread is in MPI.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments_unknown: Option<String>,
    /// `Call::fingerprint`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<String>,
    /// Calls of MPI in the source of the application's functions on the stack, that may have started its requests.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub source_calls: Vec<SourceCall>,
    /// `Outside::main`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub main: Option<bool>,
    /// The kernel's number of the thread; null: not told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_thread: Option<i64>,
    /// `Outside::system_call`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_call: Option<SystemCall>,
    /// Whether an exception of C++ unwinds the stack: it has been thrown and not been caught yet.
    #[serde(skip_serializing_if = "super::process::is_false")]
    pub unwinding: bool,
    /// The type of the exception of C++ whose handler (`catch`) runs, the innermost one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caught: Option<String>,
}

/// How many functions `Outside::through` has at most.
const THROUGH: usize = 32;

/// How many `Call::through` has.
const STEPS: usize = 64;

impl Stack {
    /// The outermost MPI function on the stack and the frame that called it. Outermost: a library that wraps MPI calls
    /// PMPI functions from its own MPI ones. Where that only looks, or is none, a library's function that waits by looking
    /// again and again.
    pub fn call(&self) -> Option<Call> {
        let name = |frame: &Frame| frame.function.as_deref().and_then(mpi_function);
        let behind = |frame: &Frame| frame.function.as_deref().and_then(mpi_function_behind).map(str::to_owned);
        let outermost = |of: &dyn Fn(&Frame) -> Option<String>| {
            self.frames.iter().enumerate().rev().find_map(|(index, frame)| Some((index, of(frame)?)))
        };
        let mpi = outermost(&name).or_else(|| outermost(&behind));
        let c_name = mpi.as_ref().map(|(index, name)| (*index, c_name(name)));
        let functions = self.frames.iter().map(|frame| frame.function.as_deref());
        if let Some((index, function)) = waits_around(functions, c_name.as_ref().map(|(at, name)| (*at, &**name))) {
            return Some(Call { fingerprint: self.fingerprint.clone(), ..self.call_at(index, function.to_owned()) });
        }
        let (index, function) = mpi?;
        Some(Call {
            arguments: self.arguments.clone(),
            arguments_unknown: self.arguments_unknown.clone(),
            fingerprint: self.fingerprint.clone(),
            ..self.call_at(index, function)
        })
    }

    /// The call of the function in frame `index`, without what it was given.
    fn call_at(&self, index: usize, function: String) -> Call {
        let caller = self.caller_of(index);
        Call {
            thread: self.thread,
            function: function.into(),
            file: caller.and_then(|frame| frame.file.as_deref()).map(Text::from),
            line: caller.and_then(|frame| frame.line),
            offset: caller.and_then(|frame| frame.offset),
            caller: caller.and_then(|frame| frame.function.as_deref()).map(Text::from),
            through: self.through(index),
            ..Call::default()
        }
    }

    /// The functions between the application's call and the MPI function in frame `index`.
    fn through(&self, index: usize) -> Vec<Step> {
        let Some(caller) = self.caller_place(index) else { return Vec::new() };
        let between = self.frames.get(index + 1..caller).unwrap_or_default();
        let mut image = self.frames.get(caller).and_then(|frame| frame.image.as_deref());
        let mut found = Vec::new();
        for frame in between.iter().rev() {
            let entered = frame.image.as_deref().filter(|own| Some(*own) != image);
            image = frame.image.as_deref().or(image);
            if let Some(function) = frame.function.as_deref().filter(|_| found.len() < STEPS) {
                let library = entered.and_then(|path| path.rsplit('/').next()).map(Text::from);
                found.push(Step { function: function.into(), library });
            }
        }
        found
    }

    /// The frame that a person has to look at for a call of the MPI function in frame `index`: the application's innermost one
    /// that called it, through whatever wraps MPI; where none is the application's, the one that called it itself.
    pub fn caller_of(&self, index: usize) -> Option<&Frame> {
        self.frames.get(self.caller_place(index)?)
    }

    fn caller_place(&self, index: usize) -> Option<usize> {
        let outer = self.frames.get(index + 1..)?;
        let own = outer.iter().position(|frame| frame.application == Some(true) && !frame.wrapper);
        own.or_else(|| (!outer.is_empty()).then_some(0)).map(|at| index + 1 + at)
    }

    /// The thread and its frames alone.
    #[must_use]
    pub fn bare(&self) -> Self {
        let (frames, main) = (self.frames.clone(), self.main);
        Self { thread: self.thread, complete: self.complete, frames, main, ..Self::default() }
    }

    /// Where a thread stands that is not in MPI: its innermost function, and the application's innermost one; of these one
    /// with a source file goes before others (in a static program those of the C library are the executable's too).
    pub fn outside(&self) -> Option<Outside> {
        let innermost = self.frames.first()?;
        if self.call().is_some() {
            return None;
        }
        // Older recordings do not tell which frames are the application's.
        let told = self.frames.iter().any(|frame| frame.application.is_some());
        let application =
            |frame: &&Frame| if told { frame.application == Some(true) } else { !of_the_c_library(frame) };
        let own = || self.frames.iter().enumerate().filter(|(_, frame)| application(frame));
        let begins = |frame: &Frame| frame.function.as_deref().is_some_and(|name| BEGINNINGS.contains(&name));
        // Of one that waits and has no source line the function that it began with says most.
        let waits = self.main == Some(false) && self.system_call.as_ref().is_some_and(|call| call.waits);
        let begun = || own().rfind(|(_, frame)| told && waits && !begins(frame));
        let with_file = own().find(|(_, frame)| frame.file.is_some());
        let own = with_file.or_else(begun).or_else(|| own().find(|_| told));
        let above = own.map_or(self.frames.as_slice(), |(at, _)| self.frames.get(..at).unwrap_or_default());
        let own = own.map(|(_, frame)| frame);
        // Which frames are in no file at all was not told before images were.
        let placed = self.frames.iter().any(|frame| frame.image.is_some());
        Some(Outside {
            thread: self.thread,
            function: innermost.function.clone(),
            caller: own.and_then(|frame| frame.function.clone()),
            file: own.and_then(|frame| frame.file.clone()),
            line: own.and_then(|frame| frame.line),
            offset: own.and_then(|frame| frame.offset),
            fingerprint: self.fingerprint.clone(),
            main: self.main,
            complete: Some(self.complete),
            application: (told && placed).then(|| self.frames.iter().any(|frame| frame.application == Some(true))),
            start_image: self.start_image().map(str::to_owned),
            through: above.iter().filter_map(|frame| frame.function.clone()).take(THROUGH).collect(),
            system_call: self.system_call.clone(),
        })
    }

    /// Where the thread began: below that stands only what starts threads.
    fn start_image(&self) -> Option<&str> {
        let starts = |image: &&str| !is_c_library(image);
        self.frames.iter().rev().filter_map(|frame| frame.image.as_deref()).find(starts).filter(|_| self.complete)
    }
}

/// With what a thread begins in the C library, which is in a static program's own file.
const BEGINNINGS: [&str; 5] = ["clone3", "__clone3", "clone", "__clone", "start_thread"];

/// Whether a file is the C library, what it kept threads in before glibc 2.34, or the dynamic linker: glibc's and musl's.
fn is_c_library(path: &str) -> bool {
    const BEGINNINGS: &[&str] = &["libc.so", "libc-2.", "libpthread.so", "libpthread-2.", "ld-", "libc.musl", "[vdso]"];
    let name = path.rsplit('/').next().unwrap_or(path);
    BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// Whether a source file is one of glibc, which names them from where it is built (DW_AT_name of Debian's debug information
/// of glibc 2.36: `../sysdeps/unix/sysv/linux/poll.c`, `./nptl/pthread_create.c`).
fn of_the_c_library(frame: &Frame) -> bool {
    const PLACES: &[&str] = &[
        "../sysdeps/",
        "../nptl/",
        "./nptl/",
        "./csu/",
        "./io/",
        "./misc/",
        "./posix/",
        "./signal/",
        "./socket/",
        "./time/",
    ];
    frame.file.as_deref().is_some_and(|file| PLACES.iter().any(|place| file.starts_with(place)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_an_older_recording_the_c_library_is_not_the_application() {
        let frame = |function: &str, file: &str| Frame {
            function: Some(function.to_owned()),
            file: Some(file.to_owned()),
            ..Frame::default()
        };
        let library = [frame("__GI___poll", "../sysdeps/unix/sysv/linux/poll.c"), frame("start_thread", "./nptl/p.c")];
        let mut frames = library.to_vec();
        let outside = |frames: &[Frame]| Stack { frames: frames.to_vec(), ..Stack::default() }.outside();
        let alone = outside(&frames).unwrap_or_default();
        assert_eq!((alone.function.as_deref(), alone.caller), (Some("__GI___poll"), None));
        frames.insert(1, frame("wait_for_input", "input.c"));
        assert_eq!(outside(&frames).unwrap_or_default().caller.as_deref(), Some("wait_for_input"));
    }

    fn stack(functions: &[&str]) -> Stack {
        let frame = |name: &&str| Frame { function: Some((*name).to_owned()), line: Some(7), ..Frame::default() };
        Stack { thread: 1, complete: true, frames: functions.iter().map(frame).collect(), ..Stack::default() }
    }

    #[test]
    fn the_outermost_mpi_function_is_the_call() {
        let call = stack(&["poll", "PMPI_Recv", "MPI_Recv", "exchange", "main"]).call().unwrap_or_default();
        assert_eq!((call.function.as_str(), call.caller.as_deref()), ("MPI_Recv", Some("exchange")));
        assert_eq!(stack(&["poll", "main"]).call(), None);
        assert_eq!(stack(&["poll", "PMPI_Wait"]).call().unwrap_or_default().caller, None);
    }

    #[test]
    fn what_wraps_mpi_is_not_the_caller() {
        let mut stack = stack(&["poll", "MPI_Recv", "boost::mpi::communicator::recv", "exchange", "main"]);
        let caller = |stack: &Stack| stack.call().unwrap_or_default().caller;
        assert_eq!(caller(&stack).as_deref(), Some("boost::mpi::communicator::recv"));
        for (frame, own) in stack.frames.iter_mut().zip([false, false, true, true, true]) {
            frame.application = Some(own);
        }
        stack.frames[2].wrapper = true;
        assert_eq!(caller(&stack).as_deref(), Some("exchange"));
        // Of a stack that ends there, the function that called MPI is all that is known.
        stack.frames.truncate(3);
        assert_eq!(caller(&stack).as_deref(), Some("boost::mpi::communicator::recv"));
    }

    #[test]
    fn a_library_with_a_source_file_is_not_the_application() {
        let frame = |function: &str, file: Option<&str>, application| Frame {
            function: Some(function.to_owned()),
            file: file.map(ToOwned::to_owned),
            line: Some(7),
            application,
            ..Frame::default()
        };
        let of = |frames: &[Frame]| {
            let outside = Stack { frames: frames.to_vec(), ..Stack::default() }.outside().unwrap_or_default();
            (outside.caller.unwrap_or_default(), outside.file)
        };
        let libc = frame("poll", Some("poll.c"), Some(false));
        let step = frame("step", None, Some(true));
        let main = frame("main", Some("main.c"), Some(true));
        assert_eq!(of(&[libc.clone(), step.clone()]), ("step".to_owned(), None));
        assert_eq!(of(&[libc.clone(), step, main]), ("main".to_owned(), Some("main.c".to_owned())));
        assert_eq!(of(&[libc]), (String::new(), None));
        assert_eq!(
            of(&[frame("f", None, None), frame("g", Some("g.c"), None)]),
            ("g".to_owned(), Some("g.c".to_owned()))
        );
        assert_eq!(of(&[frame("f", None, None)]), (String::new(), None));
    }
}
