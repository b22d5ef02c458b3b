//! What was found to be wrong, in Python: views into one shared diagnosis, made when they are asked for.

use std::sync::Arc;

use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

use super::queue::counted;
use super::snapshot::{Snapshot, to_python, write_json};
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
    /// What is said of the whole: ``deadlock``, ``suspect`` (perhaps a deadlock), ``waiting`` (for ranks that are at
    /// work), ``running``, ``unknown``.
    #[getter]
    fn state(&self) -> PyResult<String> {
        word(&self.0.verdict.state)
    }
    /// What is said of the whole, in a sentence.
    #[getter]
    fn headline(&self) -> &str {
        &self.0.verdict.headline
    }
    /// The place of the finding whose claim the headline tells; None where it tells none.
    #[getter]
    fn headline_finding(&self) -> Option<usize> {
        self.0.verdict.finding.filter(|place| *place < self.0.findings.len())
    }
    /// What limits it: what could not be read or told apart, in sentences.
    #[getter]
    fn limits(&self) -> Vec<String> {
        self.0.verdict.limits.clone()
    }
    /// Of what kind the limits are, in the same order: ``kind`` and ``ranks``.
    #[getter]
    fn limited_by<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.verdict.limited_by)
    }
    /// Time between two looks in milliseconds; None for a single one, or where it is not known.
    #[getter]
    fn interval_ms(&self) -> Option<u64> {
        self.0.verdict.interval_ms
    }
    /// How ranks moved between two looks: ``rank``, ``state`` (``stuck``, ``slow``, ``spinning``, ``moved``,
    /// ``unknown``), ``how`` (sentences).
    #[getter]
    fn movement<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.0.verdict.movement)
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
        Ok(format!("<mpi_queues.Diagnosis {}, {findings}: {}>", self.state()?, self.0.verdict.headline))
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
    fn data(&self) -> &model::Finding {
        &self.found.findings[self.finding]
    }
}

#[pymethods]
impl Finding {
    /// What kind of thing, such as ``deadlock`` or ``tag mismatch``; docs/diagnosis.md has all.
    #[getter]
    fn kind(&self) -> PyResult<String> {
        word(&self.data().kind)
    }
    /// One sentence that names ranks, and what is wrong.
    #[getter]
    fn summary(&self) -> &str {
        &self.data().summary
    }
    /// The ranks it is about, as ``Snapshot.rank`` takes them; of a cycle in the order in which they wait for one
    /// another, else ascending.
    #[getter]
    fn ranks(&self) -> Vec<i64> {
        self.data().ranks.clone()
    }
    /// Where these stand: ``rank``, ``function`` (empty outside MPI), ``file``, ``line``, ``caller``, ``waits_for``.
    #[getter]
    fn calls<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        to_python(py, &self.data().calls)
    }
    /// Whether it follows from what was read; else it is possible, and ``evidence`` says what is not known.
    #[getter]
    fn certain(&self) -> bool {
        self.data().certain
    }
    /// What it follows from, in sentences, the strongest first; and what is not known.
    #[getter]
    fn evidence(&self) -> Vec<String> {
        self.data().evidence.clone()
    }
    /// What to look at or to do, in a sentence; may be None.
    #[getter]
    fn advice(&self) -> Option<&str> {
        self.data().advice.as_deref()
    }

    fn __repr__(&self) -> PyResult<String> {
        let sure = if self.data().certain { "certain" } else { "possible" };
        Ok(format!("<mpi_queues.Finding {}, {sure}: {}>", self.kind()?, self.data().summary))
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
