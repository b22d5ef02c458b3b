//! Persistent requests of messages: what they were made with. Those of ch4 keep it in a part of their own, those of ch3 where
//! all its requests have it.

use std::borrow::Cow;

use super::datatypes::KnownDatatype;
use super::requests::{Kind, Request};
use super::transport::Around;
use crate::record::{Slot, shapes};
use crate::send_mode::SendMode;
use layouts::{LayoutError, Layouts};
use model::Operation;
use target::address::TargetAddr;

shapes! {
    /// What a persistent request was made with (`MPIDI_prequest_t`, pmodels/mpich, src/mpid/ch4/include/mpidpre.h, v3.4 to
    /// v5.0; `MPIDI_Request`, src/mpid/ch3/include/mpidpre.h).
    Shape = ["MPIR_Request"] {} optional {
        mode: "dev.ch4.preq.p_type",
        buffer: "dev.ch4.preq.buffer",
        count: "dev.ch4.preq.count",
        rank: "dev.ch4.preq.rank",
        tag: "dev.ch4.preq.tag",
        datatype: "dev.ch4.preq.datatype",
        old_state: "dev.state",
        old_buffer: "dev.user_buf",
        old_count: "dev.user_count",
        old_rank: "dev.match.parts.rank",
        old_tag: "dev.match.parts.tag",
        old_datatype: "dev.datatype",
    };
}

/// MPIDI_PTYPE_BSEND and _SSEND (src/mpid/ch4/include/mpidpre.h); that of MPI_Send_init is MPI_Rsend_init's as well.
const MODES: [(i64, SendMode); 2] = [(2, SendMode::Buffered), (3, SendMode::Synchronous)];

/// A persistent request.
pub struct Persistent {
    /// The application's request.
    pub at: TargetAddr,
    /// The one that does the work; null where it is not started.
    pub started: TargetAddr,
    handle: u64,
    send: bool,
    mode: Option<SendMode>,
    wanted: Option<Wanted>,
}

/// What the application asked for.
struct Wanted {
    rank: i64,
    tag: i64,
    buffer: u64,
    count: i64,
    datatype: KnownDatatype,
}

/// Reads persistent requests.
pub struct Reader {
    shape: Shape,
    any_source: i64,
    any_tag: i64,
}

impl Reader {
    /// Where the layouts have them.
    ///
    /// # Errors
    /// Where they contradict themselves.
    pub fn new(layouts: &Layouts) -> Result<Self, LayoutError> {
        Ok(Self {
            shape: Shape::resolve(layouts)?,
            any_source: layouts.constant("MPI_ANY_SOURCE")?,
            any_tag: layouts.constant("MPI_ANY_TAG")?,
        })
    }

    /// The persistent request, whose C handle is `handle`.
    pub fn read(&self, request: &Request<'_>, handle: u64, around: &mut Around<'_>) -> Persistent {
        let send = request.kind == Kind::PersistentSend;
        Persistent {
            at: request.at,
            started: request.record.pointer(request.shape.real_request),
            handle,
            send,
            mode: self.mode(request).filter(|_| send),
            wanted: self.wanted(request, around),
        }
    }

    /// The mode of a send, also of one of ch3 that is not persistent; `None` where it is not kept.
    pub fn mode(&self, request: &Request<'_>) -> Option<SendMode> {
        if let Some(state) = self.shape.old_state {
            return super::ch3::mode(request.record.uint(state));
        }
        let number =
            self.shape.mode.filter(|_| request.kind == Kind::PersistentSend).map(|slot| request.record.int(slot))?;
        MODES.iter().find(|(known, _)| *known == number).map(|(_, mode)| *mode)
    }

    fn wanted(&self, request: &Request<'_>, around: &mut Around<'_>) -> Option<Wanted> {
        let shape = &self.shape;
        let int = |slot: Option<Slot>, old: Option<Slot>| slot.or(old).map(|slot| request.record.int(slot));
        let datatype = around.datatypes.of(int(shape.datatype, shape.old_datatype)? as u32);
        let count = int(shape.count, shape.old_count)?;
        Some(Wanted {
            rank: int(shape.rank, shape.old_rank)?,
            tag: int(shape.tag, shape.old_tag)?,
            buffer: int(shape.buffer, shape.old_buffer)? as u64,
            count,
            datatype,
        })
    }

    /// Adds to an operation what the persistent request that it is of says.
    pub fn complete(&self, persistent: &Persistent, operation: &mut Operation) {
        operation.persistent = true;
        operation.request = Some(persistent.handle);
        operation.call = match (persistent.send, persistent.mode) {
            (false, _) => Some(Cow::Borrowed("MPI_Recv_init")),
            (true, mode) => mode.map(|mode| Cow::Borrowed(mode.init())),
        };
        let Some(wanted) = &persistent.wanted else { return };
        operation.any_source = !persistent.send && wanted.rank == self.any_source;
        operation.tag_wild = !persistent.send && wanted.tag == self.any_tag;
        operation.desired_local_rank = (!operation.any_source).then_some(wanted.rank);
        operation.desired_tag = (!operation.tag_wild).then_some(wanted.tag);
        operation.count = u64::try_from(wanted.count).ok();
        operation.desired_length =
            operation.count.zip(wanted.datatype.bytes).and_then(|(count, bytes)| count.checked_mul(bytes));
        wanted.datatype.clone().put_into(operation);
        operation.buffer = Some(wanted.buffer);
        if persistent.send {
            operation.actual_local_rank = operation.desired_local_rank;
            operation.actual_tag = operation.desired_tag;
            operation.actual_length = operation.desired_length;
        }
        for fact in ["desired_local_rank", "desired_tag", "desired_length", "datatype", "buffer", "count"] {
            operation.unknown.remove(fact);
        }
    }
}
