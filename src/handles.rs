//! What handles mean, in Python.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::session::Session;
use super::snapshot::{Snapshot, to_python};
use model::{HandleKind, HandleList};
use plugins::mpidbg::HandlePluginInfo;
use plugins::mpidbg::abi::comm;
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
                self.session.describe_with_plugin(kind, &designator, class, settings)
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
                self.apart(py, |session| session.read_handles_with_plugin(&wanted, settings))
            })?
        } else {
            self.apart(py, |session| session.read_handles(&wanted))
        };
        self.finished(py, read.map_err(|error| self.error(py, &error))?, false, Vec::new())
    }

    /// As `Session.handle_plugin_info` of the contract.
    pub(super) fn about_handle_plugin<'py>(
        &self,
        py: Python<'py>,
        plugin: Option<PathBuf>,
        timeout: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let info = PyDict::new(py);
        let (choice, reason, inspected) = self.with_settings(plugin, timeout, |settings| {
            let (choice, reason) = self.session.choose_handle_plugin(settings);
            let inspected = choice.chosen.as_ref().map(|_| self.session.inspect_handle_plugin(settings));
            (choice, reason, inspected)
        })?;
        self.interrupted()?;
        info.set_item("path", choice.chosen.as_ref().map(|chosen| chosen.path.clone()))?;
        info.set_item("how", choice.chosen.as_ref().map(|chosen| chosen.how.describe()))?;
        info.set_item("trusted", choice.chosen.is_some())?;
        info.set_item("reason", reason)?;
        match inspected {
            Some(Ok(inspected)) => set_facts(&info, &inspected)?,
            Some(Err(error)) => info.set_item("reason", error.to_string())?,
            None => {}
        }
        info.set_item("candidates", choice.described())?;
        Ok(info)
    }
}

/// What a plug-in for handles is, in a dictionary.
pub(super) fn set_facts(info: &Bound<'_, PyDict>, plugin: &HandlePluginInfo) -> PyResult<()> {
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
fn class_flag(class: &str) -> PyResult<u32> {
    Ok(match class {
        "MPI::Cartcomm" => comm::CARTESIAN,
        "MPI::Graphcomm" => comm::GRAPH,
        "MPI::Intercomm" => comm::INTERCOMM,
        "MPI::Comm" | "MPI::Intracomm" | "MPI::Errhandler" | "MPI::Status" => 0,
        "MPI::Request" | "MPI::Prequest" | "MPI::Grequest" => 0,
        other => return Err(PyValueError::new_err(format!("plug-ins know no class {other:?}"))),
    })
}

fn handle_kind(word: &str) -> PyResult<HandleKind> {
    HandleKind::from_word(word).ok_or_else(|| PyValueError::new_err(format!("no kind of handles is called {word:?}")))
}

/// The kinds of MPI's handles: the word, the type in C, and what one is called in a sentence.
#[pyfunction]
pub fn handle_kinds() -> Vec<(&'static str, &'static str, &'static str)> {
    HandleKind::all().map(|kind| (kind.word(), kind.c_type(), kind.noun())).collect()
}
