//! Records the process of a session.

use std::io::{BufWriter, Write};

use pyo3::prelude::*;

use super::origin::Origin;
use super::recording::{Failure, PythonWriter};
use super::session::{Session, native_error, now};
use recording::{Range, Region, full_ranges};
use session::{self, RecordError, RecordRequest};
use target::Target;

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
        let (more, full, left_out) = self.more_memory(py, full)?;
        let captured_at = match origin.captured_at() {
            Some(recorded) => Some(recorded),
            None => Some(now(py)?),
        };
        let failure = Failure::default();
        let mut tell = |done: u64, total: u64| {
            failure.check(|py| {
                py.check_signals()?;
                progress.as_ref().map_or(Ok(()), |progress| progress.call1(py, (done, total)).map(|_| ()))
            })
        };
        let mut out = BufWriter::with_capacity(1 << 16, PythonWriter { write, failure: &failure });
        let result = self.with_settings(None, 10.0, |settings| {
            // Where the MPI says that its plug-in is.
            let also = |target: &dyn Target| settings.find_candidates(target);
            let request = RecordRequest { facts, captured_at, more, full, also: &also, left_out, progress: &mut tell };
            let told = self.session.record(request, &mut out)?;
            out.flush()?;
            Ok(told)
        })?;
        self.interrupted()?;
        match result {
            Ok(problem) => Ok(problem.map(|error| error.to_string())),
            Err(RecordError::Session(error)) => Err(self.error(py, &error)),
            Err(error @ RecordError::Write(_)) => {
                Err(failure.take().unwrap_or_else(|| native_error(py, "fault", "", error.to_string())))
            }
        }
    }

    /// The memory that is recorded besides what readers ask for, whether that makes a full recording, and what is left out.
    fn more_memory(&self, py: Python<'_>, full: bool) -> PyResult<(Vec<Range>, bool, Vec<String>)> {
        let all = |regions: &[Region]| {
            let (ranges, left_out) = full_ranges(regions);
            (ranges, true, left_out)
        };
        let refused = |text: &str| native_error(py, "not_recorded", "leave out --full", text.to_owned());
        match self.session.target() {
            Origin::Debugger(..) | Origin::Live(_) | Origin::Core(_) if !full => Ok((Vec::new(), false, Vec::new())),
            Origin::Live(native) => Ok(all(&native.regions())),
            Origin::Core(native) => Ok(all(&native.regions())),
            Origin::Debugger(debugger, _) => match debugger.regions() {
                Ok(Some(regions)) => Ok(all(&regions)),
                Ok(None) => Err(refused("the process's memory mappings are not known, which a full recording needs")),
                Err(error) => Err(self.urgent.take().unwrap_or_else(|| refused(&error.to_string()))),
            },
            // Nothing that a recording has is lost where it is recorded again.
            Origin::Recording(replay) => {
                let mut left_out = replay.end.left_out.clone();
                if full && !replay.description.full {
                    left_out
                        .push("the memory that a full recording has was not in the recording it was made from".into());
                }
                Ok((replay.ranges().collect(), replay.description.full, left_out))
            }
        }
    }
}
