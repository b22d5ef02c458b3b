//! What files say about frames, for the adapters.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use calls::system_calls::{self, CallRegisters};
use model::SystemCall;
use target::registers::Machine;

use super::target::text;

/// Names of source files as the compiler was given them. Python threads go on while the file is read.
#[pyfunction]
pub fn source_names(
    py: Python<'_>,
    path: PathBuf,
    wanted: Vec<(Bound<'_, PyAny>, Bound<'_, PyAny>)>,
) -> PyResult<Vec<Option<String>>> {
    let wanted =
        wanted.into_iter().map(|(unit, file)| Ok(calls::SourcePath { unit: text(&unit)?, file: text(&file)? }));
    let wanted = wanted.collect::<PyResult<Vec<_>>>()?;
    Ok(py.detach(|| calls::source_names(&path, &wanted)))
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
pub fn scoped_names(
    py: Python<'_>,
    path: PathBuf,
    unit: &Bound<'_, PyAny>,
    starts: Vec<u64>,
) -> PyResult<Vec<Option<String>>> {
    let unit = text(unit)?;
    Ok(py.detach(|| calls::scoped_names(&path, &unit, &starts)))
}

/// A parameter of a function of MPI, with the names of `_native.pyi`.
type Parameter = (&'static str, bool, Option<&'static str>, bool, Option<u64>);

/// The parameters of a function of MPI, by its name in C.
#[pyfunction]
pub fn mpi_parameters(function: &str, fortran: bool) -> Option<Vec<Parameter>> {
    let found = calls::parameters(function, fortran)?;
    Some(found.iter().map(|one| (one.name, one.address, one.length, one.handle, one.bytes)).collect())
}

/// Where an executable has its program headers, and variables of its own.
#[pyfunction]
pub fn own_variables(py: Python<'_>, path: PathBuf) -> Option<(u64, Vec<(u64, u64)>)> {
    py.detach(|| calls::own_variables(&path)).map(|found| (found.headers, found.ranges))
}

/// What a thread of x86-64 does in the kernel, by registers.
#[pyfunction]
pub fn system_call_of_registers(
    py: Python<'_>,
    number: u64,
    result: u64,
    arguments: [u64; 3],
) -> PyResult<Bound<'_, PyDict>> {
    let registers = CallRegisters { number, result, arguments };
    system_call(py, &system_calls::of_registers(&registers))
}

/// The same by the text of a file of the kernel's.
#[pyfunction]
pub fn system_call_of_proc<'py>(
    py: Python<'py>,
    machine: &str,
    text: &str,
    result: Option<u64>,
) -> PyResult<Option<Bound<'py, PyDict>>> {
    let machine = Machine::named(machine);
    system_calls::of_proc(machine, text, result).map(|found| system_call(py, &found)).transpose()
}

fn system_call<'py>(py: Python<'py>, found: &SystemCall) -> PyResult<Bound<'py, PyDict>> {
    let told = PyDict::new(py);
    told.set_item("name", &found.name)?;
    told.set_item("waits", found.waits)?;
    told.set_item("timed", found.timed)?;
    told.set_item("descriptor", found.descriptor)?;
    Ok(told)
}

/// A function's name without parameters.
#[pyfunction]
pub fn without_parameters(name: &Bound<'_, PyAny>) -> PyResult<String> {
    Ok(symbols::without_parameters(&text(name)?))
}
