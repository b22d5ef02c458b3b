//! Drives a plug-in through its life cycle. Runs in the helper process.
//!
//! The order of calls is that of the document ("Startup calls in the DLL", "Queue display", "Shutdown"). The first
//! error ends it: Open MPI's plug-in crashes when it is called on after a failed `mqs_setup_process`.

use model::QueueKind;
use std::borrow::Cow;
use std::ffi::{c_char, c_int};
use std::os::fd::RawFd;
use std::path::Path;

use super::Limits;
use super::abi::{self, Function, Functions, Need};
use super::convert::MAX_FUNCTION_NAME;
use super::protocol::{Event, Lines, Pending, Ranks, Speaker};
use crate::call;
use crate::host::callbacks::{self, image_handle, job_handle, process_handle, take_info};
use crate::host::child::{Child, Facts};
use crate::host::foreign;
use crate::host::loaded::{Step, in_helper};
use crate::host::shared::Shared;
use crate::host::wire::Failure;

/// Longest message that is taken from a plug-in.
const MAX_MESSAGE: usize = 4096;
/// Ranks in one message.
const GROUP_PIECE: usize = 8192;

/// What the helper is to do.
#[derive(Debug, Clone)]
pub struct Task<'a> {
    /// The plug-in, absolute.
    pub path: &'a Path,
    /// Only load it and ask for its version.
    pub only_inspect: bool,
    /// What the callbacks tell.
    pub facts: Facts,
    /// Bounds; the host has its own.
    pub limits: Limits,
}

/// Runs the task and tells the host everything over `socket`. Returns when the host has been told.
pub fn run(socket: RawFd, shared: &Shared, task: &Task<'_>) {
    in_helper(socket, shared, task.path, task.facts, |child, library| {
        // SAFETY: the addresses are those that the library exports under the interface's names.
        let functions = unsafe {
            Functions::look_up(|function| {
                library.function(function.name()).or_else(|| {
                    let alias = (function == Function::NextNewProcess).then_some(abi::NEXT_NEW_PROCESS_ALIAS);
                    alias.and_then(|alias| library.function(alias))
                })
            })
        };
        Driver { child, functions, task }.everything()
    });
}

struct Driver<'a> {
    child: &'static Child<'static>,
    functions: Functions,
    task: &'a Task<'a>,
}

impl Driver<'_> {
    fn stop<T>(&self, failure: Failure, function: Function, code: c_int, text: &[u8]) -> Step<T> {
        self.child.stop(failure, function as u32, code, text)
    }

    /// The plug-in's text for one of its error codes.
    fn error_text(&self, code: c_int) -> Vec<u8> {
        let text = call!(self, DllErrorString, dll_error_string, code);
        text.and_then(|text| foreign::text(text, MAX_MESSAGE)).unwrap_or_default()
    }

    fn check(&self, function: Function, code: Option<c_int>) -> Step<()> {
        match code {
            Some(abi::OK) => Ok(()),
            Some(code) => self.stop(Failure::Call, function, code, &self.error_text(code)),
            None => self.stop(Failure::Missing, function, 0, b""),
        }
    }

    fn everything(&self) -> Step<()> {
        let mpi2 = self.versions()?;
        if self.task.only_inspect {
            return Ok(());
        }
        // Told before anything else: a later crash must not lose the version.
        self.child.link.borrow_mut().flush();
        call!(self, SetupBasicCallbacks, setup_basic_callbacks, &raw const callbacks::BASIC);
        if mpi2 {
            let job = job_handle(self.child);
            let code = call!(self, SetupJob, setup_job, job, &raw const callbacks::JOB_CALLBACKS);
            self.check(Function::SetupJob, code)?;
        }
        let result = self.image(mpi2);
        if mpi2 {
            // After all of the processes have been destroyed, the document says.
            if let Some(info) = take_info(&self.child.infos[2]) {
                call!(self, DestroyJobInfo, destroy_job_info, info);
            }
        }
        result
    }

    /// Checks version and width; whether the MPI-2 functions may be called.
    fn versions(&self) -> Step<bool> {
        let compatibility = call!(self, VersionCompatibility, version_compatibility).unwrap_or(0);
        let width = call!(self, DllTaddrWidth, dll_taddr_width).unwrap_or(0);
        let right = compatibility == abi::COMPATIBILITY_MPI1 || compatibility == abi::COMPATIBILITY_MPI2;
        let version = if right {
            let text = call!(self, VersionString, version_string);
            text.and_then(|text| foreign::text(text, MAX_MESSAGE)).unwrap_or_default()
        } else {
            Vec::new()
        };
        self.child.tell(&Event::Versions { compatibility, width, version: &version });
        if !right {
            return self.stop(Failure::Version, Function::VersionCompatibility, compatibility, b"");
        }
        if usize::try_from(width) != Ok(abi::TADDR_WIDTH) {
            return self.stop(Failure::Width, Function::DllTaddrWidth, width, b"");
        }
        let mpi2 = compatibility == abi::COMPATIBILITY_MPI2;
        if mpi2 && !self.has_mpi2_functions() {
            return self.stop(Failure::Missing, Function::VersionCompatibility, compatibility, b"");
        }
        Ok(mpi2)
    }

    fn has_mpi2_functions(&self) -> bool {
        let functions = &self.functions;
        functions.setup_job.is_some()
            && functions.destroy_job_info.is_some()
            && functions.set_process_identity.is_some()
            && functions.setup_new_process_iterator.is_some()
            && functions.next_new_process.is_some()
    }

    fn image(&self, mpi2: bool) -> Step<()> {
        let image = image_handle(self.child);
        let code = call!(self, SetupImage, setup_image, image, &raw const callbacks::IMAGE_CALLBACKS);
        self.check(Function::SetupImage, code)?;
        let result = self.image_with_info(mpi2);
        if let Some(info) = take_info(&self.child.infos[0]) {
            call!(self, DestroyImageInfo, destroy_image_info, info);
        }
        result
    }

    fn image_with_info(&self, mpi2: bool) -> Step<()> {
        let mut text: *mut c_char = std::ptr::null_mut();
        let image = image_handle(self.child);
        let code = call!(self, ImageHasQueues, image_has_queues, image, &raw mut text).unwrap_or(-1);
        self.has_queues(Function::ImageHasQueues, code, text)?;
        let process = process_handle(self.child);
        let code = call!(self, SetupProcess, setup_process, process, &raw const callbacks::PROCESS_CALLBACKS);
        self.check(Function::SetupProcess, code)?;
        let result = self.process(mpi2);
        if let Some(info) = take_info(&self.child.infos[1]) {
            call!(self, DestroyProcessInfo, destroy_process_info, info);
        }
        result
    }

    /// Passes on the message, which is independent of the result, then judges the result.
    fn has_queues(&self, function: Function, code: c_int, text: *mut c_char) -> Step<()> {
        let fine = self.child.misses.get() == 0 && code == abi::OK;
        let (speaker, failure) = match function {
            Function::ImageHasQueues if fine => (Speaker::ImageFine, Failure::Image),
            Function::ImageHasQueues => (Speaker::Image, Failure::Image),
            _ => (Speaker::Process, Failure::Process),
        };
        if let Some(text) = foreign::text(text, MAX_MESSAGE).filter(|text| !text.is_empty()) {
            self.child.tell(&Event::Message { speaker, text: &text });
        }
        if self.child.misses.get() > 0 {
            // Whatever the plug-in thinks of it: it would go on with offsets of -1.
            return self.stop(Failure::Layouts, function, code, b"");
        }
        match code {
            abi::OK => Ok(()),
            code => self.stop(failure, function, code, &self.error_text(code)),
        }
    }

    fn process(&self, mpi2: bool) -> Step<()> {
        let process = process_handle(self.child);
        if mpi2 && self.child.facts.identity >= 0 {
            let code = call!(self, SetProcessIdentity, set_process_identity, process, self.child.facts.identity);
            self.check(Function::SetProcessIdentity, code)?;
        }
        let mut text: *mut c_char = std::ptr::null_mut();
        let code = call!(self, ProcessHasQueues, process_has_queues, process, &raw mut text).unwrap_or(-1);
        self.has_queues(Function::ProcessHasQueues, code, text)?;
        let code = call!(self, UpdateCommunicatorList, update_communicator_list, process);
        self.check(Function::UpdateCommunicatorList, code)?;
        self.communicators()?;
        if mpi2 {
            self.new_processes()?;
        }
        Ok(())
    }

    fn communicators(&self) -> Step<()> {
        let process = process_handle(self.child);
        let code = call!(self, SetupCommunicatorIterator, setup_communicator_iterator, process);
        if code == Some(abi::END_OF_LIST) {
            return Ok(());
        }
        self.check(Function::SetupCommunicatorIterator, code)?;
        let (mut count, mut operations, mut ranks) = (0, 0, 0);
        loop {
            count += 1;
            if count > self.task.limits.communicators {
                return self.stop(Failure::TooMany, Function::NextCommunicator, 0, b"communicators");
            }
            let mut communicator = abi::Communicator { unique_id: 0, local_rank: 0, size: 0, name: [0; abi::TEXT] };
            let code = call!(self, GetCommunicator, get_communicator, process, &raw mut communicator);
            self.check(Function::GetCommunicator, code)?;
            self.child.tell(&Event::Communicator {
                unique_id: communicator.unique_id as u64,
                local_rank: communicator.local_rank as i64,
                size: communicator.size as i64,
                name: &communicator.name,
            });
            self.group(communicator.size as i64, &mut ranks);
            for class in QueueKind::ALL {
                self.queue(class, &mut operations)?;
            }
            // Never past the end: Open MPI's plug-in follows a null pointer there.
            match call!(self, NextCommunicator, next_communicator, process) {
                Some(abi::OK) => {}
                Some(abi::END_OF_LIST) => return Ok(()),
                code => return self.check(Function::NextCommunicator, code),
            }
        }
    }

    fn group(&self, size: i64, ranks: &mut usize) {
        if self.functions.get_comm_group.is_none() {
            return;
        }
        // A negative size was a rank or size of 32 bits; it is judged by the host.
        let size = usize::try_from(size as i32).unwrap_or(0);
        if size == 0 || size > self.task.limits.group_ranks.saturating_sub(*ranks) {
            if size > 0 {
                let text = format!("its size of {size} ranks is not plausible");
                self.child.tell(&Event::NoGroup { code: -1, text: text.as_bytes() });
            }
            return;
        }
        *ranks += size;
        // What the plug-in does not fill in stays "not known".
        let mut group: Vec<c_int> = vec![abi::INVALID_PROCESS; size];
        let process = process_handle(self.child);
        match call!(self, GetCommGroup, get_comm_group, process, group.as_mut_ptr()) {
            Some(abi::OK) => {
                for piece in group.chunks(GROUP_PIECE) {
                    self.child.tell(&Event::Group { ranks: Ranks(Cow::Borrowed(piece)) });
                }
            }
            Some(code) => self.child.tell(&Event::NoGroup { code, text: &self.error_text(code) }),
            None => {}
        }
    }

    fn queue(&self, class: QueueKind, operations: &mut usize) -> Step<()> {
        self.child.tell(&Event::QueueStart { class });
        let process = process_handle(self.child);
        let mut code =
            call!(self, SetupOperationIterator, setup_operation_iterator, process, class as c_int).unwrap_or(-1);
        let mut in_setup = true;
        while code == abi::OK {
            in_setup = false;
            // SAFETY: plain data, for which zero is valid.
            let mut operation: abi::PendingOperation = unsafe { std::mem::zeroed() };
            code = call!(self, NextOperation, next_operation, process, &raw mut operation).unwrap_or(-1);
            if code == abi::OK {
                *operations += 1;
                if *operations > self.task.limits.operations {
                    return self.stop(Failure::TooMany, Function::NextOperation, 0, b"operations");
                }
                self.child.tell(&Event::Operation { operation: pending(&operation) });
            }
        }
        let text = match code {
            abi::END_OF_LIST | abi::NO_INFORMATION => Vec::new(),
            code => self.error_text(code),
        };
        self.child.tell(&Event::QueueEnd { in_setup, code, text: &text });
        Ok(())
    }

    fn new_processes(&self) -> Step<()> {
        let process = process_handle(self.child);
        let mut name = [0_u8; MAX_FUNCTION_NAME];
        let (at, room) = (name.as_mut_ptr().cast(), MAX_FUNCTION_NAME as c_int);
        if call!(self, SpawnBreakpointName, spawn_breakpoint_name, process, at, room) == Some(abi::OK) {
            self.child.tell(&Event::SpawnBreakpoint { name: foreign::until_nul(&name) });
        }
        match call!(self, SetupNewProcessIterator, setup_new_process_iterator, process) {
            Some(abi::OK) => {}
            Some(abi::END_OF_LIST | abi::NO_INFORMATION) => return Ok(()),
            code => return self.check(Function::SetupNewProcessIterator, code),
        }
        for count in 0.. {
            // SAFETY: plain data, for which zero is valid.
            let mut location: abi::ProcessLocation = unsafe { std::mem::zeroed() };
            match call!(self, NextNewProcess, next_new_process, process, &raw mut location) {
                Some(abi::OK) => {}
                Some(abi::END_OF_LIST) => break,
                code => return self.check(Function::NextNewProcess, code),
            }
            if count >= self.task.limits.new_processes {
                return self.stop(Failure::TooMany, Function::NextNewProcess, 0, b"new processes");
            }
            self.child.tell(&Event::NewProcess {
                pid: location.pid as i64,
                image: foreign::until_nul(&location.image_name),
                host: foreign::until_nul(&location.host_name),
            });
        }
        Ok(())
    }
}

/// The same with the types of the host.
fn pending(operation: &abi::PendingOperation) -> Pending<'_> {
    Pending {
        status: operation.status,
        desired_local_rank: operation.desired_local_rank as i64,
        desired_global_rank: operation.desired_global_rank as i64,
        tag_wild: operation.tag_wild != 0,
        desired_tag: operation.desired_tag as i64,
        desired_length: operation.desired_length as i64,
        system_buffer: operation.system_buffer != 0,
        buffer: operation.buffer as u64,
        actual_local_rank: operation.actual_local_rank as i64,
        actual_global_rank: operation.actual_global_rank as i64,
        actual_tag: operation.actual_tag as i64,
        actual_length: operation.actual_length as i64,
        extra_text: Lines(operation.extra_text.each_ref().map(|line| foreign::until_nul(line))),
    }
}

/// The functions that a plug-in should have and that `has` does not know.
pub fn missing(need: Need, has: impl Fn(&str) -> bool) -> Vec<String> {
    let other_name = |name: &str| name == Function::NextNewProcess.name() && has(abi::NEXT_NEW_PROCESS_ALIAS);
    Function::missing(need, |name| has(name) || other_name(name))
}
