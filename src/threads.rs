//! The call of MPI on a thread's stack, for the adapters of debuggers.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use calls::{KeptFiles, NamedFrame, ThreadCall, thread_call};
use model::{Argument, SourceCall};
use target::TargetAbi;
use target::libraries::is_mpi_file;

use super::asked::PythonCaller;
use super::failure::{Failure, abi};
use super::target::{optional_text, text};

static KEPT: KeptFiles = KeptFiles::new();

/// Adds to a stack the function of MPI that has no frame of its own, the fingerprint, and what the call was given.
#[pyfunction]
pub fn add_call(stack: &Bound<'_, PyDict>, thread: Py<PyAny>) -> PyResult<()> {
    let py = stack.py();
    let failure = Failure::default();
    let found = thread_call(&frames(stack)?, &PythonThread { object: thread, failure: failure.clone() }, &KEPT);
    let ThreadCall { hidden, fingerprint, arguments, around } = found;
    let files = stack.as_any().get_item("frames")?;
    let mut calls = Vec::new();
    for (place, call) in around {
        let file = optional_text(&files.get_item(place)?.get_item("file")?)?;
        calls.push(SourceCall { file, ..call });
    }
    if !calls.is_empty() {
        // Python only hands it on.
        stack.set_item("source_calls", serde_json::to_string(&calls).unwrap_or_default())?;
    }
    if let Some((at, function)) = hidden {
        let frame = PyDict::new(py);
        frame.set_item("function", function)?;
        frame.set_item("file", py.None())?;
        frame.set_item("line", py.None())?;
        frame.set_item("application", false)?;
        stack.as_any().get_item("frames")?.cast::<PyList>()?.insert(at, frame)?;
    }
    stack.set_item("fingerprint", fingerprint)?;
    failure.raised()?;
    if let Some(found) = arguments {
        let given = found.arguments.iter().map(|argument| dictionary(py, argument)).collect::<PyResult<Vec<_>>>()?;
        stack.set_item("arguments", given)?;
        stack.set_item("arguments_unknown", found.unknown)?;
    }
    Ok(())
}

/// Says why nothing is known of what the call of a stack was given, where it has one.
#[pyfunction]
pub fn refuse_call(stack: &Bound<'_, PyDict>, why: &str) -> PyResult<()> {
    let names: Vec<_> = frames(stack)?.into_iter().map(|frame| frame.function).collect();
    match functions::outermost_mpi_function(&names) {
        Some(_) => stack.set_item("arguments_unknown", why),
        None => Ok(()),
    }
}

/// Whether code of a file is the application's.
#[pyfunction]
pub fn is_application(path: &Bound<'_, PyAny>, executable: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(target::libraries::is_application(&text(path)?, &text(executable)?))
}

fn frames(stack: &Bound<'_, PyDict>) -> PyResult<Vec<NamedFrame>> {
    let frame = |frame: PyResult<Bound<'_, PyAny>>| {
        let frame = frame?;
        let frame = frame.cast::<PyDict>()?;
        let function = frame.get_item("function")?.map_or(Ok(None), |name| optional_text(&name))?;
        let application = frame.get_item("application")?.map_or(Ok(false), |known| known.is_truthy())?;
        let image = frame.get_item("image")?.map_or(Ok(None), |path| optional_text(&path))?;
        let mpi = image.is_some_and(|path| is_mpi_file(&path));
        Ok(NamedFrame { function, application, mpi })
    };
    stack.as_any().get_item("frames")?.try_iter()?.map(frame).collect()
}

/// `debuggers.callers.Thread`.
struct PythonThread {
    object: Py<PyAny>,
    failure: Failure,
}

impl PythonThread {
    fn with<R>(&self, ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>) -> Result<R, calls::Unknown> {
        Python::attach(|py| self.failure.with(self.object.bind(py), ask))
    }
}

impl calls::Thread for PythonThread {
    type Caller = PythonCaller;

    fn abi(&self) -> Result<TargetAbi, calls::Unknown> {
        self.with(|object| abi(&object.getattr("process")?))
    }

    fn counter(&self, at: usize) -> Result<u64, calls::Unknown> {
        self.with(|object| object.call_method1("counter", (at,))?.extract())
    }

    fn read(&self, address: u64, length: usize) -> Result<Vec<u8>, calls::Unknown> {
        let process = self.with(|object| object.getattr("process").map(Bound::unbind))?;
        Python::attach(|py| self.failure.read(process.bind(py), "read_memory", address, length))
    }

    fn function_at(&self, address: u64) -> Result<Option<String>, calls::Unknown> {
        self.with(|object| optional_text(&object.call_method1("function_at", (address,))?))
    }

    fn fingerprint(&self, at: usize, outermost: usize) -> Result<Option<String>, calls::Unknown> {
        self.with(|object| object.call_method1("fingerprint", (at, outermost))?.extract())
    }

    fn caller(&self, at: usize) -> Result<PythonCaller, calls::Unknown> {
        let object = self.with(|object| object.call_method1("caller", (at,)).map(Bound::unbind))?;
        Ok(PythonCaller { object, failure: self.failure.clone() })
    }
}

fn dictionary<'py>(py: Python<'py>, argument: &Argument) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("name", argument.name.as_str())?;
    found.set_item("expression", argument.expression.as_deref())?;
    found.set_item("value", argument.value)?;
    for (key, text) in [("origin", &argument.origin), ("meaning", &argument.meaning), ("unknown", &argument.unknown)] {
        if let Some(text) = text {
            found.set_item(key, text.as_str())?;
        }
    }
    if let Some(values) = &argument.values {
        found.set_item("values", values)?;
    }
    Ok(found)
}
