//! A plug-in as a source of queues.

use super::{Datatypes, Evidence, NoDatatypes, PluginError, PluginOutcome, PluginRequest, normalise, read_with_plugin};
use layouts::Layouts;
use model::{Communicator, QueueReport, QueueSource};
use target::{Image, Target};

/// Reads the queues of one stopped process with a plug-in.
pub struct PluginSource<'a> {
    target: &'a dyn Target,
    layouts: &'a Layouts,
    image: &'a Image,
    request: PluginRequest<'a>,
    known: &'a [Communicator],
    /// What knows the process's datatypes; by default nothing does.
    pub datatypes: &'a dyn Datatypes,
    outcome: Option<PluginOutcome>,
}

impl<'a> PluginSource<'a> {
    /// A source; `known` are the communicators that our own reader found, from which world ranks are taken (none:
    /// the plug-in's own stay).
    pub fn new(
        target: &'a dyn Target,
        layouts: &'a Layouts,
        image: &'a Image,
        request: PluginRequest<'a>,
        known: &'a [Communicator],
    ) -> Self {
        Self { target, layouts, image, request, known, datatypes: &NoDatatypes, outcome: None }
    }

    /// What the last run gave besides its report.
    pub fn outcome(&self) -> Option<&PluginOutcome> {
        self.outcome.as_ref()
    }
}

impl QueueSource for PluginSource<'_> {
    type Error = PluginError;

    fn read_queues(&mut self) -> Result<QueueReport, PluginError> {
        let mut outcome = read_with_plugin(self.target, self.layouts, self.image, &self.request);
        let mut report = std::mem::take(&mut outcome.report);
        let failure = outcome.failure.clone();
        if let Some(failure) = &failure {
            report.problems.push(failure.to_string());
        }
        let outcome = self.outcome.insert(outcome);
        match failure {
            Some(failure) if report.communicators.is_empty() => Err(failure),
            _ => {
                let dialect = self.request.dialect;
                let evidence = Evidence {
                    target: self.target,
                    layouts: self.layouts,
                    known: self.known,
                    asked: &outcome.asked,
                    datatypes: self.datatypes,
                };
                dialect.correct(&mut report, &evidence);
                normalise(&mut report, self.known, dialect);
                Ok(report)
            }
        }
    }
}
