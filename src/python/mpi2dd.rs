//! The MPI2DD interface of processes of this machine.

use pyo3::prelude::*;

use super::session::native_error;
use super::snapshot::to_python;
use crate::acquisition::mpi2dd::{LocalProcesses, StartError, walk};

/// What the directories of a job tell. Python threads go on while they are read.
#[pyfunction]
#[pyo3(signature = (pid, hosts = Vec::new()))]
pub fn mpi2dd<'py>(py: Python<'py>, pid: i32, hosts: Vec<String>) -> PyResult<Option<Bound<'py, PyAny>>> {
    match py.detach(|| walk(&LocalProcesses::new(&hosts), pid)) {
        Ok(report) => report.map(|report| to_python(py, &report)).transpose(),
        Err(error) => {
            let kind = match error {
                StartError::Ended => "gone",
                StartError::Failed(_) => "fault",
                StartError::Refused(_) => "mpi2dd",
            };
            Err(native_error(py, kind, "", format!("pid {pid}: {error}")))
        }
    }
}
