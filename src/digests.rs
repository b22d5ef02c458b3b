//! Digests of the agents of many nodes, in Python.

use std::io::Read as _;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::snapshot::Snapshot;
use super::unpacked::Unpacked;
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

    /// The snapshot of the next digest of a sender, which is packed with zlib and has at most `longest` bytes. Other Python threads run
    /// meanwhile, and may read those of other senders.
    fn read(&self, py: Python<'_>, sender: &str, packed: &[u8], longest: u64) -> PyResult<Snapshot> {
        let read = || {
            let mut text = String::new();
            let unpacked = Unpacked::new(packed, longest).read_to_string(&mut text);
            unpacked.map_err(|error| format!("not a digest: {error}"))?;
            self.0.read(sender, text).map_err(|error| error.to_string())
        };
        let snapshot = py.detach(read).map_err(|error| PyValueError::new_err(in_a_line(&error).into_owned()))?;
        Ok(Snapshot(snapshot.into()))
    }
}
