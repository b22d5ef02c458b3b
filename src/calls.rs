//! What files say about frames, for the adapters.

use std::collections::HashMap;
use std::path::PathBuf;

use pyo3::prelude::*;

/// Names of source files as the compiler was given them. Python threads go on while the file is read.
#[pyfunction]
pub fn source_names(py: Python<'_>, path: PathBuf, wanted: Vec<(String, String)>) -> Vec<Option<String>> {
    let wanted: Vec<_> = wanted.into_iter().map(|(unit, file)| calls::SourcePath { unit, file }).collect();
    py.detach(|| calls::source_names(&path, &wanted))
}

/// Whether code says that it was called by nobody.
#[pyfunction]
pub fn is_outermost(py: Python<'_>, path: PathBuf, address: u64) -> bool {
    py.detach(|| calls::is_outermost(&path, address))
}

/// The symbols that stand for code.
#[pyfunction]
pub fn symbol_names(py: Python<'_>, path: PathBuf, starts: Vec<u64>) -> Vec<Option<String>> {
    py.detach(|| calls::symbol_names(&path, &starts))
}

/// Names of functions in the source.
#[pyfunction]
pub fn scoped_names(py: Python<'_>, path: PathBuf, unit: &str, starts: Vec<u64>) -> Vec<Option<String>> {
    py.detach(|| calls::scoped_names(&path, unit, &starts))
}

/// The outermost MPI function of C or Fortran among functions, innermost first: its place, and its name in C.
#[pyfunction]
pub fn mpi_frame(functions: Vec<Option<String>>) -> Option<(usize, String)> {
    functions::outermost_mpi_function(&functions).map(|found| (found.index, found.c_name))
}

/// A parameter of a function of MPI, with the names of `_native.pyi`.
type Parameter = (&'static str, bool, Option<&'static str>, bool, Option<u64>);

/// The parameters of a function of MPI, by its name in C.
#[pyfunction]
pub fn mpi_parameters(function: &str, fortran: bool) -> Option<Vec<Parameter>> {
    let found = functions::find(function)?;
    let shown = |one: &&functions::Parameter| !fortran || one.in_fortran;
    Some(found.parameters.iter().filter(shown).map(parameter).collect())
}

fn parameter(one: &functions::Parameter) -> Parameter {
    let given = one.object().is_some_and(|object| one.gives(object));
    let length = match one.array {
        Some(functions::Array::Counted(count)) if given => Some(count),
        _ => None,
    };
    (one.name, one.address, length, given && one.address && one.array.is_none(), one.bytes.filter(|_| !one.address))
}

/// Where an executable has its program headers, and variables of its own.
#[pyfunction]
pub fn own_variables(py: Python<'_>, path: PathBuf) -> Option<(u64, Vec<(u64, u64)>)> {
    py.detach(|| calls::own_variables(&path)).map(|found| (found.headers, found.ranges))
}

/// A call, as the debug information of an optimised program has it.
#[pyclass(frozen, module = "mpi_queues._native")]
pub struct CallSite(calls::CallSite);

/// A call, where `.text` of its file begins in memory, the registers of its frame, and its canonical frame address.
type CallFrame<'py> = (PyRef<'py, CallSite>, u64, HashMap<u16, u64>, Option<u64>);

#[pymethods]
impl CallSite {
    /// The symbol of the function that is called.
    #[getter]
    fn target(&self) -> Option<&str> {
        self.0.target.as_deref()
    }

    /// Where the function begins that the call stands in.
    #[getter]
    fn entry(&self) -> u64 {
        self.0.entry
    }

    /// Whether that function may jump to others.
    #[getter]
    fn jumps(&self) -> bool {
        self.0.jumps
    }

    /// Whether a value is one that the function's own caller gave it.
    #[getter]
    fn needs_caller(&self) -> bool {
        self.0.needs_caller()
    }
}

/// The call that returns to an address.
#[pyfunction]
#[pyo3(signature = (path, offset, build_id=None))]
pub fn call_site(py: Python<'_>, path: PathBuf, offset: u64, build_id: Option<&str>) -> Option<CallSite> {
    py.detach(|| calls::call_site(&path, offset, build_id)).map(CallSite)
}

/// What the function of the first frame's call was given; `read` gives memory, or None.
#[pyfunction]
pub fn call_values(frames: Vec<CallFrame<'_>>, read: &Bound<'_, PyAny>) -> PyResult<Vec<(usize, u64)>> {
    let mut found = Vec::new();
    for (site, text, registers, cfa) in &frames {
        found.push(calls::CallFrame { site: &site.0, text: *text, registers: registers.clone(), cfa: *cfa });
    }
    let mut failed = None;
    let mut read = |address: u64, length: usize| -> Option<Vec<u8>> {
        match read.call1((address, length)).and_then(|read| read.extract()) {
            Ok(read) => read,
            Err(error) => {
                failed = Some(error);
                None
            }
        }
    };
    let values = calls::call_values(&found, &mut read);
    failed.map_or(Ok(values), Err)
}
