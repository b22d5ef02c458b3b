//! Interfaces that were only drafted, in Python: the processes of a job by MPI2DD, handles by MPIDBG.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::session::{Session, native_error, set_choice, set_plugin_facts};
use super::snapshot::to_python;
use drafts::mpi2dd::{LocalProcesses, StartError, walk};
use drafts::mpidbg::abi::comm;
use drafts::mpidbg::{HandlePluginInfo, Handles, inspect_handle_plugin, is_handle_plugin};
use plugins::mqs::PluginError;
use session::SessionError;

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

#[pymethods]
impl Session {
    /// What the plug-in for handles that would be used is, and which were looked at.
    #[pyo3(signature = (*, plugin = None, timeout = 60.0))]
    fn handle_plugin_info<'py>(
        &self,
        py: Python<'py>,
        plugin: Option<PathBuf>,
        timeout: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let info = PyDict::new(py);
        let (choice, reason, inspected) = self.with_settings(plugin, timeout, |settings| {
            let handles = Handles { session: &self.session, settings };
            let (choice, reason) = handles.choose();
            let inspected = choice.chosen.as_ref().map(|_| handles.inspect());
            (choice, reason, inspected)
        })?;
        self.interrupted()?;
        set_choice(&info, &choice, reason)?;
        match inspected {
            Some(Ok(inspected)) => set_facts(&info, &inspected)?,
            Some(Err(error)) => info.set_item("reason", error.to_string())?,
            None => {}
        }
        info.set_item("candidates", choice.described())?;
        Ok(info)
    }

    /// Checks a plug-in that the user asks for by name, in its helper process.
    fn trust_plugin<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyDict>> {
        // What it is depends on the functions that it exports.
        let (of_queues, of_handles) = self.with_settings(Some(path.clone()), 10.0, |settings| {
            let of_queues = self.session.inspect_plugin(&path, settings);
            let lacks = matches!(of_queues, Err(SessionError::Plugin(PluginError::MissingFunctions { .. })));
            let is_for_handles = lacks && is_handle_plugin(&path) == Ok(true);
            (of_queues, is_for_handles.then(|| inspect_handle_plugin(&path, settings.run)))
        })?;
        self.interrupted()?;
        let info = PyDict::new(py);
        info.set_item("path", path)?;
        match of_handles {
            Some(told) => set_facts(&info, &told.map_err(|error| self.error(py, &error.into()))?)?,
            None => set_plugin_facts(&info, of_queues.map_err(|error| self.error(py, &error))?)?,
        }
        Ok(info)
    }
}

/// What a plug-in for handles is, in a dictionary.
fn set_facts(info: &Bound<'_, PyDict>, plugin: &HandlePluginInfo) -> PyResult<()> {
    info.set_item("version", &plugin.version)?;
    info.set_item("interface", plugin.interface)?;
    info.set_item("width", plugin.width)?;
    info.set_item("functions", &plugin.functions)?;
    info.set_item("missing", &plugin.missing)?;
    info.set_item("types", plugin.types.clone())?;
    let names = plugin.names.iter();
    let names: Vec<_> = names.map(|(kind, name, handle)| (kind.word(), name.clone(), format!("{handle:#x}"))).collect();
    info.set_item("names", names)?;
    let capabilities = plugin.capabilities.iter();
    info.set_item("capabilities", capabilities.map(|(kind, flags)| (kind.word(), *flags)).collect::<Vec<_>>())
}

/// The interface's flag for a class of the C++ bindings.
pub(super) fn class_flag(class: &str) -> PyResult<u32> {
    Ok(match class {
        "MPI::Cartcomm" => comm::CARTESIAN,
        "MPI::Graphcomm" => comm::GRAPH,
        "MPI::Intercomm" => comm::INTERCOMM,
        "MPI::Comm" | "MPI::Intracomm" | "MPI::Errhandler" | "MPI::Status" => 0,
        "MPI::Request" | "MPI::Prequest" | "MPI::Grequest" => 0,
        other => return Err(PyValueError::new_err(format!("plug-ins know no class {other:?}"))),
    })
}
