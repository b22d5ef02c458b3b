//! One run of a plug-in, from the start of its helper process to its end.

use std::os::fd::RawFd;
use std::path::Path;
use std::time::Duration;

use super::conversation::{Stderr, converse};
use super::ended::why;
use super::error::PluginError;
use super::helper::Helper;
use super::server::Server;
use super::shared::Shared;
use target::files::Reader;

/// No time limit is longer.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// How plug-ins are run.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Time limit for everything, wall clock.
    pub timeout: Duration,
    /// With whose rights it runs, where root runs this; `None`: with ours.
    pub rights: Option<&'a Reader>,
    /// Whether the user has interrupted; asked at least every 100 ms.
    pub interrupted: &'a dyn Fn() -> bool,
}

impl Run<'_> {
    /// For so long, with our rights and without interrupts.
    pub fn within(timeout: Duration) -> Self {
        Self { timeout, rights: None, interrupted: &|| false }
    }

    /// Has `drive` call the functions of the plug-in at `path` in a helper process, whose end of the socket it gets, and
    /// `server` take what is told. Returns what the plug-in wrote to standard error, safe to print, and why it did not finish.
    /// `name` names the function of a number.
    pub fn run(
        &self,
        path: &Path,
        server: &mut dyn Server<'_>,
        name: impl Fn(u32) -> Option<&'static str>,
        drive: &dyn Fn(RawFd, &Shared),
    ) -> (Vec<String>, Option<PluginError>) {
        let timeout = self.timeout.min(LONGEST);
        let mut helper = match Helper::start(timeout, self.rights, drive) {
            Ok(helper) => helper,
            Err(error) => return (Vec::new(), Some(error)),
        };
        let mut stderr = Stderr::default();
        let end = converse(&mut helper, server, &mut stderr, timeout, self.interrupted);
        let lines = stderr.lines().into_iter().map(|line| format!("plug-in (stderr): {line}")).collect();
        (lines, why(end, &helper, path, timeout, name))
    }
}
