//! What was found to be wrong, in Python: views into one shared diagnosis, made when they are asked for.

use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use super::queue::counted;
use super::snapshot::{Snapshot, write_json};
use super::told::{place, told};
use analysis::diagnose;
use analysis::worked::Kept;

/// What follows from a snapshot.
struct Found {
    snapshot: Arc<model::Snapshot>,
    /// What a second look need not work out again, where one is to come.
    kept: Option<Kept>,
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

    /// Finds what is wrong. `keep`: a second look is to come. Other Python threads run meanwhile.
    pub(super) fn of(py: Python<'_>, snapshot: Arc<model::Snapshot>, keep: bool) -> Self {
        let (kept, (findings, verdict)) = py.detach(|| {
            if !keep {
                return (None, diagnose::diagnose(&snapshot, None));
            }
            let kept = Kept::new(&snapshot);
            let told = kept.diagnose();
            (Some(kept), told)
        });
        Self(Arc::new(Found { snapshot, kept, findings, verdict }))
    }

    /// Finds what is wrong in the later one of two looks. `first`: what was found at the first.
    pub(super) fn of_two(
        py: Python<'_>,
        snapshot: Arc<model::Snapshot>,
        earlier: diagnose::Earlier<'_>,
        first: Option<&Self>,
    ) -> Self {
        let (findings, verdict) = py.detach(|| {
            let known =
                first.and_then(|first| first.0.kept.as_ref()?.diagnose_again(&first.0.snapshot, &snapshot, earlier));
            known.unwrap_or_else(|| diagnose::diagnose(&snapshot, Some(earlier)))
        });
        Self(Arc::new(Found { snapshot, kept: None, findings, verdict }))
    }

    /// The diagnosis that a snapshot already has, from its JSON.
    pub(super) fn in_snapshot(snapshot: &Arc<model::Snapshot>) -> Option<Self> {
        let (findings, verdict) = (snapshot.diagnosis.clone(), snapshot.verdict.clone());
        (findings.is_some() || verdict.is_some()).then(|| {
            let (findings, verdict) = (findings.unwrap_or_default(), verdict.unwrap_or_default());
            Self(Arc::new(Found { snapshot: Arc::clone(snapshot), kept: None, findings, verdict }))
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
