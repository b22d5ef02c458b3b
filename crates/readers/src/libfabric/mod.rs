//! What libfabric's providers keep of receives that wait, of messages that nobody has asked for, and of sends that are not done
//! (ofiwg/libfabric, releases 1.17 to 2.6).
//!
//! An MPI hands libfabric what a receive is matched by, and keeps little of it itself. Each provider has lists of its own; which
//! one it is, and of which release, says the domain of the endpoint. A profile of that release says where its fields lie, and is
//! used only where the process agrees.

mod arrays;
mod cxi;
mod endpoint;
pub mod layout;
mod pools;
mod provider;
mod rxd;
mod rxm;
mod rxm_sends;
mod shared;
mod shm_answers;
mod shm_sends;
mod sm2_sends;
mod sockets;
mod sockets_sends;
mod tcp;
mod tcp_sends;
// For crates/fuzz, too; by a feature for it readers would be compiled twice.
#[cfg(any(test, debug_assertions))]
pub mod tests;

pub use endpoint::{Fabric, Queues};
pub use layout::Layout;
pub use provider::Provider;

use crate::record::{Record, Slot};
use crate::walk::{Walk, circular_list};
use target::address::TargetAddr;
use target::{Reason, Target};

/// Most receives, and most messages, of one endpoint (2 Mi).
pub const MAX_LIST: usize = 1 << 21;

/// No process in particular (`FI_ADDR_UNSPEC`, include/rdma/fabric.h).
pub const ANY_ADDRESS: u64 = u64::MAX;

/// Sent with data of the sender's (`FI_REMOTE_CQ_DATA`, include/rdma/fabric.h).
const REMOTE_CQ_DATA: u64 = 1 << 17;

/// `FI_INJECT` (include/rdma/fabric.h): what was copied is done for the MPI, which is told of nothing.
const COPIED: u64 = 1 << 25;

/// A message with a tag, as shm and sm2 say (`ofi_op_tagged`, include/ofi_proto.h).
const TAGGED: u64 = 1;

/// From which process a receive takes a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// From any; or the tag alone decides.
    Any,
    /// As libfabric numbers processes (`fi_addr_t`).
    Address(u64),
    /// From one, of which the provider does not keep the number.
    NotKept,
}

/// A receive with a tag that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receive {
    /// From which process.
    pub source: Source,
    /// What it is matched by.
    pub tag: u64,
    /// Bits of the tag that may differ.
    pub ignore: u64,
    /// What the MPI will be told of when it is done: a place in its own request.
    pub context: TargetAddr,
    /// Where the data goes; `None` where it goes into several pieces.
    pub buffer: Option<TargetAddr>,
    /// Bytes that there is room for.
    pub length: u64,
}

/// A message with a tag that has arrived and that no receive has matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// Who sent it (`fi_addr_t`); `None` where the provider does not say.
    pub source: Option<u64>,
    /// What it is matched by.
    pub tag: u64,
    /// Data that the sender sent along with it.
    pub data: Option<u64>,
    /// Its bytes, also where they are not here yet.
    pub length: u64,
    /// A matching probe has taken it: what the MPI gave for that.
    pub claimed: Option<TargetAddr>,
    /// By what it names its send, which waits with it.
    pub number: Option<Number>,
}

/// A send with a tag that is not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Send {
    /// To which process (`fi_addr_t`); `None` where the provider does not keep it.
    pub destination: Option<u64>,
    /// What it is matched by.
    pub tag: u64,
    /// What the MPI will be told of when it is done: a place in its own request.
    pub context: TargetAddr,
    /// Where the data lies; `None` where it lies in several pieces, or was copied.
    pub buffer: Option<TargetAddr>,
    /// Its bytes.
    pub length: u64,
    /// By what its message names it at the receiver.
    pub number: Option<Number>,
    /// Whether it is listed behind all that were posted before it to the same process, and are listed.
    pub in_order: bool,
}

/// By what a message names its send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// Among all sends of the process.
    OfProcess(u64),
    /// Among those to one process.
    OfPair(u64),
}

impl Number {
    /// By what the MPI gave for the send.
    pub fn given(context: TargetAddr) -> Self {
        Self::OfProcess(context.get())
    }

    /// The same among all sends of the process. `receiver`: the receiver's rank in MPI_COMM_WORLD.
    pub fn request(self, receiver: Option<i64>) -> Option<u64> {
        /// Bits of a number of a pair.
        const PAIR: u32 = 32;
        match self {
            Self::OfProcess(number) => Some(number),
            Self::OfPair(number) => {
                let receiver = u64::try_from(receiver?).ok().filter(|receiver| receiver >> (63 - PAIR) == 0)?;
                Some((receiver + 1) << PAIR | number & ((1 << PAIR) - 1))
            }
        }
    }
}

/// What was found in a list, and why there may be more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    /// What was found, in matching order.
    pub found: Vec<T>,
    /// Why there may be more; `None` where these are all.
    pub problem: Option<Reason>,
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Self { found: Vec::new(), problem: None }
    }
}

impl<T> Listed<T> {
    /// What stands at each place, as `read` reads it: `None` is none of the MPI's with a tag.
    fn each<R: Into<Option<T>>>(
        places: impl IntoIterator<Item = TargetAddr>,
        what: &str,
        mut read: impl FnMut(TargetAddr) -> Result<R, Reason>,
    ) -> Self {
        let mut listed = Self::default();
        for at in places {
            match read(at) {
                Ok(one) => listed.found.extend(one.into()),
                Err(reason) => listed.fail(format!("{what} of libfabric at {at}: {reason}")),
            }
        }
        listed
    }

    /// The elements of a walk.
    fn of<R: Into<Option<T>>>(walk: Walk, what: &str, read: impl FnMut(TargetAddr) -> Result<R, Reason>) -> Self {
        let mut listed = Self::each(walk.elements, what, read);
        listed.fail_if(walk.stopped.map(|stopped| format!("libfabric's list: {stopped}")));
        listed
    }

    /// The structures of `size` bytes that the circular list at `head` links by their member `link`.
    fn linked<R: Into<Option<T>>>(
        target: &dyn Target,
        head: TargetAddr,
        (link, size): (Slot, usize),
        what: &str,
        mut read: impl FnMut(&Record<'_>) -> Result<R, Reason>,
    ) -> Self {
        let mut buffer = Vec::new();
        Self::of(circular_list(target, head, 0, MAX_LIST), what, |at| {
            read(&Record::read(target, link.structure_of(at), size, &mut buffer)?)
        })
    }

    /// Nothing was found, for that reason.
    fn failed(reason: impl Into<Reason>) -> Self {
        Self { found: Vec::new(), problem: Some(reason.into()) }
    }

    /// Says why there may be more; the first reason is kept.
    pub fn fail(&mut self, reason: impl Into<Reason>) {
        self.problem.get_or_insert(reason.into());
    }

    fn fail_if(&mut self, reason: Option<impl Into<Reason>>) {
        reason.into_iter().for_each(|reason| self.fail(reason));
    }

    /// Adds what another list has.
    pub fn append(&mut self, other: Self) {
        self.found.extend(other.found);
        self.fail_if(other.problem);
    }
}

impl Source {
    /// What an address says that a receive was given.
    fn of(address: u64) -> Self {
        if address == ANY_ADDRESS { Self::Any } else { Self::Address(address) }
    }

    /// The number of the process, if there is one.
    pub fn address(self) -> Option<u64> {
        if let Self::Address(number) = self { Some(number) } else { None }
    }
}

/// A part of a layout.
///
/// # Errors
/// A sentence, where its release has none.
fn part_of<'a, T>(layout: &Layout, part: &'a Option<T>, what: &str) -> Result<&'a T, Reason> {
    part.as_ref().ok_or_else(|| Reason::new(format!("the layout {} has nothing of {what}", layout.name)))
}

/// What an MPI has given with a receive: a place in its memory. Another word is none of a receive, or of another layout.
///
/// # Errors
/// A sentence, where it cannot be one.
fn given(context: TargetAddr) -> Result<TargetAddr, Reason> {
    /// Nothing lies below, in bytes.
    const LOWEST: u64 = 1 << 12;
    match context.get() >= LOWEST && context.get().is_multiple_of(4) {
        true => Ok(context),
        false => Err(Reason::new(format!("it leads to no request, but to {context}"))),
    }
}

/// The number of the process (`fi_addr_t`) that an object at `at` leads to, by its field `address`; `None` where there is no object, or
/// that says no process.
fn process_of(target: &dyn Target, at: TargetAddr, address: Slot) -> Result<Option<u64>, Reason> {
    if at.is_null() {
        return Ok(None);
    }
    let value = address.read_uint(target, at)?;
    Ok(Source::of(value).address())
}

/// Buffer and bytes of a receive into `count` pieces, of which the first two words say the first (`struct iovec`).
fn pieces(target: &dyn Target, at: TargetAddr, count: u64) -> Result<(Option<TargetAddr>, u64), Reason> {
    /// No provider takes more pieces (`RXM_IOV_LIMIT`, `SMR_IOV_LIMIT`, `SOCK_EP_MAX_IOV_LIMIT`: 4 to 8).
    const MOST: u64 = 16;
    let width = target.abi().pointer_width.bytes();
    if count > MOST {
        return Err(Reason::new(format!("it has {count} pieces")));
    }
    let (mut buffer, mut length) = (None, 0_u64);
    for index in 0..count {
        let here = at.wrapping_add(index * 2 * width);
        let base = target.read_pointer(here)?;
        let bytes = target.read_uint(here.wrapping_add(width), width)?;
        buffer = (count == 1).then_some(base);
        length = length.saturating_add(bytes);
    }
    Ok((buffer, length))
}
