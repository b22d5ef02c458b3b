//! The host's side of a plug-in's run: answers its questions and puts together what it delivers.

use std::path::Path;

use super::abi::{Function, Need};
use super::convert;
use super::driver;
use super::protocol::{Event, Speaker};
use super::{NewProcess, PluginInfo, PluginRequest};
use crate::host::answers::{Answers, Asked};
use crate::host::error::PluginError;
use crate::host::foreign;
use crate::host::server::Server;
use crate::host::wire::{Failure, Kind};
use model::{Communicator, Queue, QueueKind, QueueReport, QueueState};
use target::printable;

/// Bytes that are shown of a name that is none.
const LONGEST_SHOWN: usize = 64;

/// Answers and collects.
pub struct PluginServer<'a> {
    /// What the plug-in asked and said.
    pub answers: Answers<'a>,
    path: &'a Path,
    image: String,
    request: &'a PluginRequest<'a>,
    /// What the plug-in is.
    pub info: PluginInfo,
    /// What was read.
    pub report: QueueReport,
    /// The group of each communicator of the report.
    pub groups: Vec<Option<Vec<Option<i64>>>>,
    /// Where the communicator and the queue at hand stand.
    open: Option<Option<QueueKind>>,
    operations: usize,
    ranks: usize,
    text_bytes: usize,
    texts_left_out: u64,
    /// Spawned processes.
    pub new_processes: Vec<NewProcess>,
    /// Where the debugger should stop to see them.
    pub spawn_breakpoint: Option<String>,
    last_message: Option<String>,
}

impl<'a> PluginServer<'a> {
    /// A server for one run.
    pub fn new(path: &'a Path, info: PluginInfo, request: &'a PluginRequest<'a>) -> Self {
        Self {
            answers: Answers::new(path, request.limits.message_bytes),
            path,
            image: String::new(),
            request,
            info,
            report: QueueReport::default(),
            groups: Vec::new(),
            open: None,
            operations: 0,
            ranks: 0,
            text_bytes: 0,
            texts_left_out: 0,
            new_processes: Vec::new(),
            spawn_breakpoint: None,
            last_message: None,
        }
    }

    /// Serves memory, symbols and types, and names the image in messages.
    pub fn ask(&mut self, asked: Asked<'a>, image: String) {
        self.answers.ask(asked);
        self.image = image;
    }

    /// Marks what was not read to its end.
    pub fn cut_off(&mut self, reason: &str) {
        let Some(queue_at_hand) = self.open.take() else { return };
        let Some(communicator) = self.report.communicators.last_mut() else { return };
        let Some(next) = queue_at_hand else { return };
        for kind in QueueKind::ALL.into_iter().filter(|kind| *kind >= next) {
            let queue = kind.of_mut(communicator);
            queue.state = QueueState::Error;
            let what = if kind == next { "not read to its end" } else { "not read" };
            queue.detail = Some(format!("{what}: {reason}"));
        }
    }

    /// Whether there is room for a text of so many bytes; counts it.
    fn has_room(&mut self, len: usize) -> bool {
        let fits = len <= self.request.limits.text_bytes.saturating_sub(self.text_bytes);
        if fits {
            self.text_bytes += len;
        } else {
            self.texts_left_out = self.texts_left_out.saturating_add(1);
        }
        fits
    }

    /// How many texts were left out because there were too many.
    pub fn texts_left_out(&self) -> u64 {
        self.texts_left_out
    }

    /// `None` where it comes at the wrong time.
    fn keep(&mut self, event: &Event<'_>) -> Option<Result<(), PluginError>> {
        match *event {
            Event::Versions { compatibility, width, version } => {
                self.info.compatibility = Some(compatibility);
                self.info.width = Some(width);
                self.info.version = Some(printable(version)).filter(|text| !text.is_empty());
                self.info.has_mpi2 = compatibility == super::abi::COMPATIBILITY_MPI2;
                return Some(
                    self.answers.check_series(self.info.version.as_deref(), self.request.library_version.as_deref()),
                );
            }
            Event::Message { speaker: Speaker::ImageFine, .. } if !self.request.dialect.speaks_on_success() => {}
            Event::Message { text, .. } => {
                let text = convert::message(text, &self.image);
                self.answers.message(format!("the plug-in says: {text}"));
                self.last_message = Some(text);
            }
            Event::Communicator { unique_id, local_rank, size, name } => {
                if self.report.communicators.len() >= self.request.limits.communicators {
                    return Some(Err(self.answers.too_much("communicators", self.request.limits.communicators)));
                }
                let name = foreign::until_nul(name);
                self.groups.push(None);
                self.report.communicators.push(Communicator {
                    name: printable(&name[..name.len().min(super::abi::TEXT)]).into(),
                    unique_id,
                    local_rank: convert::rank(local_rank),
                    size: convert::rank(size),
                    ..Communicator::default()
                });
                self.open = Some(Some(QueueKind::PendingSends));
            }
            Event::Group { ref ranks } => {
                self.ranks += ranks.0.len();
                if self.ranks > self.request.limits.group_ranks {
                    return Some(Err(self.answers.too_much("ranks of groups", self.request.limits.group_ranks)));
                }
                let world = self.request.universe.world_size;
                let group = self.groups.last_mut()?.get_or_insert_default();
                for rank in ranks.0.iter() {
                    let rank = convert::rank(i64::from(*rank));
                    group.push(rank.filter(|rank| world.is_none_or(|size| *rank < size)));
                }
            }
            Event::NoGroup { code, text } => {
                let name = &self.report.communicators.last()?.name;
                let reason = convert::error_text(code, text);
                let problem = format!("the group of {name} could not be read: {reason}");
                if self.has_room(problem.len()) {
                    self.report.problems.push(problem);
                }
            }
            Event::QueueStart { class } => {
                self.report.communicators.last()?;
                self.open = Some(Some(class));
            }
            Event::Operation { ref operation } => {
                self.operations += 1;
                if self.operations > self.request.limits.operations {
                    return Some(Err(self.answers.too_much("operations", self.request.limits.operations)));
                }
                let class = self.open??;
                let mut operation = convert::operation(operation, class, self.request.universe.world_size);
                let len = operation.extra_text.iter().map(|line| line.to_string().len()).sum();
                if !self.has_room(len) {
                    operation.extra_text = Vec::new();
                }
                self.queue()?.operations.push(operation);
            }
            Event::QueueEnd { in_setup, code, text } => {
                let class = self.open??;
                let text = if self.has_room(text.len()) { text } else { b"" };
                convert::end_of_queue(self.queue()?, class, in_setup, code, text);
                // The next queue has not been begun, but is due.
                self.open = Some(match class {
                    QueueKind::PendingSends => Some(QueueKind::PendingReceives),
                    QueueKind::PendingReceives => Some(QueueKind::UnexpectedMessages),
                    QueueKind::UnexpectedMessages => None,
                });
            }
            Event::NewProcess { pid, image, host } => {
                if self.new_processes.len() >= self.request.limits.new_processes {
                    return Some(Err(self.answers.too_much("new processes", self.request.limits.new_processes)));
                }
                if !(1..=i64::from(i32::MAX)).contains(&pid) {
                    self.report.problems.push(format!("the plug-in names a new process with the impossible pid {pid}"));
                    return Some(Ok(()));
                }
                let room = self.has_room(image.len() + host.len());
                let (image, host) = if room { (printable(image), printable(host)) } else { Default::default() };
                self.new_processes.push(NewProcess { pid, image, host });
            }
            Event::SpawnBreakpoint { name } => {
                self.spawn_breakpoint = convert::function_name(name);
                if self.spawn_breakpoint.is_none() {
                    let shown = printable(&name[..name.len().min(LONGEST_SHOWN)]);
                    let problem = format!(
                        "the plug-in names {shown:?} as the function to stop in, which is not the name of a \
                            function"
                    );
                    self.report.problems.push(problem);
                }
            }
        }
        Some(Ok(()))
    }

    fn queue(&mut self) -> Option<&mut Queue> {
        let class = self.open??;
        Some(class.of_mut(self.report.communicators.last_mut()?))
    }
}

impl<'a> Server<'a> for PluginServer<'a> {
    fn answers(&mut self) -> &mut Answers<'a> {
        &mut self.answers
    }

    fn event(&mut self, kind: Kind, payload: &[u8]) -> Option<Result<(), PluginError>> {
        self.keep(&Event::read(kind, payload)?)
    }

    fn done(&mut self) {
        self.open = None;
    }

    fn failed(&self, failure: Failure, function: u32, code: i32, text: &[u8]) -> PluginError {
        if let Some(error) = self.answers.failure(failure, code, text, "2 or 3") {
            return error;
        }
        let path = self.path.to_owned();
        let function = Function::from_number(function);
        let no_queues = |what| PluginError::TellsNothing {
            path: path.clone(),
            what,
            reason: match &self.last_message {
                // Open MPI's plug-in puts only the name of a type there.
                Some(text) if text.contains(' ') => text.clone(),
                _ => convert::error_text(code, text),
            },
        };
        match failure {
            Failure::Missing => {
                let has = |name: &str| self.info.functions.iter().any(|found| found == name);
                let mut missing = driver::missing(Need::Required, has);
                missing.extend(driver::missing(Need::Mpi2, has));
                PluginError::MissingFunctions { path, interface: "message-queue", missing }
            }
            Failure::Layouts => PluginError::MissingLayouts {
                path,
                missing: self.answers.missing().map(ToString::to_string).collect(),
                sources: self.answers.sources(),
            },
            Failure::Image => no_queues("cannot show the queues of this image"),
            Failure::Process => no_queues("cannot show the queues of this process"),
            Failure::TooMany => match function {
                Some(Function::NextCommunicator) => {
                    self.answers.too_much("communicators", self.request.limits.communicators)
                }
                Some(Function::NextOperation) => self.answers.too_much("operations", self.request.limits.operations),
                _ => self.answers.too_much("new processes", self.request.limits.new_processes),
            },
            Failure::Call | Failure::Load | Failure::Version | Failure::Width => PluginError::Call {
                path,
                function: function.map_or("a function", Function::name),
                reason: convert::error_text(code, text),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Limits;
    use super::*;
    use crate::host::answers::Answer;
    use crate::host::wire::{MAX_FETCH, RUN};
    use layouts::Layouts;
    use target::TargetAbi;
    use target::mock::MockTarget;

    proptest! {
        /// The helper runs foreign code: whatever it sends is answered or refused.
        #[test]
        fn no_frame_is_too_strange(
            frames in proptest::collection::vec((0_u8..32, proptest::collection::vec(any::<u8>(), 0..120)), 0..40),
        ) {
            let (target, layouts) = (MockTarget::new(TargetAbi::LITTLE_64), Layouts::new(Vec::new()));
            let limits = Limits { communicators: 3, operations: 5, group_ranks: 50, ..Limits::default() };
            let path = Path::new("/plug-in");
            let request = PluginRequest { limits, ..PluginRequest::new(path.to_owned()) };
            let mut server = PluginServer::new(path, PluginInfo::default(), &request);
            server.ask(Asked { target: &target, layouts: &layouts, member: &|_, _| None }, "image".to_owned());
            for (kind, payload) in &frames {
                let mut answer = Answer::default();
                let served = server.frame(Kind(*kind), payload, &mut answer);
                prop_assert!(answer.payload.len() <= MAX_FETCH + RUN);
                prop_assert!(!answer.given || served.is_ok());
            }
            server.cut_off("the end");
            prop_assert!(server.report.communicators.len() <= limits.communicators);
        }
    }
}
