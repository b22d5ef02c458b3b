//! Processes without a debugger, for Python.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use native::{Core, Ending, Live, Messages, Native, Purpose, StopError, Stopped, Waits, since_1970};
use session::LayoutChoice;
use target::cores::checked;
use target::file_budget;
use target::files::Reader;
use target::{TargetError, processes};

use super::cores::{CoreFile, core_error};
use super::origin::Origin;
use super::session::{Session, native_error, read_profile};
use super::target::Urgent;

/// Live processes that are stopped, read and let go, as often as is wanted.
#[pyclass(unsendable, module = "mpi_queues")]
pub struct LiveProcesses {
    layouts: Option<PathBuf>,
    stopped: RefCell<Option<Stopped>>,
    failures: RefCell<Vec<(u32, StopError)>>,
    known: RefCell<HashMap<u32, Known>>,
    times: RefCell<HashMap<u32, f64>>,
    deadline: Cell<Option<f64>>,
    messages: Rc<Messages>,
    waits: RefCell<Waits>,
}

/// A process that was read before.
struct Known {
    session: Py<Session>,
    urgent: Rc<Urgent>,
    /// Whether it stands, and what is known of it is of this stop.
    stands: bool,
}

#[pymethods]
impl LiveProcesses {
    #[new]
    #[pyo3(signature = (*, layouts = None))]
    fn new(layouts: Option<PathBuf>) -> Self {
        let (stopped, failures, known, times, deadline, messages, waits) = Default::default();
        Self { layouts, stopped, failures, known, times, deadline, messages, waits }
    }

    /// Stops processes, all together; for a rehearsal, where nothing of them is told, those threads are left alone whose system call
    /// would fail.
    #[pyo3(signature = (pids, timeout, deadline, *, rehearsal = false))]
    fn stop(
        &self,
        py: Python<'_>,
        pids: Vec<u32>,
        timeout: f64,
        deadline: Option<f64>,
        rehearsal: bool,
    ) -> PyResult<()> {
        self.release_all(py);
        let limit = seconds(timeout)?;
        let purpose = if rehearsal { Purpose::Rehearsal } else { Purpose::Reading };
        let mut waits = self.waits.take();
        let (stopped, failures) = py.detach(|| Stopped::knowing(&pids, limit, purpose, &mut waits));
        self.waits.replace(waits);
        let time = |pid: u32| Some((pid, since_1970(stopped.get(pid)?.at)));
        *self.times.borrow_mut() = stopped.pids().filter_map(time).collect();
        *self.stopped.borrow_mut() = Some(stopped);
        *self.failures.borrow_mut() = failures;
        self.deadline.set(deadline);
        self.messages.forget();
        Ok(())
    }

    /// Why others do not stand: the process, a stable word, a sentence.
    #[getter]
    fn failures(&self) -> Vec<(u32, &'static str, String)> {
        self.failures.borrow().iter().map(|(pid, error)| (*pid, error.kind(), error.to_string())).collect()
    }

    /// When the last thread of a process stood, in seconds since 1970; None where it was not stopped.
    fn stopped_at(&self, pid: u32) -> Option<f64> {
        self.times.borrow().get(&pid).copied()
    }

    /// Whether a process was read before, so that what can be kept of it is known.
    fn knows(&self, pid: u32) -> bool {
        self.known.borrow().contains_key(&pid)
    }

    /// The session over a process that stands.
    fn session(&self, py: Python<'_>, pid: u32) -> PyResult<Py<Session>> {
        let stopped = self.stopped.borrow();
        let Some(standing) = stopped.as_ref().and_then(|stopped| stopped.get(pid)) else {
            return Err(native_error(py, "gone", "", format!("pid {pid} is not stopped")));
        };
        let mut known = self.known.borrow_mut();
        if let Some(known) = known.get_mut(&pid) {
            let ending = || ending(&known.urgent, self.deadline.get());
            known.stands = known.stands || known.session.borrow(py).stands_again(&standing.threads, ending());
            if known.stands {
                return Ok(known.session.clone_ref(py));
            }
        }
        // What was known of it does not hold, whatever becomes of the new one.
        known.remove(&pid);
        let urgent = Rc::new(Urgent::default());
        let live = Live::new(pid, &standing.threads, ending(&urgent, self.deadline.get()))
            .map_err(|error| native_error(py, "fault", "", error.to_string()))?;
        let native = Native::new(live, Rc::clone(&self.messages));
        native::prefetch_stacks(native.memory());
        let profile = self.layouts.as_ref().map(|path| read_profile(py, path)).transpose()?;
        let choice = LayoutChoice::of_native(&native, profile);
        let session = Py::new(py, Session::over(Rc::clone(&urgent), Origin::Live(native), choice))?;
        known.insert(pid, Known { session: session.clone_ref(py), urgent, stands: true });
        Ok(session)
    }

    /// Copies of those that stand, and were read before, what was asked for then, and lets all go on; their sessions read the
    /// copies. When they went on, in seconds since 1970.
    fn copy(&self, py: Python<'_>) -> f64 {
        let pids: Vec<u32> = match self.stopped.borrow().as_ref() {
            Some(stopped) => stopped.pids().collect(),
            None => Vec::new(),
        };
        for pid in pids {
            // What cannot be copied is told where it is read.
            if self.session(py, pid).is_ok()
                && let Some(known) = self.known.borrow_mut().get_mut(&pid)
            {
                known.live(py, Native::is_copied);
                known.stands = false;
            }
        }
        self.stopped.borrow_mut().take();
        since_1970(SystemTime::now())
    }

    /// The session over a process that was copied.
    fn copied(&self, py: Python<'_>, pid: u32) -> PyResult<Py<Session>> {
        let known = self.known.borrow();
        let found = known.get(&pid).map(|known| known.session.clone_ref(py));
        found.ok_or_else(|| native_error(py, "gone", "", format!("pid {pid} was not copied")))
    }

    /// Whether something was asked of a copy that it does not have: what was told of it is not true.
    fn missed(&self, py: Python<'_>, pid: u32) -> bool {
        self.known.borrow().get(&pid).is_some_and(|known| known.live(py, Native::has_missed) == Some(true))
    }

    /// Lets all go on; their sessions read on, and what they find then is not of one time.
    fn let_run(&self) {
        self.stopped.borrow_mut().take();
        self.known.borrow_mut().values_mut().for_each(|known| known.stands = false);
    }

    /// Lets all go on; nothing of them is read any more.
    fn release_all(&self, py: Python<'_>) {
        for known in self.known.borrow().values() {
            known.live(py, Native::goes_on);
        }
        self.let_run();
    }
}

impl Known {
    fn live<R>(&self, py: Python<'_>, ask: impl FnOnce(&Native<Live>) -> R) -> Option<R> {
        self.session.borrow(py).live().map(ask)
    }
}

/// A look at a job begins, which may take until `deadline` (of `time.monotonic`): its files may take their time again.
#[pyfunction]
#[pyo3(signature = (deadline = None))]
pub fn begin_look(deadline: Option<f64>) {
    file_budget::begin_look(deadline.map(until));
}

/// Reading ends as soon as it can, and what was asked for fails with an error.
#[pyfunction]
pub fn interrupt() {
    file_budget::interrupt();
}

/// Lets all processes go on that stand for us, whoever reads them.
#[pyfunction]
pub fn release_everything() {
    native::release_everything();
}

/// Ends the program where a reading does not end: see `native::Watchdog`.
#[pyclass(module = "mpi_queues._native")]
pub struct Watchdog(Option<native::Watchdog>);

#[pymethods]
impl Watchdog {
    #[new]
    fn new(limit: f64, grace: f64) -> PyResult<Self> {
        Ok(Self(Some(native::Watchdog::new(seconds(limit)?, seconds(grace)?)?)))
    }

    /// The descriptor to which the numbers of signals are written (`signal.set_wakeup_fd`), until `stop`.
    fn signals(&self) -> Option<i32> {
        self.0.as_ref().map(native::Watchdog::signals)
    }

    /// Another limit from now on.
    fn renew(&self, limit: f64, grace: f64) -> PyResult<()> {
        if let Some(watchdog) = &self.0 {
            watchdog.renew(seconds(limit)?, seconds(grace)?);
        }
        Ok(())
    }

    /// The reading has ended.
    fn stop(&mut self) {
        self.0 = None;
    }
}

/// The handler that C has for SIGINT: see `native::KeptHandler`.
#[pyclass(module = "mpi_queues._native")]
pub struct KeptHandler(Option<native::KeptHandler>);

#[pymethods]
impl KeptHandler {
    #[new]
    fn new() -> PyResult<Self> {
        Ok(Self(Some(native::KeptHandler::new()?)))
    }

    /// It is there again.
    fn restore(&mut self) {
        self.0 = None;
    }
}

/// Whether a SIGINT of this program waited for a process that it traces: see `native::take_back_interrupt`.
#[pyfunction]
pub fn take_back_interrupt(pid: u32) -> PyResult<bool> {
    Ok(native::take_back_interrupt(pid)?)
}

/// A session over the process of a core file. `exe` is its program, where the user has named it; `reader` is for whom files are
/// read that the core file names.
#[pyfunction]
#[pyo3(signature = (core, exe = None, *, layouts = None, deadline = None, reader = None))]
pub fn core_session(
    py: Python<'_>,
    core: &CoreFile,
    exe: Option<PathBuf>,
    layouts: Option<PathBuf>,
    deadline: Option<f64>,
    reader: Option<(u32, u32, Vec<u32>)>,
) -> PyResult<Session> {
    let core = Arc::clone(&core.0);
    let program = py.detach(|| checked(&core, exe.as_deref())).map_err(|error| core_error(py, &error))?;
    let urgent = Rc::new(Urgent::default());
    let reader = reader.map(|(uid, gid, groups)| Reader { uid, gid, groups });
    let native = Native::new(Core::new(core, program, reader, ending(&urgent, deadline)), Rc::default());
    let profile = layouts.map(|path| read_profile(py, &path)).transpose()?;
    let choice = LayoutChoice::of_native(&native, profile);
    Ok(Session::over(urgent, Origin::Core(native), choice))
}

/// Says that reading must end: the user has pressed Ctrl-C, or its time is over.
fn ending(urgent: &Rc<Urgent>, deadline: Option<f64>) -> Ending {
    let urgent = Rc::clone(urgent);
    let until = deadline.map(until);
    Box::new(move || {
        if file_budget::is_interrupted() {
            return Some(TargetError::Debugger("interrupted".to_owned()));
        }
        let late = until.is_some_and(|until| Instant::now() > until);
        late.then(|| {
            let text = "it was not read within its time".to_owned();
            let help = "allow more time with --timeout SECONDS";
            Python::attach(|py| urgent.set(native_error(py, "timeout", help, text.clone())));
            TargetError::Debugger(text)
        })
    })
}

/// That moment of `time.monotonic`.
fn until(deadline: f64) -> Instant {
    let now = Python::attach(|py| py.import("time")?.call_method0("monotonic")?.extract::<f64>());
    Instant::now() + Duration::try_from_secs_f64(deadline - now.unwrap_or(deadline)).unwrap_or_default()
}

fn seconds(timeout: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(timeout)
        .map_err(|_| PyValueError::new_err(format!("a time limit of {timeout} seconds")))
}

/// Watches the messages of processes, which run on, for so many seconds: those through whose shared memory, or connections with one
/// another, messages went, and those whose messages may have gone where nobody sees them.
#[pyfunction]
pub fn watch(py: Python<'_>, pids: Vec<u32>, seconds: f64) -> PyResult<(Vec<u32>, Vec<u32>)> {
    let until = Instant::now() + self::seconds(seconds)?;
    let mut signalled = Ok(());
    // Asked again after Ctrl-C it still is over: Python tells of a signal once.
    let mut over = || {
        if signalled.is_ok() {
            signalled = Python::attach(|py| py.check_signals());
        }
        signalled.is_err()
    };
    let found = py.detach(|| native::watch(&pids, until, &mut over));
    signalled.map(|()| (found.moving, found.unseen))
}

/// Address and bytes of each piece of the memory through which messages come to a process: what it shares with others. Empty where its
/// mappings may not be read.
#[pyfunction]
pub fn message_memory(pid: u32) -> Vec<(u64, u64)> {
    native::message_places(pid)
}

/// Those that want a processor and have had less than `least` seconds of it since they had used so many.
#[pyfunction]
pub fn starved(used: HashMap<u32, f64>, least: f64) -> PyResult<Vec<u32>> {
    let nanoseconds = |used: f64| Duration::try_from_secs_f64(used).map_or(u64::MAX, |used| used.as_nanos() as u64);
    let used = used.into_iter().map(|(pid, used)| (pid, nanoseconds(used))).collect();
    Ok(native::starved(&used, seconds(least)?))
}

/// How far processes under the flight recorder are, read while they run.
#[pyclass(module = "mpi_queues._native")]
pub struct Recorded(native::Recorded);

#[pymethods]
impl Recorded {
    #[new]
    fn new() -> Self {
        Self(native::Recorded::new())
    }

    /// By process the steps of each of its threads; not of those that have no record. `anew`: those that had none are looked at
    /// again.
    #[pyo3(signature = (pids, *, anew = false))]
    fn steps(&mut self, pids: Vec<u32>, anew: bool) -> BTreeMap<u32, native::Steps> {
        self.0.steps(&pids, anew)
    }
}

/// The thread by which a process lives, and the letter of its state: the main thread, or where that has ended the first of the
/// others; None where all have ended, or there is no such process. `proc` is where processes are listed.
#[pyfunction]
#[pyo3(signature = (pid, proc = None))]
pub fn living(pid: u32, proc: Option<PathBuf>) -> Option<(u32, char)> {
    let found = processes::living(proc.as_deref().unwrap_or(Path::new(processes::PROC)), pid)?;
    Some((found.thread, found.state))
}

/// The system call in which the first thread of a process waits, by its name, and the number of the file that it is on; None where it
/// does not wait, or may not be looked at.
#[pyfunction]
pub fn waits_in(pid: u32) -> Option<(String, Option<i64>)> {
    let call = native::waits_in(pid)?;
    Some((call.name?, call.descriptor))
}

/// Whether a thread of a process has a processor or waits for one.
#[pyfunction]
pub fn wants_processor(pid: u32) -> bool {
    native::wants_processor(pid)
}
