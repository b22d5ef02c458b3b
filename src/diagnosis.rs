//! What was found to be wrong, in Python: views into one shared diagnosis, made when they are asked for.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::queue::counted;
use super::snapshot::{Snapshot, write_json};
use super::told::{place, told};
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

    /// What it was made from, and what was found.
    pub(super) fn parts(&self) -> (&model::Snapshot, &[model::Finding], &model::Verdict) {
        (&self.0.snapshot, &self.0.findings, &self.0.verdict)
    }

    /// Finds what is wrong. Other Python threads run meanwhile.
    pub(super) fn of(
        py: Python<'_>,
        snapshot: Arc<model::Snapshot>,
        earlier: Option<&Arc<model::Snapshot>>,
        interval_ms: Option<u64>,
        watched: &diagnose::Watched,
    ) -> Self {
        let (findings, verdict) = py.detach(|| {
            let earlier = earlier.map(|earlier| diagnose::Earlier { snapshot: earlier, interval_ms, watched });
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

told!(Diagnosis, "findings", "mpi_queues.report.diagnosis");

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
    fn __len__(&self) -> usize {
        self.0.findings.len()
    }

    fn __getitem__(&self, index: isize) -> PyResult<Finding> {
        let finding = place(index, self.0.findings.len(), "findings")?;
        Ok(Finding { found: Arc::clone(&self.0), finding })
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
