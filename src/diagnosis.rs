//! What was found to be wrong, in Python: views into one shared diagnosis, made when they are asked for.

use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

use super::queue::counted;
use super::snapshot::{Snapshot, write_json};
use analysis::diagnose;

/// What follows from a snapshot.
struct Found {
    snapshot: Arc<model::Snapshot>,
    findings: Vec<model::Finding>,
    verdict: model::Verdict,
}

impl Found {
    /// The snapshot with its diagnosis, for the JSON.
    fn told(&self) -> model::Snapshot {
        model::Snapshot {
            diagnosis: Some(self.findings.clone()),
            verdict: Some(self.verdict.clone()),
            ..self.snapshot.as_ref().clone()
        }
    }
}

/// Why a job is stuck.
#[pyclass(frozen, module = "mpi_queues")]
pub struct Diagnosis(Arc<Found>);

impl Diagnosis {
    pub(super) fn data(&self) -> &model::Verdict {
        &self.0.verdict
    }

    /// Finds what is wrong. Other Python threads run meanwhile.
    pub(super) fn of(
        py: Python<'_>,
        snapshot: Arc<model::Snapshot>,
        earlier: Option<&Arc<model::Snapshot>>,
        interval_ms: Option<u64>,
        moving: &[i64],
    ) -> Self {
        let (findings, verdict) = py.detach(|| {
            let earlier = earlier.map(|earlier| diagnose::Earlier { snapshot: earlier, interval_ms, moving });
            diagnose::diagnose(&snapshot, earlier)
        });
        Self(Arc::new(Found { snapshot, findings, verdict }))
    }

    /// The diagnosis that a snapshot already has, from its JSON.
    pub(super) fn in_snapshot(snapshot: &Arc<model::Snapshot>) -> Option<Self> {
        let (findings, verdict) = (snapshot.diagnosis.clone(), snapshot.verdict.clone());
        (findings.is_some() || verdict.is_some()).then(|| {
            let (findings, verdict) = (findings.unwrap_or_default(), verdict.unwrap_or_default());
            Self(Arc::new(Found { snapshot: Arc::clone(snapshot), findings, verdict }))
        })
    }
}

#[pymethods]
impl Diagnosis {
    /// What was found, the causes first.
    #[getter]
    fn findings(&self) -> Vec<Finding> {
        (0..self.0.findings.len()).map(|finding| Finding { found: Arc::clone(&self.0), finding }).collect()
    }
    /// The place of the finding whose claim the headline tells; None where it tells none.
    #[getter]
    fn headline_finding(&self) -> Option<usize> {
        self.0.verdict.finding.filter(|place| *place < self.0.findings.len())
    }
    /// The snapshot that it is of.
    #[getter]
    fn snapshot(&self) -> Snapshot {
        Snapshot(Arc::clone(&self.0.snapshot))
    }

    /// The snapshot's JSON with the diagnosis and the verdict, as one string.
    #[pyo3(signature = (*, indent = None))]
    fn to_json(&self, indent: Option<usize>) -> PyResult<String> {
        Snapshot(Arc::new(self.0.told())).to_json(indent)
    }

    /// The same in pieces of about 64 KiB, each handed to `write`.
    #[pyo3(signature = (write, *, indent = None))]
    fn write_json(&self, write: Bound<'_, PyAny>, indent: Option<usize>) -> PyResult<()> {
        write_json(&self.0.told(), write, indent)
    }

    fn __len__(&self) -> usize {
        self.0.findings.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<Finding> {
        let count = self.0.findings.len();
        let place = if index < 0 { count.checked_add_signed(index) } else { usize::try_from(index).ok() };
        let finding = place.filter(|place| *place < count);
        let finding = finding.ok_or_else(|| PyIndexError::new_err(format!("there are {count} findings")))?;
        Ok(Finding { found: Arc::clone(&self.0), finding })
    }

    fn __iter__(slf: &Bound<'_, Self>) -> PyResult<Py<pyo3::types::PyIterator>> {
        let findings = slf.getattr("findings")?;
        Ok(findings.try_iter()?.unbind())
    }

    /// A diagnosis without findings is one, too.
    fn __bool__(&self) -> bool {
        true
    }

    fn __str__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("mpi_queues.report.diagnosis")?.call_method1("as_text", (slf,))
    }

    fn __repr__(&self) -> PyResult<String> {
        let findings = counted(self.0.findings.len(), "finding", "s");
        Ok(format!("<mpi_queues.Diagnosis {}, {findings}: {}>", word(&self.0.verdict.state)?, self.0.verdict.headline))
    }

    fn __eq__(&self, other: &Self) -> bool {
        // Only one of them may come from a JSON that has the diagnosis in the snapshot, too.
        let facts = |found: &Found| (found.snapshot.captured_at.clone(), found.findings.clone(), found.verdict.clone());
        facts(&self.0) == facts(&other.0) && self.0.snapshot.processes == other.0.snapshot.processes
    }
}

/// One thing that was found.
#[pyclass(frozen, module = "mpi_queues")]
pub struct Finding {
    found: Arc<Found>,
    finding: usize,
}

impl Finding {
    pub(super) fn data(&self) -> &model::Finding {
        &self.found.findings[self.finding]
    }
}

#[pymethods]
impl Finding {
    fn __repr__(&self) -> PyResult<String> {
        let sure = if self.data().certain { "certain" } else { "possible" };
        Ok(format!("<mpi_queues.Finding {}, {sure}: {}>", word(&self.data().kind)?, self.data().summary))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.data() == other.data()
    }
}

/// How the JSON calls a value of an enumeration.
fn word(value: &impl serde::Serialize) -> PyResult<String> {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => Ok(word),
        _ => Err(PyValueError::new_err("no word")),
    }
}
