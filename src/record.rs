//! Records the process of a session.

use std::io::{BufWriter, Write};

use pyo3::prelude::*;

use super::origin::Origin;
use super::recording::{Failure, PythonWriter};
use super::session::{Session, native_error};
use recording::Region;
use session::{self, Known, MoreMemory, RecordError, RecordRequest};
use target::{Mapping, Target};

impl Session {
    /// Writes the process through a Python function; returns why it cannot be read, where it cannot.
    pub(super) fn record_to(
        &self,
        py: Python<'_>,
        write: &Py<PyAny>,
        full: bool,
        progress: Option<&Py<PyAny>>,
    ) -> PyResult<Option<String>> {
        let origin = self.session.target();
        let facts = origin.facts(&session::RANK_VARIABLES);
        self.interrupted()?;
        let more = self.more_memory(py, full)?;
        let captured_at = Some(self.session.captured_at());
        let failure = Failure::default();
        let mut tell = |done: u64, total: u64| {
            failure.check(|py| {
                py.check_signals()?;
                progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (done, total)).map(|_| ()))
            })
        };
        let mut out = BufWriter::with_capacity(1 << 16, PythonWriter { write, failure: &failure });
        let also = |target: &dyn Target| drop(drafts::mpi2dd::named_plugin(target));
        let request = RecordRequest { facts, captured_at, more, also, progress: &mut tell };
        let result = self.apart(py, |session| {
            let told = session.record(request, &mut out)?;
            out.flush()?;
            Ok(told)
        });
        self.interrupted()?;
        match result {
            Ok(problem) => Ok(problem.map(|error| error.to_string())),
            Err(RecordError::Session(error)) => Err(self.error(py, &error)),
            Err(error @ RecordError::Write(_)) => {
                Err(failure.take().unwrap_or_else(|| native_error(py, "fault", "", error.to_string())))
            }
        }
    }

    /// The memory that is recorded besides what readers ask for.
    fn more_memory(&self, py: Python<'_>, full: bool) -> PyResult<MoreMemory> {
        let all = |mappings: &[Mapping]| MoreMemory::of_regions(&mappings.iter().map(Region::from).collect::<Vec<_>>());
        let mut origin = self.session.target();
        if let Origin::Held(_, inner) = origin {
            origin = inner;
        }
        match origin {
            Origin::Recording(replay) => Ok(MoreMemory::of_replay(replay, full)),
            _ if !full => Ok(MoreMemory::default()),
            Origin::Live(native) => Ok(all(&native.mappings())),
            Origin::Core(native) => Ok(all(&native.mappings())),
            Origin::Debugger(_) | Origin::Held(..) => {
                let text = "a full recording needs the process's memory mappings, which are not known";
                Err(native_error(py, "not_recorded", "leave out --full", text.to_owned()))
            }
        }
    }
}
