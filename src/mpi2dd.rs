//! The MPI2DD interface of processes of this machine.

use pyo3::prelude::*;

use super::session::native_error;
use super::snapshot::to_python;
use acquisition::mpi2dd::{LocalProcesses, StartError, walk};

/// What the directories of a job tell. Python threads go on while they are read.
#[pyfunction]
#[pyo3(signature = (pid, hosts = Vec::new()))]
pub fn mpi2dd<'py>(py: Python<'py>, pid: i64, hosts: Vec<String>) -> PyResult<Option<Bound<'py, PyAny>>> {
    // What is no process id of Linux at all names no process.
    let process = i32::try_from(pid).unwrap_or_default();
    match py.detach(|| walk(&LocalProcesses::new(&hosts).of_the_user_of(process), process)) {
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
