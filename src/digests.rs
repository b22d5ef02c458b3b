//! Digests of the agents of many nodes, in Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::snapshot::Snapshot;
use target::text::in_a_line;

/// What the agents of a job have sent.
#[pyclass(frozen, module = "mpi_queues")]
pub struct Digests(model::digest::Digests);

#[pymethods]
impl Digests {
    #[new]
    fn new() -> Self {
        Self(model::digest::Digests::default())
    }

    /// The snapshot of the next digest of a sender. Other Python threads run meanwhile, and may read those of other senders.
    fn read(&self, py: Python<'_>, sender: &str, digest: &[u8]) -> PyResult<Snapshot> {
        let read = || {
            let text = std::str::from_utf8(digest).map_err(|error| error.to_string())?;
            self.0.read(sender, text).map_err(|error| error.to_string())
        };
        let snapshot = py.detach(read).map_err(|error| PyValueError::new_err(in_a_line(&error).into_owned()))?;
        Ok(Snapshot(snapshot.into()))
    }
}
