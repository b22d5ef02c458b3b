//! UCX's own request behind one of MPICH's.

use crate::mpich::datatypes::Datatypes;
use crate::mpich::requests::{Kind, Request};
use crate::record::{Record, Slot};
use crate::ucx::{Native, Sample, UcxLayout};
use layouts::{FieldKind, Layouts};
use model::Operation;
use target::Target;
use target::address::TargetAddr;

/// UCX's request is looked for in so many bytes in front of the address that MPICH has: those of the releases 1.10 to 1.22 have
/// 256 to 280.
const SEARCHED: usize = 512;

/// Reads UCX's request in front of `behind`; `None` where what stands there does not lead back to MPICH's.
pub fn by_layout(
    target: &dyn Target,
    layout: &UcxLayout,
    request: TargetAddr,
    receive: bool,
    behind: TargetAddr,
) -> Option<Native> {
    let shape = &layout.request;
    let width = usize::try_from(target.abi().pointer_width.bytes()).ok()?;
    let at = TargetAddr::new(behind.get().checked_sub(shape.size as u64)?);
    let record = Record::owned(target, at, shape.size + width).ok()?;
    let back = if receive { shape.user_data } else { first_word(shape.size, width) };
    if record.pointer(back) != request {
        return None;
    }
    Native::of(layout, &record.view(), receive)
}

/// Looks for what a request is matched by where the layout of UCX is not known: the only words that `fits` takes. A receive's
/// tag and mask stand together behind the address of MPICH's request, and a sequence number follows (v1.9 to v1.22).
pub fn by_search(
    target: &dyn Target,
    request: TargetAddr,
    receive: bool,
    behind: TargetAddr,
    fits: impl Fn(Sample) -> bool,
) -> Option<Native> {
    let width = usize::try_from(target.abi().pointer_width.bytes()).ok()?;
    let at = TargetAddr::new(behind.get().checked_sub(SEARCHED as u64)?);
    let record = Record::owned(target, at, SEARCHED + width).ok()?;
    let word = |index: usize| record.uint(first_word(index * 8, 8));
    let count = SEARCHED / 8;
    let start = if receive {
        // The last one is this request's: those of the one before may stand there, too.
        (0..count).rev().find(|index| word(*index) == request.get())?
    } else {
        (record.pointer(first_word(SEARCHED, width)) == request).then_some(count / 2)?
    };
    let samples = (start + 1..count - 2).map(|index| {
        let sample = if receive { Sample::Receive(word(index), word(index + 1)) } else { Sample::Send(word(index)) };
        (index, sample)
    });
    let mut fitting = samples.filter(|(_, sample)| fits(*sample));
    let (index, sample) = fitting.next()?;
    let unique = fitting.all(|(_, other)| other == sample);
    unique.then(|| Native { sample, sequence: word(index + 2), more: None })
}

/// A pointer that stands at an offset.
fn first_word(offset: usize, size: usize) -> Slot {
    Slot { offset, size, kind: FieldKind::Pointer }
}

/// What a receive is for that UCX fills a temporary buffer for (pmodels/mpich, src/mpid/ch4/netmod/ucx/ucx_recv.h, v5.0).
#[derive(Debug, Clone, Copy)]
pub struct Unpacked {
    how: Slot,
    is_unpacked: i64,
    buffer: Slot,
    count: Slot,
    datatype: Slot,
}

impl Unpacked {
    /// Where the release has it.
    pub fn resolve(layouts: &Layouts) -> Option<Self> {
        let slot =
            |field: &str| Slot::probe(layouts, "MPIR_Request", &format!("dev.ch4.netmod.ucx.s.{field}")).ok().flatten();
        Some(Self {
            how: slot("type")?,
            is_unpacked: layouts.constant("MPIDI_UCX_RECV_UNPACK").ok()?,
            buffer: slot("u.pack.user_buf")?,
            count: slot("u.pack.count")?,
            datatype: slot("u.pack.datatype")?,
        })
    }

    /// Fills in what the application asked for; `false` where UCX writes into the application's own buffer.
    pub fn fill(&self, request: &Request<'_>, operation: &mut Operation, datatypes: &mut Datatypes<'_>) -> bool {
        if request.kind != Kind::Receive || request.record.int(self.how) != self.is_unpacked {
            return false;
        }
        operation.buffer = Some(request.record.uint(self.buffer));
        operation.count = u64::try_from(request.record.int(self.count)).ok();
        let handle = u32::try_from(request.record.uint(self.datatype)).unwrap_or(0);
        datatypes.of(handle).put_into(operation);
        true
    }
}
