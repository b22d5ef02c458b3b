//! What handles mean, in Python.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::drafts::class_flag;
use super::session::Session;
use super::snapshot::{Snapshot, to_python};
use drafts::mpidbg::Handles;
use model::{HandleKind, HandleList};
use readers::Depth;
use session::Designator;

/// Who tells: the built-in reader or a plug-in.
pub(super) struct Reporter {
    plugin: bool,
    path: Option<PathBuf>,
    timeout: f64,
}

impl Reporter {
    /// From the arguments that are the same everywhere.
    pub(super) fn new(source: &str, path: Option<PathBuf>, timeout: f64) -> PyResult<Self> {
        match source {
            "auto" | "builtin" => Ok(Self { plugin: false, path, timeout }),
            "plugin" => Ok(Self { plugin: true, path, timeout }),
            other => Err(PyValueError::new_err(format!("no source is called {other:?}"))),
        }
    }
}

/// How a value names a handle.
pub(super) struct Form<'a> {
    /// It is a Fortran integer.
    pub fortran: bool,
    /// It is the address of an object of this class of C++.
    pub cxx: Option<&'a str>,
    /// Everything is wanted, not the summary only.
    pub full: bool,
}

impl Session {
    /// As `Session.describe` of the contract.
    pub(super) fn describe_handle<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        value: &Bound<'py, PyAny>,
        form: &Form<'_>,
        reporter: Reporter,
    ) -> PyResult<Bound<'py, PyAny>> {
        let kind = handle_kind(kind)?;
        let fortran = form.fortran;
        let designator = match value.cast::<PyBytes>() {
            Ok(bytes) if kind == HandleKind::Status => Designator::Status(bytes.as_bytes().to_vec()),
            Ok(_) => return Err(PyValueError::new_err("only a status has bytes")),
            Err(_) if fortran => Designator::Fortran(value.extract()?),
            Err(_) => Designator::Handle(value.extract()?),
        };
        let depth = if form.full { Depth::Full } else { Depth::Short };
        let class = form.cxx.map(class_flag).transpose()?;
        let described = match (reporter.plugin, class) {
            (true, class) => self.with_settings(reporter.path, reporter.timeout, |settings| {
                Handles { session: &self.session, settings }.describe(kind, &designator, class)
            })?,
            (false, None) => self.session.describe_handle(kind, &designator, depth),
            (false, Some(_)) => {
                return Err(PyValueError::new_err(
                    "the built-in reader takes the handle in the object, not its address",
                ));
            }
        };
        self.interrupted()?;
        to_python(py, &described.map_err(|error| self.error(py, &error))?)
    }

    /// The objects of these kinds.
    pub(super) fn handles_of_kinds(&self, py: Python<'_>, kinds: &[String]) -> PyResult<Vec<HandleList>> {
        if kinds.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = kinds.iter().map(|kind| Ok((handle_kind(kind)?, None))).collect::<PyResult<Vec<_>>>()?;
        let read = self.apart(py, |session| session.read_handles(&wanted)).map_err(|error| self.error(py, &error))?;
        self.interrupted()?;
        Ok(read.handles.into_owned())
    }

    /// As `Session.handles` of the contract.
    pub(super) fn list_handles(
        &self,
        py: Python<'_>,
        wanted: Vec<(String, Option<String>)>,
        reporter: Reporter,
    ) -> PyResult<Snapshot> {
        self.session.begin();
        let named = |(kind, value): (String, Option<String>)| {
            Ok((handle_kind(&kind)?, value.as_deref().map(Designator::parse)))
        };
        let wanted = if wanted.is_empty() {
            HandleKind::listed().map(|kind| (kind, None)).collect()
        } else {
            wanted.into_iter().map(named).collect::<PyResult<Vec<_>>>()?
        };
        let read = if reporter.plugin {
            self.with_settings(reporter.path, reporter.timeout, |settings| {
                self.apart(py, |session| Handles { session, settings }.read(&wanted))
            })?
        } else {
            self.apart(py, |session| session.read_handles(&wanted))
        };
        self.finished(py, read.map_err(|error| self.error(py, &error))?, false, Vec::new())
    }
}

fn handle_kind(word: &str) -> PyResult<HandleKind> {
    HandleKind::from_word(word).ok_or_else(|| PyValueError::new_err(format!("no kind of handles is called {word:?}")))
}

/// The kinds of MPI's handles: the word, the type in C, and what one is called in a sentence.
#[pyfunction]
pub fn handle_kinds() -> Vec<(&'static str, &'static str, &'static str)> {
    HandleKind::all().map(|kind| (kind.word(), kind.c_type(), kind.noun())).collect()
}
