//! One process of the debugger's: what was read of it, and where the debugger stands in that.

use std::ffi::c_int;

use analysis::named;
use model::{Communicator, Handle, HandleKind, Operation, Process, Queue, QueueKind, QueueState, Shared, Snapshot};
use mqs_interface::{END_OF_LIST, INVALID_PROCESS, NO_INFORMATION, OK};
use readers::Depth;
use session::{Designator, LayoutChoice, Session};
use target::Limits;

use crate::answers;
use crate::debugged::Debugged;
use crate::debugger::Debuggee;
use crate::error::{Code, Error};

/// The variable by which a user asks for operations that the library posted for itself.
const INTERNAL: &str = "MPI_QUEUES_MQS_INTERNAL";

/// How much longer a reading may take than elsewhere: padb hands memory on by 256 bytes at a time.
const SLOWER: u32 = 5;

/// Where the debugger stands in a queue.
#[derive(Clone, Copy)]
struct Place {
    kind: QueueKind,
    /// The operation to look at next.
    next: usize,
    /// How many it was given.
    given: usize,
}

/// A process that the debugger has told of.
pub struct Known {
    session: Session<Debugged>,
    read: Option<Result<Shared<Process>, Error>>,
    /// Whether its MPI has been found.
    found: bool,
    /// Where the debugger stands among communicators.
    communicator: usize,
    /// Where it stands in a queue of that one.
    queue: Option<Place>,
    with_internal: bool,
    /// What the debugger calls the process among those of its job (MPI-2).
    pub identity: Option<i64>,
}

impl Known {
    /// Nothing is read yet.
    pub fn new(debuggee: Debuggee) -> Self {
        let limits = Limits { time: Limits::of_user().time * SLOWER, ..Limits::of_user() };
        Self {
            session: Session::within(limits, Debugged::new(debuggee), LayoutChoice::default()),
            read: None,
            found: false,
            communicator: 0,
            queue: None,
            with_internal: crate::is_set(INTERNAL),
            identity: None,
        }
    }

    /// Whom to ask about it.
    pub fn debuggee(&self) -> &Debuggee {
        self.session.target().debuggee()
    }

    /// Whether it has an MPI whose queues can be read, now or once it is initialised.
    pub fn check(&mut self) -> Result<(), Error> {
        self.forget();
        match self.session.detected().map_err(Error::from) {
            Ok(_) => {
                self.found = true;
                Ok(())
            }
            Err(error) if error.code == Code::NotInitialized => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// The process may have run since it was read.
    fn forget(&mut self) {
        let target = self.session.target();
        target.forget_memory();
        if self.found {
            self.session.resumed();
        } else {
            target.forget_images();
            self.session.forget();
        }
        self.read = None;
        self.queue = None;
    }

    /// Reads everything anew.
    pub fn update(&mut self) -> Result<(), Error> {
        self.forget();
        self.read().map(|_| ())
    }

    /// What was read; it is read now where it has not been.
    pub fn read(&mut self) -> Result<Shared<Process>, Error> {
        if self.read.is_none() {
            let read = self.session.read_builtin(true);
            self.found |= read.is_ok();
            self.read = Some(read.map(completed).map_err(Error::from));
        }
        self.read.clone().unwrap_or_else(|| Err(Code::Internal.into()))
    }

    /// Goes to the first communicator.
    pub fn first(&mut self) -> Result<c_int, Error> {
        (self.communicator, self.queue) = (0, None);
        Ok(if self.read()?.communicators.is_empty() { END_OF_LIST } else { OK })
    }

    /// Goes to the next one.
    pub fn next(&mut self) -> Result<c_int, Error> {
        let count = self.read()?.communicators.len();
        self.communicator = self.communicator.saturating_add(1).min(count);
        self.queue = None;
        Ok(if self.communicator < count { OK } else { END_OF_LIST })
    }

    /// The one at hand, `None` behind the last.
    pub fn at_hand<R>(&mut self, tell: impl FnOnce(&Communicator) -> R) -> Result<Option<R>, Error> {
        let process = self.read()?;
        Ok(process.communicators.get(self.communicator).map(tell))
    }

    /// Goes to the beginning of a queue of the communicator at hand.
    pub fn queue(&mut self, class: c_int) -> Result<c_int, Error> {
        let kind = QueueKind::ALL.into_iter().find(|kind| c_int::from(*kind as u8) == class);
        let kind = kind.ok_or(Code::BadArgument)?;
        self.queue = Some(Place { kind, next: 0, given: 0 });
        let process = self.read()?;
        let queue = kind.of(process.communicators.get(self.communicator).ok_or(Code::BadArgument)?);
        let none = !queue.operations.iter().any(|operation| self.shows(operation));
        let unknown = queue.state == QueueState::NoInformation || none && self.lacks_only_stacks(&process, kind, queue);
        Ok(if unknown { NO_INFORMATION } else { OK })
    }

    /// The next operation of that queue; `None` behind the last.
    pub fn operation(
        &mut self,
        universe: &dyn Fn(i64) -> Option<i64>,
    ) -> Result<Option<mqs_interface::PendingOperation>, Error> {
        let Some(Place { kind, next, given }) = self.queue else { return Err(Code::BadArgument.into()) };
        let process = self.read()?;
        let communicator = process.communicators.get(self.communicator).ok_or(Code::BadArgument)?;
        let queue = kind.of(communicator);
        let lacks_stacks = self.lacks_only_stacks(&process, kind, queue);
        let mut rest = queue.operations.iter().enumerate().skip(next);
        if let Some((number, operation)) = rest.find(|(_, operation)| self.shows(operation)) {
            self.queue = Some(Place { kind, next: number + 1, given: given + 1 });
            return Ok(Some(answers::operation(operation, kind, lacks_stacks && given == 0, universe)));
        }
        self.queue = Some(Place { kind, next: queue.operations.len(), given });
        if queue.state == QueueState::Error && !lacks_stacks {
            let text = queue.detail.clone().unwrap_or_default();
            return Err(Error { code: Code::Queue, text });
        }
        if queue.dropped > 0 {
            let text = format!("{} more were found, of which it is not known what they are", queue.dropped);
            return Err(Error { code: Code::Queue, text });
        }
        Ok(None)
    }

    fn shows(&self, operation: &Operation) -> bool {
        !operation.internal || self.with_internal
    }

    /// Whether nothing is missing in a queue but what lies on the stacks of threads, of which the interface tells nothing: no damage.
    /// What else is wrong with pending sends and receives is among the problems of the process, too.
    fn lacks_only_stacks(&self, process: &Process, kind: QueueKind, queue: &Queue) -> bool {
        kind != QueueKind::UnexpectedMessages
            && queue.state == QueueState::Error
            && self.session.target().lacks_stacks()
            && process.problems.is_empty()
    }

    /// The members of the communicator at hand, as the debugger calls them; `None` where they are not known.
    pub fn group(&mut self, universe: &dyn Fn(i64) -> Option<i64>) -> Result<Option<Vec<c_int>>, Error> {
        let name = |rank: &Option<i64>| {
            let rank = rank.and_then(universe).and_then(|rank| c_int::try_from(rank).ok());
            rank.unwrap_or(INVALID_PROCESS)
        };
        let group = self.at_hand(|communicator| {
            let group = communicator.group.as_ref()?;
            // So many the debugger has been told that there are.
            let size = answers::size(communicator)?;
            let known = group.iter().map(name).chain(std::iter::repeat(INVALID_PROCESS));
            Some(known.take(size).collect::<Vec<_>>())
        })?;
        group.ok_or_else(|| Code::BadArgument.into())
    }

    /// What one of its handles means.
    pub fn handle(&mut self, kind: HandleKind, designator: &Designator) -> Result<Handle, Error> {
        Ok(self.session.describe_handle(kind, designator, Depth::Full)?)
    }

    /// Whether it has a communicator with processes of another world.
    pub fn knows_other_worlds(&mut self) -> Result<bool, Error> {
        let process = self.read()?;
        let is_foreign = |communicator: &Communicator| {
            let remote = communicator.remote_group.as_ref();
            remote.is_some_and(|group| group.iter().any(Option::is_none))
        };
        Ok(process.parent_world_key.is_some() || process.communicators.iter().any(is_foreign))
    }
}

/// With what the messages of a process to itself tell of its sends. What those at other ranks tell a debugger asks nobody for.
fn completed(process: Process) -> Shared<Process> {
    let mut snapshot = Snapshot { processes: vec![process.into()], ..Snapshot::default() };
    named::complete(&mut snapshot);
    snapshot.processes.pop().unwrap_or_else(|| Process::default().into())
}
