//! What the queues say of requests. They are read once for all requests of a stopped process: a debugger shows arrays of them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::super::MpichReader;
use super::super::communicators::Communicators;
use super::super::datatypes::Datatypes;
use super::super::decoder::Decoder;
use super::super::handle_value::HandleValue;
use super::super::requests::{Kinds, Request as InUse, RequestShape, in_use};
use super::super::transport::Around;
use super::HandleReader;
use super::request::Request;
use super::schedules::Lists;
use crate::ReaderError;
use crate::record::Record;
use crate::send_mode::SendMode;
use model::{HandleKind, Operation, QueueSource, QueueState};
use target::address::TargetAddr;

/// An operation of a queue.
#[derive(Debug, Clone)]
pub struct Queued {
    /// The operation.
    pub operation: Operation,
    /// The C handle of the communicator in whose queue it is; `None` of a message, which nobody has received there yet.
    pub communicator: Option<u64>,
    /// The same, also of a message.
    pub queue: Option<u64>,
}

/// What the queues say, by the addresses of the requests.
#[derive(Debug, Default)]
pub struct Operations {
    by_request: HashMap<TargetAddr, Queued>,
    /// Why nothing is known of those that are missing.
    pub reason: Option<String>,
}

/// What was read of a process that has not run since, for all readers of its handles. Its owner empties it when the process runs
/// or its memory changes.
#[derive(Debug, Clone, Default)]
pub struct SharedOperations(Rc<RefCell<Option<Rc<Operations>>>>, Rc<RefCell<Option<Rc<Lists>>>>);

impl SharedOperations {
    /// Forgets what was read.
    pub fn forget(&self) {
        self.0.borrow_mut().take();
        self.1.borrow_mut().take();
    }

    /// The schedules of collectives that are lists, found once.
    pub(super) fn lists(&self, find: impl FnOnce() -> Lists) -> Rc<Lists> {
        let known = self.1.borrow().as_ref().map(Rc::clone);
        known.unwrap_or_else(|| {
            let found = Rc::new(find());
            *self.1.borrow_mut() = Some(Rc::clone(&found));
            found
        })
    }
}

impl HandleReader<'_> {
    /// What the queues say of a request.
    pub(super) fn operation_of(&self, request: &Request) -> Option<Queued> {
        let known = &self.operations().by_request;
        let started = || known.get(&request.real).filter(|_| !request.real.is_null());
        known.get(&request.at).or_else(started).cloned()
    }

    /// The communicator of a request: over a network only the queues know it.
    pub(super) fn communicator_of(&self, request: &Request) -> Option<TargetAddr> {
        if !request.communicator.is_null() {
            return Some(request.communicator);
        }
        self.object_of_handle(HandleKind::Comm, self.operation_of(request)?.communicator?)
    }

    /// What the queues say, read once.
    pub(super) fn operations(&self) -> Rc<Operations> {
        if let Some(known) = self.operations.get().or(self.shared.0.borrow().as_ref()) {
            return Rc::clone(known);
        }
        let (read, whole) = self.read_operations();
        let read = self.operations.get_or_init(|| Rc::new(read));
        // What failed may have been interrupted: the next reader tries again.
        if whole {
            *self.shared.0.borrow_mut() = Some(Rc::clone(read));
        }
        Rc::clone(read)
    }

    fn read_operations(&self) -> (Operations, bool) {
        let mut found = Operations::default();
        let mut whole;
        match MpichReader::new(self.target, self.layouts, self.process).read_queues() {
            Ok(mut report) => {
                whole = report.problems.is_empty();
                for communicator in &mut report.communicators {
                    let handle = communicator.handle.map(|handle| handle.0);
                    // In the order of `queues_mut`: sends, receives, messages.
                    let owners = [handle, handle, None];
                    for (queue, owner) in communicator.queues_mut().into_iter().zip(owners) {
                        whole &= queue.state != QueueState::Error;
                        if let (None, Some(detail)) = (&found.reason, &queue.detail) {
                            found.reason = Some(detail.clone());
                        }
                        for operation in std::mem::take(&mut queue.operations) {
                            let at = operation.request.and_then(|handle| self.place_of(handle));
                            let queued = Queued { operation, communicator: owner, queue: handle };
                            found.by_request.extend(at.map(|at| (at, queued)));
                        }
                    }
                }
            }
            Err(error) => {
                whole = false;
                found.reason = Some(error.to_string());
            }
        }
        (found, whole)
    }

    /// What a persistent request that is not started was made with.
    pub(super) fn made_with(&self, request: &Request) -> Result<Operation, ReaderError> {
        self.with_decoder(request, |decoder, in_use, around| {
            let mut operation = decoder.made_with(in_use, around);
            let found = in_use.comm.and_then(|comm| around.communicators.found.get(comm));
            let world = found.zip(operation.desired_local_rank).and_then(|(found, rank)| found.world_rank(rank));
            operation.desired_global_rank = world;
            operation
        })
    }

    /// The rank in MPI_COMM_WORLD of a rank that a communicator sends to.
    pub(super) fn world_rank(&self, communicator: TargetAddr, local: i64) -> Option<i64> {
        let all = self.communicators().ok()?;
        all.found.get(all.at(communicator)?)?.world_rank(local)
    }

    /// The mode of a send; `None` where its request does not have it.
    pub(super) fn mode(&self, request: &Request) -> Result<Option<SendMode>, ReaderError> {
        self.with_decoder(request, |decoder, in_use, _| decoder.mode(in_use))
    }

    /// Where the request of a C handle lies; what the queues name is in use.
    fn place_of(&self, handle: u64) -> Option<TargetAddr> {
        if self.process.abi {
            return Some(TargetAddr::new(handle));
        }
        self.process.pools.address_of(self.target, HandleValue(u32::try_from(handle).ok()?))
    }

    fn with_decoder<R>(
        &self,
        request: &Request,
        act: impl FnOnce(&Decoder, &InUse<'_>, &mut Around<'_>) -> R,
    ) -> Result<R, ReaderError> {
        let (shape, kinds) = (RequestShape::resolve(self.layouts)?, Kinds::resolve(self.layouts)?);
        let communicators: &Communicators = self.communicators()?;
        let device = self.process.library.device.as_deref().unwrap_or_default();
        let decoder = Decoder::new(self.layouts, device, self.process.abi)?;
        let datatypes = Datatypes::new(self.target, &self.process.pools, &self.shapes.datatype);
        let mut around = Around { target: self.target, communicators, datatypes };
        let record = Record::owned(self.target, request.at, shape.size)?;
        let found = in_use(self.target, &shape, &kinds, communicators, record.view())?;
        let found =
            found.ok_or_else(|| ReaderError::Damaged(format!("the request at {} is not in use", request.at)))?;
        Ok(act(&decoder, &found, &mut around))
    }
}
