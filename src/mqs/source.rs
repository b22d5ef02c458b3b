//! A plug-in as a source of queues.

use super::{PluginError, PluginOutcome, PluginRequest, normalise, read_with_plugin};
use crate::layouts::Layouts;
use crate::model::{Communicator, QueueReport, QueueSource};
use crate::target::{Image, Target};

/// Reads the queues of one stopped process with a plug-in.
pub struct PluginSource<'a> {
    target: &'a dyn Target,
    layouts: &'a Layouts,
    image: &'a Image,
    request: PluginRequest<'a>,
    known: &'a [Communicator],
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
        Self { target, layouts, image, request, known, outcome: None }
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
        self.outcome = Some(outcome);
        match failure {
            Some(failure) if report.communicators.is_empty() => Err(failure),
            _ => {
                if !self.known.is_empty() {
                    normalise(&mut report, self.known);
                }
                super::requests::correct(&mut report, self.target, self.layouts);
                Ok(report)
            }
        }
    }
}
