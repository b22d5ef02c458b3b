//! What requests of every pml share.

use std::collections::HashMap;
use std::sync::Arc;

use super::shapes::Shapes;
use crate::record::{Record, composite};
use crate::send_mode::SendMode;
use target::address::TargetAddr;
use target::{Target, printable};

composite! {
    /// Constants of requests, under the names of ompi/request/request_dbg.h and ompi/mca/pml/base/pml_base_request_dbg.h.
    RequestConstants {
        kind_pml: u64 = "OMPI_REQUEST_PML",
        state_invalid: u64 = "OMPI_REQUEST_INVALID",
        state_inactive: u64 = "OMPI_REQUEST_INACTIVE",
        state_active: u64 = "OMPI_REQUEST_ACTIVE",
        state_cancelled: u64 = "OMPI_REQUEST_CANCELLED",
        pml_send: u64 = "MCA_PML_REQUEST_SEND",
        pml_receive: u64 = "MCA_PML_REQUEST_RECV",
        pml_probe: u64 = "MCA_PML_REQUEST_PROBE",
        pml_mprobe: u64 = "MCA_PML_REQUEST_MPROBE",
        pml_improbe: u64 = "MCA_PML_REQUEST_IMPROBE",
        mode_standard: u64 = "MCA_PML_BASE_SEND_STANDARD",
        mode_buffered: u64 = "MCA_PML_BASE_SEND_BUFFERED",
        mode_synchronous: u64 = "MCA_PML_BASE_SEND_SYNCHRONOUS",
        mode_ready: u64 = "MCA_PML_BASE_SEND_READY",
    }
}

impl RequestConstants {
    /// The mode of sends that a number stands for, if one has it.
    pub fn mode(&self, number: u64) -> Option<SendMode> {
        let modes = [
            (self.mode_standard, SendMode::Standard),
            (self.mode_buffered, SendMode::Buffered),
            (self.mode_synchronous, SendMode::Synchronous),
            (self.mode_ready, SendMode::Ready),
        ];
        modes.into_iter().find(|(known, _)| *known == number).map(|(_, mode)| mode)
    }
}

/// `REQUEST_COMPLETED` (ompi/request/request.h): `req_complete` is a pointer, null while pending, this when complete, and
/// else the address of what a waiting thread waits on.
pub const COMPLETED: u64 = 1;

/// What operations tell of a datatype.
#[derive(Debug, Clone)]
pub struct KnownDatatype {
    /// Its name, where it has one.
    pub name: Option<Arc<str>>,
    /// Bytes of one element, where it can be read.
    pub bytes: Option<u64>,
}

/// Datatypes, each read once.
pub struct Datatypes<'a> {
    target: &'a dyn Target,
    shapes: &'a Shapes,
    known: HashMap<TargetAddr, KnownDatatype>,
}

impl<'a> Datatypes<'a> {
    /// None is read yet.
    pub fn new(target: &'a dyn Target, shapes: &'a Shapes) -> Self {
        Self { target, shapes, known: HashMap::new() }
    }

    /// The datatype at an address.
    pub fn of(&mut self, at: TargetAddr) -> KnownDatatype {
        if let Some(known) = self.known.get(&at) {
            return known.clone();
        }
        let shape = &self.shapes.datatype;
        let known = match Record::owned(self.target, at, shape.size) {
            Ok(record) => KnownDatatype {
                name: record
                    .text(shape.name, 256, self.target)
                    .ok()
                    .filter(|name| !name.is_empty())
                    .map(|name| printable(&name).into()),
                bytes: Some(record.uint(shape.bytes)),
            },
            Err(_) => KnownDatatype { name: None, bytes: None },
        };
        self.known.insert(at, known.clone());
        known
    }
}
