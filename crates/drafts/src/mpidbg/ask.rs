//! One query: the plug-in's functions for it, and what their results point to, sent to the host. Runs in the helper process.
//!
//! A plug-in's result is a structure with counts and pointers, all to be believed by nobody: an array is taken where it lies
//! in memory that the plug-in has allocated through us, as the interface demands, and has not freed, and where it has
//! room for its count. What a query returns is not freed: the process ends with the run, and one wild pointer among its
//! members would end it earlier.

use std::ffi::c_int;

use super::abi::{self, AttributePair, CommInfo, ErrhandlerInfo, Function, Plain, RequestInfo, StatusInfo};
use super::driver::{Driver, MAX_TEXT};
use super::protocol::{Event, Part, Stage};
use super::{By, Query};
use model::HandleKind;
use plugins::call;
use plugins::host::callbacks::{image_handle, process_handle};
use plugins::host::foreign;

/// Bytes in one message.
const PIECE: usize = 1 << 15;

/// Calls a function that has image, process and their infos before its own arguments.
macro_rules! ask {
    ($driver:expr, $function:ident, $field:ident $(, $arg:expr)*) => {{
        let driver: &Driver<'_> = $driver;
        let (image, process) = (image_handle(driver.child), process_handle(driver.child));
        call!(driver, $function, $field, image, driver.info(0), process, driver.info(1) $(, $arg)*)
    }};
}

impl Driver<'_> {
    /// Asks about one handle and tells the host the answer.
    pub fn query(&self, query: &Query) {
        let mut handle: abi::TAddr = 0;
        let (stage, code) = match query.by {
            By::Handle(value) => {
                handle = value as abi::TAddr;
                (Stage::Query, Some(abi::SUCCESS))
            }
            By::Fortran(index) => (Stage::Fortran, self.f2c(query.kind, index, &mut handle)),
            By::Cxx { object, class } => (Stage::Cxx, self.cxx2c(query.kind, object, class, &mut handle)),
        };
        if code != Some(abi::SUCCESS) {
            self.answer(stage, code, handle);
        } else {
            let mut result = 0;
            let code = self.ask(query.kind, handle, &mut result);
            self.answer(Stage::Query, code, handle);
            if code == Some(abi::SUCCESS) {
                self.result(query.kind, handle, result);
            }
        }
        self.child.tell(&Event::AnswerEnd {});
        // A crash in the next one must not lose this one, and the host counts failed reads for each.
    }

    fn answer(&self, stage: Stage, code: Option<c_int>, handle: abi::TAddr) {
        self.child.tell(&Event::Answer { stage, code, handle: handle as u64 });
    }

    fn ask(&self, kind: HandleKind, handle: abi::TAddr, result: &mut usize) -> Option<c_int> {
        let result = std::ptr::from_mut(result);
        match kind {
            HandleKind::Comm => ask!(self, CommQuery, comm_query, handle, result),
            HandleKind::Errhandler => ask!(self, ErrhandlerQuery, errhandler_query, handle, result),
            HandleKind::Request => ask!(self, RequestQuery, request_query, handle, result),
            HandleKind::Status => ask!(self, StatusQuery, status_query, handle, result),
            _ => None,
        }
    }

    fn f2c(&self, kind: HandleKind, index: i64, handle: &mut abi::TAddr) -> Option<c_int> {
        // The interface wants the INTEGER padded with zeros.
        let index = index as i32 as u32 as abi::TAddr;
        let handle = std::ptr::from_mut(handle);
        match kind {
            HandleKind::Comm => ask!(self, CommF2c, comm_f2c, index, handle),
            HandleKind::Errhandler => ask!(self, ErrhandlerF2c, errhandler_f2c, index, handle),
            HandleKind::Request => ask!(self, RequestF2c, request_f2c, index, handle),
            HandleKind::Status => ask!(self, StatusF2c, status_f2c, index, handle),
            _ => None,
        }
    }

    fn cxx2c(&self, kind: HandleKind, object: u64, class: u32, handle: &mut abi::TAddr) -> Option<c_int> {
        let object = object as abi::TAddr;
        let handle = std::ptr::from_mut(handle);
        match kind {
            HandleKind::Comm => ask!(self, CommCxx2c, comm_cxx2c, object, class, handle),
            HandleKind::Errhandler => ask!(self, ErrhandlerCxx2c, errhandler_cxx2c, object, handle),
            HandleKind::Request => ask!(self, RequestCxx2c, request_cxx2c, object, class, handle),
            HandleKind::Status => ask!(self, StatusCxx2c, status_cxx2c, object, handle),
            _ => None,
        }
    }

    fn result(&self, kind: HandleKind, handle: abi::TAddr, at: usize) {
        match kind {
            HandleKind::Comm => {
                if let Some(comm) = self.structure::<CommInfo>(at) {
                    self.communicator(&comm);
                    self.confirm_fortran(kind, comm.fortran_handle, handle);
                }
            }
            HandleKind::Errhandler => {
                if let Some(errhandler) = self.structure::<ErrhandlerInfo>(at) {
                    self.list(Part::Attached, errhandler.handles, errhandler.refcount.into());
                    self.confirm_fortran(kind, errhandler.fortran_handle, handle);
                }
            }
            HandleKind::Request => {
                if let Some(request) = self.structure::<RequestInfo>(at) {
                    self.confirm_fortran(kind, request.fortran_handle, handle);
                }
            }
            HandleKind::Status => {
                self.structure::<StatusInfo>(at);
            }
            _ => {}
        }
    }

    fn structure<T: Plain>(&self, at: usize) -> Option<T> {
        let size = size_of::<T>();
        if at == 0 {
            self.no_part(Part::Structure, "the plug-in says that it succeeded, and delivers nothing");
            return None;
        }
        match self.child.allocated_at(at) {
            None => {
                self.no_part(Part::Structure, "its answer lies in memory that it has not allocated, or has freed");
                return None;
            }
            Some(room) if room < size => {
                let reason = format!(
                    "its answer has {room} bytes where the interface has {size}: it was compiled with another header"
                );
                self.no_part(Part::Structure, &reason);
                return None;
            }
            Some(_) => {}
        }
        let bytes = foreign::bytes(at, size)?;
        self.part(Part::Structure, &bytes);
        T::from_bytes(&bytes)
    }

    fn communicator(&self, comm: &CommInfo) {
        self.array(Part::LocalProcs, comm.local_procs, comm.num_local_procs.into(), size_of::<c_int>());
        self.array(Part::RemoteProcs, comm.remote_procs, comm.num_remote_procs.into(), size_of::<c_int>());
        if comm.bitflags & abi::comm::CARTESIAN != 0 {
            self.array(Part::CartDims, comm.cart_dims, comm.cart_num_dims.into(), size_of::<c_int>());
            self.array(Part::CartPeriods, comm.cart_periods, comm.cart_num_dims.into(), 1);
        }
        if comm.bitflags & abi::comm::GRAPH != 0 {
            let index = self.array(Part::GraphIndex, comm.graph_index, comm.graph_num_nodes.into(), size_of::<c_int>());
            // The header gives the number of nodes as the length of the edges, too; MPI_GRAPH_CREATE, and Open MPI's draft
            // of a plug-in, have as many as the last entry of the index says.
            let last =
                index.as_deref().and_then(|bytes| bytes.last_chunk::<4>()).map(|last| c_int::from_ne_bytes(*last));
            self.array(Part::GraphEdges, comm.graph_edges, last.unwrap_or(0).into(), size_of::<c_int>());
        }
        self.list(Part::Requests, comm.pending_requests, comm.num_pending_requests.into());
        self.list(Part::Windows, comm.derived_windows, comm.num_derived_windows.into());
        self.list(Part::Files, comm.derived_files, comm.num_derived_files.into());
        self.attributes(comm);
    }

    /// A list of handles; its count may also be the code that says that the plug-in has none.
    fn list(&self, part: Part, at: usize, count: i64) {
        if at == 0 && count == i64::from(abi::NOT_SUPPORTED) {
            self.no_part(part, "the plug-in says that it does not support it");
            return;
        }
        self.array(part, at, count, size_of::<abi::TAddr>());
    }

    /// Sends an array, or why not.
    fn array(&self, part: Part, at: usize, count: i64, size: usize) -> Option<Vec<u8>> {
        let count = match usize::try_from(count) {
            Ok(0) => return Some(Vec::new()),
            Ok(count) if count <= self.task.limits.entries => count,
            _ => {
                self.no_part(part, &format!("{count} entries are not plausible"));
                return None;
            }
        };
        if at == 0 {
            self.no_part(part, &format!("the plug-in counts {count} entries and delivers none"));
            return None;
        }
        let Some(room) = self.child.allocated_at(at) else {
            self.no_part(part, "it lies in memory that the plug-in has not allocated, or has freed");
            return None;
        };
        if room < count * size {
            self.no_part(part, &format!("the plug-in counts {count} entries where it has room for {}", room / size));
            return None;
        }
        let bytes = foreign::bytes(at, count * size)?;
        for piece in bytes.chunks(PIECE) {
            self.part(part, piece);
        }
        Some(bytes)
    }

    fn attributes(&self, comm: &CommInfo) {
        const SIZE: usize = size_of::<AttributePair>();
        let count = usize::try_from(comm.num_attrs).ok().filter(|count| *count <= self.task.limits.entries);
        let room = self.child.allocated_at(comm.attrs).unwrap_or(0) / SIZE;
        match count {
            Some(0) if comm.attrs == 0 => {
                self.no_part(Part::Attributes, "the plug-in delivers none, and does not say whether it has looked");
            }
            Some(count) if count <= room || count == 0 => {
                for number in 0..count {
                    let pair = foreign::bytes(comm.attrs + number * SIZE, SIZE);
                    let Some(pair) = pair.and_then(|bytes| AttributePair::from_bytes(&bytes)) else { return };
                    let name = foreign::text(pair.keyval_name as *const _, MAX_TEXT);
                    let value = foreign::text(pair.value as *const _, MAX_TEXT);
                    let (name, value) = (name.as_deref(), value.as_deref());
                    self.child.tell(&Event::Attribute { keyval: pair.keyval, name, value });
                }
            }
            Some(count) => self.no_part(
                Part::Attributes,
                &format!("the plug-in counts {count} entries where it has allocated room for {room}"),
            ),
            None => self.no_part(Part::Attributes, &format!("{} entries are not plausible", comm.num_attrs)),
        }
    }

    /// Two Fortran integers are also codes that say that there is none: which is meant, the way back shows.
    fn confirm_fortran(&self, kind: HandleKind, fortran: c_int, handle: abi::TAddr) {
        if fortran == abi::NOT_SUPPORTED || fortran == abi::UNAVAILABLE {
            let mut found = 0;
            let code = self.f2c(kind, fortran.into(), &mut found);
            if code == Some(abi::SUCCESS) && found == handle {
                self.part(Part::Fortran, &[1]);
            }
        }
    }

    fn part(&self, part: Part, bytes: &[u8]) {
        self.child.tell(&Event::Piece { part, bytes });
    }

    fn no_part(&self, part: Part, reason: &str) {
        self.child.tell(&Event::NoPart { part, reason: reason.as_bytes() });
    }
}
