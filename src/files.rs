//! Files that others name, for Python.

use std::os::fd::IntoRawFd;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;

use super::target::text;
use target::files::{self, FileError, Reader};
use target::libraries;

/// Opens a regular file, and nothing else; returns its descriptor. `reader` is for whom: user, group, other groups.
#[pyfunction]
#[pyo3(signature = (path, reader = None))]
pub fn open_regular(py: Python<'_>, path: PathBuf, reader: Option<(u32, u32, Vec<u32>)>) -> PyResult<i32> {
    let reader = reader.map(|(uid, gid, groups)| Reader { uid, gid, groups });
    let opened = py.detach(|| match &reader {
        Some(reader) => files::open_regular_as(&path, reader),
        None => files::open_regular(&path),
    });
    opened.map(IntoRawFd::into_raw_fd).map_err(|error| os_error(&path, &error))
}

/// What a path names that is no regular file, in words; `None` for a regular one, and where there is none.
#[pyfunction]
pub fn irregular(py: Python<'_>, path: PathBuf) -> Option<String> {
    py.detach(|| files::irregular(&path)).map(|kind| kind.to_string())
}

/// The libraries that a process names and that are no regular files, with what they are.
#[pyfunction]
pub fn irregular_images(py: Python<'_>, pid: u32) -> Vec<(String, String)> {
    let found = py.detach(|| acquisition::irregular_images(pid));
    found.into_iter().map(|(path, kind)| (path, kind.to_string())).collect()
}

/// Whether a file name is that of an MPI's library.
#[pyfunction]
pub fn is_mpi_library(name: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(libraries::is_mpi_library(&text(name)?))
}

pub(super) fn os_error(path: &Path, error: &FileError) -> PyErr {
    let number = match error {
        FileError::Io(error) => error.raw_os_error().unwrap_or(libc::EIO),
        FileError::Irregular(_) => libc::EINVAL,
        FileError::TooLarge { .. } => libc::EFBIG,
        FileError::Forbidden(_) => libc::EACCES,
    };
    PyOSError::new_err((number, error.reason(), path.to_path_buf()))
}
