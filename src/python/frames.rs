//! What files say about frames, for the adapters.

use std::path::PathBuf;

use pyo3::prelude::*;

use crate::{frames, model};

/// Names of source files as the compiler was given them. Python threads go on while the file is read.
#[pyfunction]
pub fn source_names(py: Python<'_>, path: PathBuf, wanted: Vec<(String, String)>) -> Vec<Option<String>> {
    let wanted: Vec<_> = wanted.into_iter().map(|(unit, file)| frames::SourcePath { unit, file }).collect();
    py.detach(|| frames::source_names(&path, &wanted))
}

/// Whether code says that it was called by nobody.
#[pyfunction]
pub fn is_outermost(py: Python<'_>, path: PathBuf, address: u64) -> bool {
    py.detach(|| frames::is_outermost(&path, address))
}

/// The symbols that stand for code.
#[pyfunction]
pub fn symbol_names(py: Python<'_>, path: PathBuf, starts: Vec<u64>) -> Vec<Option<String>> {
    py.detach(|| frames::symbol_names(&path, &starts))
}

/// Names of functions in the source.
#[pyfunction]
pub fn scoped_names(py: Python<'_>, path: PathBuf, unit: &str, starts: Vec<u64>) -> Vec<Option<String>> {
    py.detach(|| frames::scoped_names(&path, unit, &starts))
}

/// The outermost MPI function of C or Fortran among functions, innermost first: its place, and its name in C.
#[pyfunction]
pub fn mpi_frame(functions: Vec<Option<String>>) -> Option<(usize, String)> {
    model::outermost_mpi_function(&functions).map(|found| (found.index, found.c_name))
}

/// Where an executable has its program headers, and variables of its own.
#[pyfunction]
pub fn own_variables(py: Python<'_>, path: PathBuf) -> Option<(u64, Vec<(u64, u64)>)> {
    py.detach(|| frames::own_variables(&path)).map(|found| (found.headers, found.ranges))
}
