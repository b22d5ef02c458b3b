//! A session in Python: one process under a debugger.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use send_wrapper::SendWrapper;

use super::handles::{Form, Reporter};
use super::held::held;
use super::origin::Origin;
use super::snapshot::{Snapshot, to_python};
use super::target::{Debugger, Urgent};
use layouts::Profile;
use native::{Ending, Live, Native, Thread};
use plugins::host::candidate::Search;
use plugins::host::run::Run;
use plugins::mqs::PluginInfo;
use recording::Replay;
use session::{self, LayoutChoice, PluginChoice, PluginSettings, SessionError, Wrappers};
use target::printable_path;

create_exception!(mpi_queues, NativeError, PyException, "What the core could not do; see `kind` and `help`.");

/// An exception with its stable kind and the next thing to type.
pub(super) fn native_error(py: Python<'_>, kind: &str, help: &str, text: String) -> PyErr {
    // What a target or a file says in it has no lines.
    let error = NativeError::new_err(target::text::in_a_line(&text).into_owned());
    let value = error.value(py);
    // Setting attributes on a fresh exception object cannot fail for any reason a caller could act on.
    let _ = value.setattr("kind", kind);
    let _ = value.setattr("help", help);
    error
}

/// One process, held across stops.
#[pyclass(unsendable, module = "mpi_queues")]
pub struct Session {
    pub(super) urgent: Rc<Urgent>,
    pub(super) session: session::Session<Origin>,
    safe_path: RefCell<Vec<PathBuf>>,
    plugin_path: RefCell<Vec<PathBuf>>,
    identity: Cell<Option<i64>>,
}

impl Session {
    /// A session over a process of whatever origin.
    pub(super) fn over(urgent: Rc<Urgent>, origin: Origin, choice: LayoutChoice) -> Self {
        let (safe_path, plugin_path) = (RefCell::default(), RefCell::default());
        Self {
            urgent,
            session: session::Session::new(origin, choice),
            safe_path,
            plugin_path,
            identity: Cell::default(),
        }
    }

    /// A session over a recorded process.
    pub(super) fn replaying(replay: Replay) -> Self {
        let choice = LayoutChoice::of_replay(&replay);
        Self::over(Rc::default(), Origin::Recording(Box::new(replay)), choice)
    }

    pub(super) fn error(&self, py: Python<'_>, error: &SessionError) -> PyErr {
        // An interrupt by the user goes before whatever error it caused underneath.
        self.take_urgent().unwrap_or_else(|| native_error(py, error.kind(), error.help(), error.to_string()))
    }

    /// Calls `run` with what the user has said about plug-ins; Ctrl-C ends the wait for one.
    pub(super) fn with_settings<R>(
        &self,
        plugin: Option<PathBuf>,
        timeout: f64,
        run: impl FnOnce(&PluginSettings<'_>) -> R,
    ) -> PyResult<R> {
        let timeout = Duration::try_from_secs_f64(timeout)
            .map_err(|_| PyValueError::new_err(format!("a time limit of {timeout} seconds")))?;
        let (safe_path, set_paths) = (self.safe_path.borrow().clone(), self.plugin_path.borrow().clone());
        let interrupted = || self.urgent.signalled();
        let (explicit, others) = (plugin.as_deref(), Some(&drafts::OTHERS));
        let rights = self.session.target().reader();
        Ok(run(&PluginSettings {
            search: Search { explicit, set_paths: &set_paths, safe_path: &safe_path, others },
            run: Run { timeout, rights: rights.as_ref(), interrupted: &interrupted },
            identity: self.identity.get(),
        }))
    }

    /// A snapshot of what was read, with what the debugger knows; with `stacks` also the frames of all threads.
    pub(super) fn finished(
        &self,
        py: Python<'_>,
        process: model::Process,
        stacks: bool,
        wrappers: Vec<String>,
    ) -> PyResult<Snapshot> {
        self.interrupted()?;
        let wrappers = Wrappers::named(wrappers);
        let snapshot = self.apart(py, |session| session.finished(process, stacks, &wrappers));
        self.interrupted()?;
        Ok(Snapshot(Arc::new(snapshot)))
    }

    pub(super) fn interrupted(&self) -> PyResult<()> {
        self.take_urgent().map_or(Ok(()), Err)
    }

    /// What must reach the user as it is, if something must. Whatever was found until then may be half of it (a list of
    /// libraries that ends early, a file that seems not to fit), so that nothing of it is kept.
    fn take_urgent(&self) -> Option<PyErr> {
        let urgent = self.urgent.take()?;
        self.forget(true);
        Some(urgent)
    }

    /// Runs what may take long, while other threads of Python go on: who waits for it can end the waiting. A debugger's process is
    /// read through Python, by the debugger's own thread.
    pub(super) fn apart<R>(&self, py: Python<'_>, run: impl FnOnce(&session::Session<Origin>) -> R) -> R {
        if matches!(self.session.target(), Origin::Debugger(_) | Origin::Held(..)) {
            return run(&self.session);
        }
        // It stays in this thread, which has merely let go of Python's lock.
        let here = SendWrapper::new((&self.session, run));
        let ran = py.detach(move || {
            let (session, run) = here.take();
            SendWrapper::new(run(session))
        });
        ran.take()
    }

    /// The live process that is read without a debugger, if it is one.
    pub(super) fn live(&self) -> Option<&Native<Live>> {
        if let Origin::Live(native) = self.session.target() { Some(native) } else { None }
    }

    /// As [`Native::stands_again`]; false for any other process.
    pub(super) fn stands_again(&self, threads: &[Thread], ending: Ending) -> bool {
        let again = self.live().is_some_and(|native| native.stands_again(threads, ending));
        if again {
            self.session.resumed();
        }
        again
    }

    fn forget(&self, images: bool) {
        self.session.target().forget(images);
        self.session.resumed();
        if images {
            self.session.forget();
        }
    }
}

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (process, *, layouts = None))]
    fn new(py: Python<'_>, process: Py<PyAny>, layouts: Option<PathBuf>) -> PyResult<Self> {
        let urgent = Rc::new(Urgent::default());
        let debugger = Debugger::new(process, Rc::clone(&urgent));
        let profile = layouts.map(|path| read_profile(py, &path)).transpose()?;
        let (origin, types) = held(&debugger).map_err(|error| native_error(py, "fault", "", error.to_string()))?;
        let choice = LayoutChoice { debugger: Some(Rc::new(types)), profile, recorded: None };
        Ok(Self::over(urgent, origin, choice))
    }

    /// Forgets what was read: the process ran or was written to; with `images`, libraries were loaded too.
    #[pyo3(signature = (*, images = false))]
    fn invalidate(&self, images: bool) {
        self.forget(images);
    }

    /// What was detected, from where, and what is missing.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let info = PyDict::new(py);
        match self.session.detected() {
            Ok(detected) => {
                info.set_item("mpi", to_python(py, &detected.mpi)?)?;
                info.set_item("layouts", &detected.layouts_name)?;
                info.set_item("sources", detected.layouts.source_names())?;
                info.set_item("verification", detected.verified())?;
                info.set_item("checked", detected.verification.checked.clone())?;
                info.set_item("set_aside", detected.set_aside.clone())?;
                info.set_item("exactness", to_python(py, &self.session.capabilities(&detected))?)?;
                info.set_item("problem", py.None())?;
                info.set_item("help", py.None())?;
            }
            Err(error) => {
                self.interrupted()?;
                info.set_item("mpi", py.None())?;
                info.set_item("problem", error.to_string())?;
                info.set_item("kind", error.kind())?;
                info.set_item("help", error.help())?;
            }
        }
        let statistics = self.session.target().statistics();
        info.set_item("reads", statistics.reads)?;
        info.set_item("pages", statistics.pages)?;
        info.set_item("slow_symbol_lookups", self.session.target().slow_lookups())?;
        Ok(info)
    }

    /// Rank and size in MPI_COMM_WORLD, each None where it is not known.
    fn identity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let process = self.session.read(false).map_err(|error| self.error(py, &error))?;
        let identity = PyDict::new(py);
        identity.set_item("rank", process.rank)?;
        identity.set_item("world_size", process.world_size)?;
        Ok(identity)
    }

    /// Reads the process: one snapshot with one process.
    #[pyo3(signature = (
        *, source = "auto", plugin = None, timeout = 60.0, queues = true, handles = Vec::new(), stacks = false,
        wrappers = Vec::new()
    ))]
    // Keywords in Python.
    #[allow(clippy::too_many_arguments)]
    fn read(
        &self,
        py: Python<'_>,
        source: &str,
        plugin: Option<PathBuf>,
        timeout: f64,
        queues: bool,
        handles: Vec<String>,
        stacks: bool,
        wrappers: Vec<String>,
    ) -> PyResult<Snapshot> {
        self.session.begin();
        let result = match source {
            "auto" => self.apart(py, |session| session.read(queues)),
            "builtin" => self.apart(py, |session| session.read_builtin(queues)),
            "recorder" => self.apart(py, |session| session.read_recorded()),
            "plugin" => {
                self.with_settings(plugin, timeout, |settings| self.apart(py, |session| session.read_plugin(settings)))?
            }
            other => return Err(PyValueError::new_err(format!("no source is called {other:?}"))),
        };
        let mut process = result.map_err(|error| self.error(py, &error))?;
        process.handles = self.handles_of_kinds(py, &handles)?.into();
        self.finished(py, process, stacks, wrappers)
    }

    /// A process that cannot be read because MPI_Init is not done, or MPI_Finalize is: one snapshot with one process that has its
    /// `stage` and where it stands; None for all others.
    #[pyo3(signature = (*, stacks = false, wrappers = Vec::new()))]
    fn outline(&self, py: Python<'_>, stacks: bool, wrappers: Vec<String>) -> PyResult<Option<Snapshot>> {
        self.session.begin();
        let Some(process) = self.apart(py, |session| session.outline()) else {
            self.interrupted()?;
            return Ok(None);
        };
        self.finished(py, process, stacks, wrappers).map(Some)
    }

    /// Where the threads of the process stand, with all frames, whatever its MPI is: one snapshot with one process. Where that
    /// cannot be read, a note says why.
    #[pyo3(signature = (*, wrappers = Vec::new()))]
    fn standing(&self, py: Python<'_>, wrappers: Vec<String>) -> PyResult<Snapshot> {
        self.session.begin();
        let (process, refused) = self.apart(py, |session| session.bare());
        if refused.is_some() {
            self.interrupted()?;
        }
        let found = self.finished(py, process, true, wrappers)?;
        match refused {
            Some(error) if found.0.processes.iter().all(|process| process.stacks.is_empty()) => {
                Err(self.error(py, &error))
            }
            _ => Ok(found),
        }
    }

    /// What one handle means, as a dictionary: the fields of `model::Handle`.
    #[pyo3(signature = (
        kind, value, *, fortran = false, full = false, source = "auto", plugin = None, timeout = 60.0, cxx = None
    ))]
    // Keywords in Python.
    #[allow(clippy::too_many_arguments)]
    fn describe<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        value: &Bound<'py, PyAny>,
        fortran: bool,
        full: bool,
        source: &str,
        plugin: Option<PathBuf>,
        timeout: f64,
        cxx: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.describe_handle(py, kind, value, &Form { fortran, cxx, full }, Reporter::new(source, plugin, timeout)?)
    }

    /// The objects of kinds, or those that a value names: one snapshot with one process, whose `handles` they are.
    #[pyo3(signature = (wanted = Vec::new(), *, source = "auto", plugin = None, timeout = 60.0))]
    fn handles(
        &self,
        py: Python<'_>,
        wanted: Vec<(String, Option<String>)>,
        source: &str,
        plugin: Option<PathBuf>,
        timeout: f64,
    ) -> PyResult<Snapshot> {
        self.list_handles(py, wanted, Reporter::new(source, plugin, timeout)?)
    }

    /// Writes the process as a part of a recording, in pieces of bytes, to `write`.
    #[pyo3(signature = (write, *, full = false, progress = None))]
    fn record(
        &self,
        py: Python<'_>,
        write: Py<PyAny>,
        full: bool,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Option<String>> {
        self.record_to(py, &write, full, progress.as_ref())
    }

    /// Sentences about where reader and plug-in differ; empty where they agree.
    #[pyo3(signature = (*, plugin = None, timeout = 60.0))]
    fn compare(&self, py: Python<'_>, plugin: Option<PathBuf>, timeout: f64) -> PyResult<Vec<String>> {
        let result =
            self.with_settings(plugin, timeout, |settings| self.apart(py, |session| session.compare(settings)))?;
        self.interrupted()?;
        result.map_err(|error| self.error(py, &error))
    }

    /// What the plug-in that would be used is, and which were looked at.
    #[pyo3(signature = (*, plugin = None, timeout = 60.0))]
    fn plugin_info<'py>(&self, py: Python<'py>, plugin: Option<PathBuf>, timeout: f64) -> PyResult<Bound<'py, PyDict>> {
        let info = PyDict::new(py);
        let looked = self.with_settings(plugin, timeout, |settings| {
            let choice = self.session.choose_plugin(settings);
            let inspected = choice.chosen.as_ref().map(|chosen| self.session.inspect_plugin(&chosen.path, settings));
            // One for MPI-2 tells of spawned processes, which only this process's memory has.
            let has_mpi2 = inspected.as_ref().is_some_and(|found| found.as_ref().is_ok_and(|plugin| plugin.has_mpi2));
            let read = has_mpi2.then(|| self.session.read_plugin(settings));
            (choice, inspected, read)
        })?;
        self.interrupted()?;
        let (choice, inspected, read) = looked;
        set_choice(&info, &choice, None)?;
        match inspected {
            Some(Ok(inspected)) => set_plugin_facts(&info, inspected)?,
            Some(Err(error)) => info.set_item("reason", error.to_string())?,
            None => {}
        }
        match read {
            Some(Ok(process)) => {
                info.set_item("spawn_breakpoint", process.spawn_breakpoint.as_deref())?;
                info.set_item("spawned", to_python(py, &process.spawned)?)?;
            }
            Some(Err(error)) => info.set_item("spawned_not_known", error.to_string())?,
            None => {}
        }
        info.set_item("candidates", choice.described())?;
        Ok(info)
    }

    /// The process's place in the universe of its job, which plug-ins for MPI-2 are told.
    fn set_identity(&self, identity: Option<i64>) {
        self.identity.set(identity);
    }

    /// The `plugin-path` setting: plug-ins, or directories with some; the files in a directory must be nobody else's.
    fn set_plugin_path(&self, paths: Vec<PathBuf>) {
        *self.plugin_path.borrow_mut() = paths;
    }

    /// Directories that the user trusts (gdb's `auto-load safe-path`).
    fn set_safe_path(&self, directories: Vec<PathBuf>) {
        *self.safe_path.borrow_mut() = directories;
    }
}

/// The plug-in that would be used, or why there is none.
pub(super) fn set_choice(info: &Bound<'_, PyDict>, choice: &PluginChoice, reason: Option<String>) -> PyResult<()> {
    let chosen = choice.chosen.as_ref();
    info.set_item("path", chosen.map(|chosen| chosen.path.clone()))?;
    info.set_item("how", chosen.map(|chosen| chosen.how.describe()))?;
    info.set_item("trusted", chosen.is_some())?;
    info.set_item("reason", reason)
}

pub(super) fn set_plugin_facts(info: &Bound<'_, PyDict>, plugin: PluginInfo) -> PyResult<()> {
    info.set_item("version", plugin.version)?;
    info.set_item("compatibility", plugin.compatibility)?;
    info.set_item("width", plugin.width)?;
    info.set_item("mpi2", plugin.has_mpi2)?;
    info.set_item("functions", plugin.functions)?;
    info.set_item("missing", plugin.missing)
}

pub(super) fn read_profile(py: Python<'_>, path: &Path) -> PyResult<Profile> {
    Profile::from_file(path).map_err(|error| {
        let help = "see `mpi-queues layouts make --help`";
        let path = printable_path(path);
        native_error(py, "no_layout", help, format!("cannot use the layout profile {path}: {error}"))
    })
}
