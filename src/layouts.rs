//! Layout profiles in Python: those that are shipped, and making new ones.

use std::path::PathBuf;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use super::session::native_error;
use layouts::{self, MakeRequest, shipped_named, shipped_profiles};
use readers::wanted::wanted_of;

/// The shipped profiles.
#[pyfunction]
pub fn layouts_list(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let list = PyList::empty(py);
    for shipped in shipped_profiles() {
        let profile = shipped.profile().map_err(|error| native_error(py, "bad_layout", "", error.to_string()))?;
        let entry = PyDict::new(py);
        entry.set_item("name", profile.name)?;
        entry.set_item("implementation", profile.identity.implementation)?;
        entry.set_item("version", profile.identity.version)?;
        entry.set_item("fits", profile.identity.fits)?;
        entry.set_item("device", profile.identity.device)?;
        entry.set_item("sizes", profile.identity.sizes)?;
        entry.set_item("types", profile.types.len())?;
        list.append(entry)?;
    }
    Ok(list)
}

/// The text of a shipped profile.
#[pyfunction]
pub fn layouts_show(py: Python<'_>, name: &str) -> PyResult<String> {
    let found = shipped_named(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
    found.text().map_err(|error| native_error(py, "bad_layout", "", error.to_string()))
}

/// A profile from debug information. Python threads go on while files are read.
#[pyfunction]
#[pyo3(signature = (*, objects, name, implementation, version, fits, sources, command, types, build_ids, device=None))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the Python function")]
pub fn layouts_make(
    py: Python<'_>,
    objects: Vec<PathBuf>,
    name: String,
    implementation: String,
    version: String,
    fits: Vec<String>,
    sources: Vec<String>,
    command: String,
    types: Vec<String>,
    build_ids: Vec<String>,
    device: Option<String>,
) -> PyResult<String> {
    let constants = Vec::new();
    let request = MakeRequest {
        objects,
        name,
        wanted: wanted_of(&implementation),
        implementation,
        version,
        device,
        fits,
        sources,
        command,
        types,
        constants,
        build_ids,
    };
    let made = py.detach(|| layouts::profile_from_objects(&request));
    let profile = made.map_err(|error| native_error(py, "bad_layout", "", error.to_string()))?;
    Ok(profile.to_json())
}
