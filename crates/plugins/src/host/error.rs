//! Why a plug-in could not be used, or did not finish.

use std::path::{Path, PathBuf};

use target::{TargetError, printable};

/// A path as text that is safe to print: it may come from the target.
pub fn shown(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt as _;
    printable(path.as_os_str().as_bytes())
}

/// Why a plug-in could not be used, or did not finish.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PluginError {
    /// Loading it would run code that the user has not asked for.
    #[error(
        "{path} is not loaded because {reason}; if you trust it, load it by name: mpi plugin load {path} \
         (command line: --source plugin={path})", path = shown(.path)
    )]
    NotTrusted {
        /// The plug-in.
        path: PathBuf,
        /// Which part of the rule it fails.
        reason: String,
    },
    /// The file cannot be used at all.
    #[error("cannot use the plug-in {path}: {reason}", path = shown(.path))]
    File {
        /// The plug-in.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// It is a library of another class or machine than this debugger.
    #[error(
        "the plug-in {path} is {found}, but this debugger needs {expected}: install the plug-in of the same \
         architecture as the debugger", path = shown(.path)
    )]
    WrongMachine {
        /// The plug-in.
        path: PathBuf,
        /// What it is.
        found: String,
        /// What it must be.
        expected: String,
    },
    /// It is no plug-in of the kind that is wanted, or only half of one.
    #[error(
        "{path} is not a usable {interface} plug-in: it does not export {}",
        .missing.join(", "), path = shown(.path)
    )]
    MissingFunctions {
        /// The plug-in.
        path: PathBuf,
        /// What plug-ins of that kind are for: `message-queue` or `handle`.
        interface: &'static str,
        /// The functions that it lacks.
        missing: Vec<String>,
    },
    /// The dynamic linker refused it.
    #[error("the plug-in {path} cannot be loaded: {reason}", path = shown(.path))]
    Load {
        /// The plug-in.
        path: PathBuf,
        /// What the dynamic linker said.
        reason: String,
    },
    /// It speaks another version of the interface.
    #[error(
        "the plug-in {path} has interface version {found}, this debugger speaks {expected}", path = shown(.path)
    )]
    Version {
        /// The plug-in.
        path: PathBuf,
        /// Its version.
        found: i32,
        /// What is spoken here.
        expected: &'static str,
    },
    /// It is made for another series of the MPI library.
    #[error(
        "the plug-in {path} is made for Open MPI {found}, but the process runs {library}: it would show nonsense; \
         use the plug-in of that installation (mpi plugin load PATH) or the built-in reader", path = shown(.path)
    )]
    OtherLibrary {
        /// The plug-in.
        path: PathBuf,
        /// The version that it tells.
        found: String,
        /// The version of the library.
        library: String,
    },
    /// It was compiled with another width of target addresses.
    #[error(
        "the plug-in {path} was compiled for target addresses of {found} bytes, this debugger uses {expected}",
        path = shown(.path)
    )]
    Width {
        /// The plug-in.
        path: PathBuf,
        /// Its width in bytes.
        found: i32,
        /// The width here.
        expected: usize,
    },
    /// The helper process could not be started.
    #[error("cannot start the helper process for the plug-in: {reason}")]
    Start {
        /// What failed.
        reason: String,
    },
    /// It was killed by a signal.
    #[error("the plug-in {path} crashed in {place} ({signal})", path = shown(.path))]
    Crashed {
        /// The plug-in.
        path: PathBuf,
        /// The function it was in.
        place: &'static str,
        /// The signal's name.
        signal: String,
    },
    /// Its process ended without a signal that we know of.
    #[error("the plug-in {path} ended its process in {place}: {reason}", path = shown(.path))]
    Ended {
        /// The plug-in.
        path: PathBuf,
        /// The function it was in.
        place: &'static str,
        /// How it ended.
        reason: &'static str,
    },
    /// It did not finish in time and was killed.
    #[error(
        "the plug-in {path} did not finish within {seconds} s and was stopped in {place}", path = shown(.path)
    )]
    TimedOut {
        /// The plug-in.
        path: PathBuf,
        /// The function it was in.
        place: &'static str,
        /// The limit, in seconds with up to one decimal.
        seconds: String,
    },
    /// The user interrupted it.
    #[error("the plug-in {path} was interrupted in {place}", path = shown(.path))]
    Interrupted {
        /// The plug-in.
        path: PathBuf,
        /// The function it was in.
        place: &'static str,
    },
    /// The helper process sent something that makes no sense.
    #[error("the helper process of the plug-in {path} sent nonsense ({reason}) and was stopped", path = shown(.path))]
    Protocol {
        /// The plug-in.
        path: PathBuf,
        /// What made no sense.
        reason: String,
    },
    /// It delivers more than is plausible; a damaged list, most likely.
    #[error(
        "the plug-in {path} delivered more than {limit} {what}; its lists are damaged, or the limit is too low",
        path = shown(.path)
    )]
    TooMuch {
        /// The plug-in.
        path: PathBuf,
        /// What there was too much of.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// It asked for types or fields that no layout source knows.
    #[error(
        "the plug-in {path} needs {}, which no layout source has (asked: {sources}); it would print wrong values \
         without them: use the built-in reader, or make a layout profile of this MPI (mpi-queues layouts make)",
        .missing.join(", "), path = shown(.path)
    )]
    MissingLayouts {
        /// The plug-in.
        path: PathBuf,
        /// Types, and fields as `type.field`.
        missing: Vec<String>,
        /// The sources that were asked.
        sources: String,
    },
    /// It says that it can tell nothing of this image or process.
    #[error("the plug-in {path} {what}: {reason}", path = shown(.path))]
    TellsNothing {
        /// The plug-in.
        path: PathBuf,
        /// What it does not do.
        what: &'static str,
        /// What it said.
        reason: String,
    },
    /// One of its functions failed.
    #[error("the plug-in {path} failed in {function}: {reason}", path = shown(.path))]
    Call {
        /// The plug-in.
        path: PathBuf,
        /// The function that failed.
        function: &'static str,
        /// The plug-in's own error text and code.
        reason: String,
    },
    /// The target failed in a way that makes going on pointless.
    #[error(transparent)]
    Target(#[from] TargetError),
}

impl PluginError {
    /// Whether the plug-in ran: then what it delivered before is in the outcome.
    pub fn has_run(&self) -> bool {
        !matches!(
            self,
            Self::NotTrusted { .. }
                | Self::File { .. }
                | Self::WrongMachine { .. }
                | Self::MissingFunctions { .. }
                | Self::Load { .. }
                | Self::Start { .. }
        )
    }
}
