//! Process tables of launchers, as dictionaries.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyInt, PyList, PyString};

use super::session::native_error;
use super::target::{Debugger, DebuggerTarget, DebuggerTypes, Urgent};
use acquisition::{self, Candidates, Entry, ProcessTable};
use layouts::Layouts;
use target::files::is_root;
use target::{PageCache, Target, TargetError};

/// An error with the words of `NativeError`.
fn failure(py: Python<'_>, process: &str, error: &TargetError) -> PyErr {
    let (kind, help) = match error {
        TargetError::Gone => ("gone", "`mpi-queues ranks` lists the jobs of this machine"),
        // Root has no more rights to ask for: only a container takes this one away.
        TargetError::Denied { .. } if is_root() => ("denied", "in a container, start it with: --cap-add=SYS_PTRACE"),
        TargetError::Denied { .. } => (
            "denied",
            "run it as the owner of the process or with sudo; for owners, /proc/sys/kernel/yama/ptrace_scope must be 0",
        ),
        _ => ("fault", ""),
    };
    let text = match error {
        TargetError::Gone => format!("there is no {process}, or it ended while it was read"),
        other => other.to_string(),
    };
    native_error(py, kind, help, text)
}

/// What a process says by the MPIR interface.
#[pyfunction]
#[pyo3(signature = (process, candidates = Candidates::new()))]
pub fn process_table<'py>(
    py: Python<'py>,
    process: &Bound<'py, PyAny>,
    candidates: Candidates,
) -> PyResult<Bound<'py, PyDict>> {
    if process.is_instance_of::<PyInt>() && !process.is_instance_of::<PyBool>() {
        // What is no process id of Linux at all names no process.
        let name = format!("process {process}");
        let pid = process.extract::<u32>().map_err(|_| failure(py, &name, &TargetError::Gone))?;
        let table = py.detach(|| acquisition::process_table_of(pid, &candidates));
        return dictionary(py, &table.map_err(|error| failure(py, &name, &error))?);
    }
    if !process.hasattr("read_memory")? {
        return Err(PyTypeError::new_err("a process id or a DebuggedProcess is needed"));
    }
    let urgent = Rc::new(Urgent::default());
    let debugger = Debugger::new(process.clone().unbind(), Rc::clone(&urgent));
    let read = || {
        let target = Rc::new(PageCache::new(DebuggerTarget::new(Rc::clone(&debugger))?));
        let memory = Rc::clone(&target);
        let types = DebuggerTypes::new(Rc::clone(&debugger), move || memory.images().unwrap_or_default());
        acquisition::process_table(&*target, &Layouts::new(vec![Box::new(types)]), &candidates)
    };
    let table = read();
    if let Some(interrupt) = urgent.take() {
        return Err(interrupt);
    }
    dictionary(py, &table.map_err(|error| failure(py, "such process", &error))?)
}

/// The number of the job of Slurm that a process has started; None where it is no srun, or does not say so.
#[pyfunction]
pub fn slurm_job(py: Python<'_>, pid: u32) -> Option<String> {
    py.detach(|| acquisition::slurm_job_of(pid))
}

fn dictionary<'py>(py: Python<'py>, table: &ProcessTable) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("found", table.found.map(acquisition::Found::word))?;
    found.set_item("layout", table.layout)?;
    found.set_item("entries", entries(py, &table.entries)?)?;
    found.set_item("size", table.size)?;
    found.set_item("debug_state", table.debug_state)?;
    found.set_item("abort_string", table.abort_string.as_deref())?;
    found.set_item("being_debugged", table.being_debugged)?;
    let presence = table.presence;
    found.set_item("has_gate", presence.map(|there| there.gate))?;
    found.set_item("is_starter", presence.map(|there| there.starter))?;
    found.set_item("acquired_pre_main", presence.map(|there| there.acquired_pre_main))?;
    found.set_item("force_to_main", presence.map(|there| there.force_to_main))?;
    found.set_item("partial_attach_ok", presence.map(|there| there.partial_attach_ok))?;
    found.set_item("ignore_queues", presence.map(|there| there.ignore_queues))?;
    found.set_item("executable_path", table.executable_path.as_deref())?;
    found.set_item("server_arguments", &table.server_arguments)?;
    found.set_item("attach_fifo", table.attach_fifo.as_deref())?;
    found.set_item("dll_name", table.dll_name.as_deref())?;
    let symbols = PyDict::new(py);
    for (name, addr) in &table.symbols {
        symbols.set_item(name, addr.get())?;
    }
    found.set_item("symbols", symbols)?;
    found.set_item("problems", &table.problems)?;
    Ok(found)
}

fn entries<'py>(py: Python<'py>, entries: &[Entry]) -> PyResult<Bound<'py, PyList>> {
    // A text that entries share is one in Python too: a table can have a million of them.
    let mut texts: HashMap<*const u8, Bound<'py, PyString>> = HashMap::new();
    let mut shared = |text: &Option<Arc<str>>| {
        text.as_ref().map(|text| texts.entry(text.as_ptr()).or_insert_with(|| PyString::new(py, text)).clone())
    };
    let list = PyList::empty(py);
    for entry in entries {
        let one = PyDict::new(py);
        one.set_item("host", shared(&entry.host))?;
        one.set_item("executable", shared(&entry.executable))?;
        one.set_item("pid", entry.pid)?;
        one.set_item("problem", entry.problem.as_deref())?;
        list.append(one)?;
    }
    Ok(list)
}
