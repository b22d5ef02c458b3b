//! Files that others name, for Python.

use std::ffi::OsString;
use std::os::fd::IntoRawFd;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::target::text;
use target::files::{self, FileError, Reader};
use target::libraries;

/// For whom a file is read: user, group, other groups.
type GivenReader = Option<(u32, u32, Vec<u32>)>;

fn opened(py: Python<'_>, path: &Path, reader: GivenReader) -> PyResult<files::RegularFile> {
    let reader = reader.map(|(uid, gid, groups)| Reader { uid, gid, groups });
    let opened = py.detach(|| match &reader {
        Some(reader) => files::open_regular_as(path, reader),
        None => files::open_regular(path),
    });
    opened.map_err(|error| os_error(path, &error))
}

/// Opens a regular file, and nothing else; returns its descriptor. What is read of that may wait for its file system, which
/// has just answered. `reader` is for whom.
#[pyfunction]
#[pyo3(signature = (path, reader = None))]
pub fn open_regular(py: Python<'_>, path: PathBuf, reader: GivenReader) -> PyResult<i32> {
    let failed = |error: &FileError| os_error(&path, error);
    if let Some(file) = opened(py, &path, reader)?.into_file() {
        return Ok(file.into_raw_fd());
    }
    let named = py.detach(|| files::open_named(&path)).map_err(|error| failed(&error))?;
    named.into_file().map(IntoRawFd::into_raw_fd).ok_or_else(|| failed(&FileError::Irregular(files::Irregular::Other)))
}

/// A regular file that is open, and never waited for for long.
#[pyclass(frozen, module = "mpi_queues._native")]
pub struct RegularFile {
    file: files::RegularFile,
    path: PathBuf,
}

#[pymethods]
impl RegularFile {
    #[new]
    #[pyo3(signature = (path, reader = None))]
    fn new(py: Python<'_>, path: PathBuf, reader: GivenReader) -> PyResult<Self> {
        Ok(Self { file: opened(py, &path, reader)?, path })
    }

    /// At most so many bytes at a place; none at its end.
    fn read_at<'py>(&self, py: Python<'py>, offset: u64, length: usize) -> PyResult<Bound<'py, PyBytes>> {
        // What is asked for at once is not more than this.
        let mut bytes = vec![0; length.min(1 << 20)];
        let read = py.detach(|| self.file.read_at(&mut bytes, offset));
        let read = read.map_err(|error| PyOSError::new_err((libc::ETIMEDOUT, error.to_string(), self.path.clone())))?;
        Ok(PyBytes::new(py, bytes.get(..read).unwrap_or_default()))
    }

    /// What it was when it was opened.
    #[getter]
    fn about(&self) -> About {
        about_of(self.file.about())
    }
}

/// Of a file: the numbers of its file system and of itself, its length, when it was written last in nanoseconds since 1970,
/// its mode, its user and its group.
type About = (u64, u64, u64, i128, u32, u32, u32);

fn about_of(about: &files::About) -> About {
    let (seconds, nanoseconds) = about.modified;
    let written = i128::from(seconds) * 1_000_000_000 + i128::from(nanoseconds);
    (about.device, about.inode, about.size, written, about.mode, about.owner, about.group)
}

/// What a path leads to.
#[pyfunction]
pub fn about_file(py: Python<'_>, path: PathBuf) -> PyResult<About> {
    let found = py.detach(|| files::about(&path));
    found.map(|about| about_of(&about)).map_err(|error| os_error(&path, &error))
}

/// The path of what a path leads to, without links.
#[pyfunction]
pub fn real_path(py: Python<'_>, path: PathBuf) -> PyResult<OsString> {
    let found = py.detach(|| files::real_path(&path));
    found.map(PathBuf::into_os_string).map_err(|error| os_error(&path, &error))
}

/// What is not read because file systems do not answer, a sentence for each of these.
#[pyfunction]
pub fn unanswered() -> Vec<String> {
    files::unanswered()
}

/// How often a file system that did not answer has answered again.
#[pyfunction]
pub fn answered_again() -> u64 {
    files::answered_again()
}

/// What a path names that is no regular file, in words; `None` for a regular one, and where there is none.
#[pyfunction]
pub fn irregular(py: Python<'_>, path: PathBuf) -> Option<String> {
    py.detach(|| files::irregular(&path)).map(|kind| kind.to_string())
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
        FileError::NoAnswer(_) => libc::ETIMEDOUT,
    };
    PyOSError::new_err((number, error.reason(), path.to_path_buf()))
}
