//! One process, held across stops: detects its MPI, chooses who reads it, and builds the model.

mod calls;
mod complete;
mod detection;
mod families;
mod handles;
mod history;
mod json;
mod kept_arguments;
mod known;
#[cfg(feature = "plugins")]
mod plugins;
mod record;
mod recorded;
mod refine;
mod started;
mod windows;
mod wrappers;

pub use detection::{Detected, LayoutChoice};
pub use families::{FAMILIES, Family, Installed};
pub use handles::Designator;
pub use json::write_json;
pub use known::Known;
#[cfg(feature = "plugins")]
pub use plugins::{PluginChoice, PluginSettings};
pub use record::{MoreMemory, RecordError, RecordRequest, tell_missing};
pub use refine::{RANK_VARIABLES, add_facts, keep_stacks};
pub use wrappers::Wrappers;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use layouts::ProfileError;
use model::{Capability, Process, Source, SourceKind, Stage};
use readers::{Lifetime, ReaderError};
use target::files::is_root;
use target::{Limits, Metered, Target, TargetError};

/// Why a process could not be read at all.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The process has no MPI library.
    #[error("{} is not an MPI process: no MPI library is loaded", .executable.as_deref().unwrap_or("this"))]
    NotMpi {
        /// Path of the executable, where known.
        executable: Option<String>,
    },
    /// The dynamic linker has not loaded anything yet, or its list cannot be read.
    #[error("no shared libraries are loaded in this process yet")]
    NoImages,
    /// An MPI that this version does not read.
    #[error("the MPI library {library} is neither Open MPI nor made from MPICH, and this version reads only these")]
    UnsupportedMpi {
        /// Path of the library.
        library: String,
    },
    /// An MPI of before what is read.
    #[error(
        "{library} has no {lacks}, which {implementation} has since {oldest}, and this version reads no earlier ones"
    )]
    TooOld {
        /// Path of the library.
        library: String,
        /// The symbol by which that is known.
        lacks: &'static str,
        /// What it is.
        implementation: &'static str,
        /// The oldest release that is read.
        oldest: &'static str,
    },
    /// MPI_Init has not finished.
    #[error("MPI is not initialised in this process: MPI_Init has not been called or has not finished")]
    NotInitialized,
    /// MPI_Finalize is done.
    #[error("MPI is finalised in this process: MPI_Finalize is done, its queues are gone")]
    Finalized,
    /// No layout fits.
    #[error("{0}")]
    NoLayout(String),
    /// The profile that the user named does not fit, in a sentence that names it and says where.
    #[error("{0}")]
    ProfileRefused(String),
    /// A profile is damaged.
    #[error("{0}")]
    Profile(Rc<ProfileError>),
    /// No object of a kind has the name that was asked for.
    #[error("no {kind} of this process is called {name:?}{but}")]
    NoHandle {
        /// What the kind is called in a sentence.
        kind: &'static str,
        /// The name.
        name: String,
        /// In parentheses, why objects may be missing in the list that was looked through; else empty.
        but: String,
    },
    /// The flight recorder is not there.
    #[error("it runs without the flight recorder, or has not called MPI yet")]
    NoRecorder,
    /// What the flight recorder keeps cannot be read.
    #[error(transparent)]
    Record(#[from] ::history::HistoryError),
    /// No plug-in may be used.
    #[error("{0}")]
    NoPlugin(String),
    /// The plug-in failed.
    #[cfg(feature = "plugins")]
    #[error(transparent)]
    Plugin(::plugins::mqs::PluginError),
    /// The reader failed.
    #[error(transparent)]
    Reader(#[from] ReaderError),
    /// The target failed.
    #[error(transparent)]
    Target(#[from] TargetError),
}

impl From<ProfileError> for SessionError {
    fn from(error: ProfileError) -> Self {
        Self::Profile(Rc::new(error))
    }
}

impl SessionError {
    /// A stable word for the kind of error.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NotMpi { .. } | Self::NoImages => "not_mpi",
            Self::UnsupportedMpi { .. } | Self::TooOld { .. } => "unsupported_mpi",
            Self::NotInitialized => "not_initialized",
            Self::Finalized => "finalized",
            Self::NoLayout(_) | Self::ProfileRefused(_) | Self::Profile(_) => "no_layout",
            Self::Reader(ReaderError::Layout(_)) => "no_layout",
            Self::Reader(ReaderError::Target(TargetError::Gone)) | Self::Target(TargetError::Gone) => "gone",
            Self::Reader(ReaderError::Target(error)) | Self::Target(error) if error.is_not_recorded() => "not_recorded",
            Self::Reader(ReaderError::Target(TargetError::NotInCore { .. }))
            | Self::Target(TargetError::NotInCore { .. }) => "not_in_core",
            Self::Reader(ReaderError::Target(TargetError::NoSymbols { .. }))
            | Self::Target(TargetError::NoSymbols { .. }) => "no_symbols",
            Self::NoHandle { .. } => "no_handle",
            Self::NoPlugin(_) => "no_plugin",
            Self::NoRecorder | Self::Record(_) => "no_recorder",
            #[cfg(feature = "plugins")]
            Self::Plugin(error) if error.has_run() => "plugin_failed",
            #[cfg(feature = "plugins")]
            Self::Plugin(_) => "plugin_refused",
            _ => "fault",
        }
    }

    /// Whether it stays so while the process stands still: not where the user interrupted, or the debugger failed.
    fn lasts(&self) -> bool {
        let (Self::Target(error) | Self::Reader(ReaderError::Target(error))) = self else { return true };
        !error.is_of_the_debugger()
    }

    /// What to type next; may be empty.
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotMpi { .. } => {
                "for a launcher such as mpirun, type: mpi-queues diagnose --job PID; in a debugger, attach to one of its \
                 ranks"
            }
            Self::NoImages => {
                "let the program run on until MPI_Init has returned: `break MPI_Init`, `continue`, `finish`"
            }
            Self::UnsupportedMpi { .. } | Self::TooOld { .. } => {
                "`mpi-queues stacks` shows where ranks are; for a job that `mpi-queues run -- mpirun ...` starts, \
                 the flight recorder gives the operations"
            }
            Self::NotInitialized => "let the program run on until MPI_Init has returned, then ask again",
            Self::Finalized => "there is nothing left to read; look at the other ranks",
            Self::NoLayout(_) | Self::ProfileRefused(_) => {
                "make one from this MPI's debug information: `mpi-queues layouts make --help`"
            }
            Self::NoRecorder => "start the job with it: `mpi-queues run -- mpirun ...`; or leave out the source",
            Self::Reader(ReaderError::Target(TargetError::NoSymbols { .. }))
            | Self::Target(TargetError::NoSymbols { .. })
                if !is_root() =>
            {
                "if the file of a running process was deleted or replaced, root can still read it: type the command \
                 with sudo"
            }
            Self::NoHandle { .. } => "without a value all objects of that kind are listed",
            Self::NoPlugin(_) => {
                "the built-in reader needs none: leave out the source; or name one: `mpi plugin load PATH`"
            }
            #[cfg(feature = "plugins")]
            Self::Plugin(_) => "the built-in reader needs no plug-in: leave out the source, or set it to builtin",
            _ => "",
        }
    }
}

/// One process, held across stops.
pub struct Session<T: Target> {
    target: Metered<T>,
    choice: LayoutChoice,
    detected: RefCell<Option<Rc<Detected>>>,
    /// Why nothing could be detected since the process last ran: looking again would cost as much, and find the same.
    failed: RefCell<Option<SessionError>>,
    /// Whether the process has run since it was looked at.
    stale: Cell<bool>,
    families: &'static [&'static dyn Family],
}

impl<T: Target> Session<T> {
    /// A session over `target`; nothing is read yet.
    pub fn new(target: T, choice: LayoutChoice) -> Self {
        Self::of_families(FAMILIES, target, choice)
    }

    /// A session that looks for these families of MPIs only.
    pub fn of_families(families: &'static [&'static dyn Family], target: T, choice: LayoutChoice) -> Self {
        Self::metered(families, Metered::new(target, Limits::of_user()), choice)
    }

    /// A session whose readings may cost something else than usually.
    pub fn within(limits: Limits, target: T, choice: LayoutChoice) -> Self {
        Self::metered(FAMILIES, Metered::new(target, limits), choice)
    }

    fn metered(families: &'static [&'static dyn Family], target: Metered<T>, choice: LayoutChoice) -> Self {
        Self {
            target,
            choice,
            detected: RefCell::default(),
            failed: RefCell::default(),
            stale: Cell::new(false),
            families,
        }
    }

    /// The target.
    pub fn target(&self) -> &T {
        self.target.inner()
    }

    /// The process ran, or its memory was changed: what moves is read anew.
    pub fn resumed(&self) {
        self.stale.set(true);
        self.failed.borrow_mut().take();
        self.target.budget().process_ran();
    }

    /// A reading begins for which it counts what cannot be had, as of a recording: a failure is found again, not remembered.
    pub fn forget_failure(&self) {
        self.failed.borrow_mut().take();
    }

    /// Libraries were loaded or unloaded: everything is detected anew.
    pub fn forget(&self) {
        self.detected.borrow_mut().take();
        self.failed.borrow_mut().take();
        self.target.budget().process_ran();
    }

    /// What MPI the process has; what cannot change is remembered until [`Session::forget`], a failure until the process ran.
    ///
    /// # Errors
    /// Where it has none that can be read now.
    pub fn detected(&self) -> Result<Rc<Detected>, SessionError> {
        let _request = self.target.budget().request();
        if let Some(error) = self.failed.borrow().as_ref() {
            return Err(error.clone());
        }
        let detected = self.detect();
        if let Err(error) = &detected
            && error.lasts()
        {
            *self.failed.borrow_mut() = Some(error.clone());
        }
        detected
    }

    /// What can be known of the MPI, fact by fact, and why not all. What the tests measure stands in docs/mpis.md.
    pub fn capabilities(&self, detected: &Detected) -> Vec<Capability> {
        let _request = self.target.budget().request();
        detected.capabilities(&self.target)
    }

    fn detect(&self) -> Result<Rc<Detected>, SessionError> {
        let known = self.detected.borrow().clone();
        let detected = match known {
            Some(known) if !self.stale.get() => return Ok(known),
            Some(known) => Rc::new(known.installed.refresh(&self.target, &known)?),
            None => Rc::new(detection::detect(self.families, &self.target, &self.choice)?),
        };
        *self.detected.borrow_mut() = Some(Rc::clone(&detected));
        self.stale.set(false);
        Ok(detected)
    }

    /// Reads the process with the built-in reader. `via`, pid, host and stacks are the caller's to fill in.
    ///
    /// # Errors
    /// Where nothing can be read; what could not be read of a readable process is in its problems.
    pub fn read_builtin(&self, with_queues: bool) -> Result<Process, SessionError> {
        let _request = self.target.budget().request();
        let detected = self.detected()?;
        let report = detected.installed.queues(&self.target, &detected, with_queues)?;
        let mut process = Process {
            mpi: Some(detected.mpi.clone().into()),
            source: Some(
                Source { kind: SourceKind::Builtin, layouts: Some(detected.layouts_name.clone()), ..Source::default() }
                    .into(),
            ),
            world_key: report.world.map(Into::into),
            parent_world_key: report.parent_world.map(Into::into),
            communicators: report.communicators.into(),
            notes: report.notes,
            problems: report.problems,
            ..Process::default()
        };
        if detected.lifetime == Lifetime::Finalizing {
            process.notes.push("the process is in MPI_Finalize".to_owned());
        }
        process.stage = Some(stage_of(detected.lifetime));
        refine::set_identity(&mut process);
        Ok(process)
    }

    /// How far a process is whose MPI cannot be read for that reason: MPI_Init is not done, or MPI_Finalize is. `None` for all
    /// others.
    pub fn stage_without_mpi(&self) -> Option<Stage> {
        match self.detected() {
            Err(SessionError::NotInitialized) => Some(Stage::NotInitialized),
            Err(SessionError::Finalized) => Some(Stage::Finalized),
            _ => None,
        }
    }
}

fn stage_of(lifetime: Lifetime) -> Stage {
    match lifetime {
        Lifetime::NotInitialized => Stage::NotInitialized,
        Lifetime::Active => Stage::Initialized,
        Lifetime::Finalizing => Stage::Finalizing,
        Lifetime::Finalized => Stage::Finalized,
    }
}
