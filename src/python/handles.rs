//! What handles mean, in Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::session::Session;
use super::snapshot::{Snapshot, to_python};
use crate::model::{HandleKind, HandleList};
use crate::readers::openmpi::handles::Depth;
use crate::session::Designator;

impl Session {
    /// As `Session.describe` of the contract.
    pub(super) fn describe_handle<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        value: &Bound<'py, PyAny>,
        fortran: bool,
        full: bool,
    ) -> PyResult<Bound<'py, PyAny>> {
        let kind = handle_kind(kind)?;
        let designator = match value.cast::<PyBytes>() {
            Ok(bytes) if kind == HandleKind::Status => Designator::Status(bytes.as_bytes().to_vec()),
            Ok(_) => return Err(PyValueError::new_err("only a status has bytes")),
            Err(_) if fortran => Designator::Fortran(value.extract()?),
            Err(_) => Designator::Handle(value.extract()?),
        };
        let depth = if full { Depth::Full } else { Depth::Short };
        let described = self.session.describe_handle(kind, &designator, depth);
        self.interrupted()?;
        to_python(py, &described.map_err(|error| self.error(py, &error))?)
    }

    /// The objects of these kinds.
    pub(super) fn handles_of_kinds(&self, py: Python<'_>, kinds: &[String]) -> PyResult<Vec<HandleList>> {
        if kinds.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = kinds.iter().map(|kind| Ok((handle_kind(kind)?, None))).collect::<PyResult<Vec<_>>>()?;
        let read = self.session.read_handles(&wanted).map_err(|error| self.error(py, &error))?;
        self.interrupted()?;
        Ok(read.handles)
    }

    /// As `Session.handles` of the contract.
    pub(super) fn list_handles(&self, py: Python<'_>, wanted: Vec<(String, Option<String>)>) -> PyResult<Snapshot> {
        self.session.target().begin();
        let named = |(kind, value): (String, Option<String>)| {
            Ok((handle_kind(&kind)?, value.as_deref().map(Designator::parse)))
        };
        let wanted = if wanted.is_empty() {
            HandleKind::listed().map(|kind| (kind, None)).collect()
        } else {
            wanted.into_iter().map(named).collect::<PyResult<Vec<_>>>()?
        };
        let read = self.session.read_handles(&wanted);
        self.finished(py, read.map_err(|error| self.error(py, &error))?)
    }
}

fn handle_kind(word: &str) -> PyResult<HandleKind> {
    HandleKind::from_word(word).ok_or_else(|| PyValueError::new_err(format!("no kind of handles is called {word:?}")))
}
