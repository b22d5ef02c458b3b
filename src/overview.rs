//! What reports show, for Python: as JSON, since reports are made from that.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::diagnosis::Diagnosis;
use super::queue::Queue;
use super::snapshot::Snapshot;
use overview::layout;

/// The middles of nodes, and the width and the height of the whole.
type Places = (Vec<(f64, f64)>, f64, f64);

/// Lays out nodes of these widths and heights in layers, edges downwards; ValueError where that is no graph, or too large.
#[pyfunction]
pub fn layered(sizes: Vec<(f64, f64)>, edges: Vec<(usize, usize)>) -> PyResult<Places> {
    let found = layout::layered(&sizes, &edges).map_err(|error| {
        PyValueError::new_err(match error {
            layout::LayoutError::TooLarge => "too many nodes or edges",
            layout::LayoutError::NoGraph => "an edge to a node that is not there, or a node without a size",
        })
    })?;
    Ok((found.middles, found.width, found.height))
}

#[pymethods]
impl Diagnosis {
    /// What a report shows: the JSON of the wait-for graph, and that of the tables. Other Python threads run meanwhile.
    fn overview(&self, py: Python<'_>) -> PyResult<(String, String)> {
        py.detach(|| {
            let (snapshot, findings, verdict) = self.parts();
            let found = ::overview::overview(snapshot, findings, verdict);
            Ok((serde_json::to_string(&found.graph)?, serde_json::to_string(&found.tables)?))
        })
        .map_err(|error: serde_json::Error| PyValueError::new_err(error.to_string()))
    }

    /// The JSON of the snapshot with the diagnosis, without the processes.
    fn conclusions(&self) -> PyResult<String> {
        let (snapshot, findings, verdict) = self.parts();
        let told = model::Snapshot {
            schema: snapshot.schema.clone(),
            captured_at: snapshot.captured_at.clone(),
            worlds: snapshot.worlds.clone(),
            notes: snapshot.notes.clone(),
            problems: snapshot.problems.clone(),
            diagnosis: Some(findings.to_vec()),
            verdict: Some(verdict.clone()),
            ..model::Snapshot::default()
        };
        serde_json::to_string(&told).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// What the package writes for people, given one of these.
fn told<'py>(of: &Bound<'py, PyAny>, function: &str) -> PyResult<Bound<'py, PyAny>> {
    of.py().import("mpi_queues.page.notebook")?.call_method1(function, (of,))
}

/// Writes the report of a snapshot or a diagnosis.
fn report(of: &Bound<'_, PyAny>, path: &Bound<'_, PyAny>, source: bool) -> PyResult<()> {
    of.py().import("mpi_queues.page.notebook")?.call_method1("report", (of, path, source))?;
    Ok(())
}

#[pymethods]
impl Diagnosis {
    /// Writes a report of it.
    #[pyo3(name = "report", signature = (path, *, source = true))]
    fn write_report(slf: &Bound<'_, Self>, path: &Bound<'_, PyAny>, source: bool) -> PyResult<()> {
        report(slf, path, source)
    }

    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        told(slf, "diagnosis_html")
    }
}

#[pymethods]
impl Snapshot {
    /// Writes a report of its diagnosis.
    #[pyo3(name = "report", signature = (path, *, source = true))]
    fn write_report(slf: &Bound<'_, Self>, path: &Bound<'_, PyAny>, source: bool) -> PyResult<()> {
        report(slf, path, source)
    }
}

#[pymethods]
impl Queue {
    fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        told(slf, "queue_html")
    }
}
