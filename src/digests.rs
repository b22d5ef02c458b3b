//! What agents of nodes say, as snapshots.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use target::text::in_a_line;

use super::snapshot::Snapshot;

/// Reads what the agents of a job say of their nodes; what is equal on several is kept once.
#[pyclass(frozen, module = "mpi_queues")]
#[derive(Default)]
pub struct Digests(Mutex<model::Digests>);

#[pymethods]
impl Digests {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// The snapshot of one node's ranks; ValueError where that makes no sense.
    fn read(&self, py: Python<'_>, body: &[u8]) -> PyResult<Snapshot> {
        let read = || self.0.lock().unwrap_or_else(PoisonError::into_inner).read(body);
        let found =
            py.detach(read).map_err(|reason| PyValueError::new_err(in_a_line(&reason.to_string()).into_owned()))?;
        Ok(Snapshot(found.into()))
    }
}
