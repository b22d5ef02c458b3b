//! Requests of the pml cm and matched messages that a program holds.

use super::network::Network;
use super::requests::{Decoder, with_rank};
use super::shapes::CmShapes;
use crate::ReaderError;
use crate::openmpi::assembly::Requests;
use crate::openmpi::communicators::Found;
use crate::openmpi::groups::Groups;
use crate::openmpi::shapes::Shapes;
use crate::openmpi::tags::InternalTags;
use crate::record::Record;
use crate::send_mode::SendMode;
use layouts::{LayoutError, Layouts};
use model::Operation;
use target::address::TargetAddr;
use target::{Reason, Target};

/// The class of sends; all of a pool are of one class, thin ones too (`mca_pml_cm_enable`, ompi/mca/pml/cm/pml_cm.c, v4.1.4
/// and v5.0.10).
pub const SEND: &str = "mca_pml_cm_hvy_send_request_t";

/// The class of receives.
pub const RECEIVE: &str = "mca_pml_cm_hvy_recv_request_t";

/// The pml of a process.
pub struct Opened {
    cm: CmShapes,
    tags: InternalTags,
    /// The mtl ofi, or why it is not read.
    network: Result<Network, Reason>,
}

/// A request that a program may have.
pub struct Held {
    /// What it does; world ranks are still missing.
    pub operation: Operation,
    /// Its datatype.
    pub datatype: TargetAddr,
    /// The mode of a send, where its number is that of one.
    pub mode: Option<SendMode>,
    /// The library is done with the data.
    pub data_complete: bool,
    /// The program has freed it.
    pub freed: bool,
}

impl Opened {
    /// Finds the pml.
    ///
    /// # Errors
    /// Where its structures are not known.
    pub fn find(target: &dyn Target, layouts: &Layouts, groups: &Groups<'_>) -> Result<Self, LayoutError> {
        let network = super::network(target, layouts, groups);
        Ok(Self { cm: CmShapes::resolve(layouts)?, tags: InternalTags::new(layouts), network })
    }

    /// What the request at `at` does, which is of the communicator `found`; `None` where it makes no sense. `sends`: whether it
    /// is of the class of sends.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn held(
        &self,
        target: &dyn Target,
        shapes: &Shapes,
        layouts: &Layouts,
        found: &Found,
        (at, sends): (TargetAddr, bool),
    ) -> Result<Option<Held>, ReaderError> {
        let mut decoder = Decoder::new(target, shapes, &self.cm, layouts, &self.tags, &self.network)?;
        let size = if sends { self.cm.heavy_send.size } else { self.cm.heavy_receive.size };
        let record = Record::owned(target, at, size)?;
        let decoded = decoder.inactive(&record.view()).or_else(|| match sends {
            true => decoder.send(&record.view()),
            false => decoder.receive(&record.view()),
        });
        let shape = &self.cm.request;
        Ok(decoded.map(|decoded| Held {
            operation: with_rank(self.network.as_ref().ok(), found, decoded, sends),
            datatype: record.pointer(shape.datatype),
            mode: decoder.mode(&record.view()).filter(|_| sends),
            data_complete: record.uint(shape.pml_complete) != 0,
            freed: record.uint(shape.free_called) != 0,
        }))
    }

    /// The tag of a message that a matching probe has taken, by the mtl's request for it and by its source and bytes; `None`
    /// where it was received.
    ///
    /// # Errors
    /// A sentence, where it cannot be read.
    pub fn tag(&self, target: &dyn Target, request: TargetAddr, message: (i64, u64)) -> Result<Option<i64>, Reason> {
        self.network.as_ref().map_err(Clone::clone)?.tag_of_matched(target, request, message)
    }
}
