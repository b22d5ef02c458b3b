//! The header that ob1 sends in front of each message (ompi/mca/pml/ob1/pml_ob1_hdr.h, v4.1.4 and v5.0.7).

use std::fmt;

use super::shapes::Ob1Shapes;
use crate::ReaderError;
use crate::record::{Record, Slot};
use layouts::{LayoutError, Layouts};
use model::{Operation, Remark};
use target::Target;
use target::address::TargetAddr;

/// Constants and derived offsets of message headers.
#[derive(Debug, Clone)]
pub struct Headers<'a> {
    ob1: &'a Ob1Shapes,
    eager: u64,
    rendezvous: u64,
    rget: u64,
    extended: Option<u64>,
    /// Bytes of an eager message's header as it is sent.
    match_len: u64,
}

/// The communicator that a message is for, as its sender names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Context {
    /// The number that the communicator has at the receiver.
    Index(u64),
    /// Since 5.0, where the sender does not know that number yet: base and sub of the extended context id.
    Extended(u64, u64),
}

/// A header that begins a message.
#[derive(Debug, Clone)]
pub struct Header {
    /// The sender's rank in the communicator.
    pub source: i64,
    /// The tag.
    pub tag: i64,
    /// Which message of that sender on that communicator it is: 16 bits, which wrap.
    pub sequence: u64,
    /// For which communicator.
    pub context: Context,
    /// Bytes of the header as it is sent, where data follows it.
    pub len: u64,
    /// Length of the whole message, where only its announcement was sent.
    pub announced: Option<u64>,
}

impl fmt::Display for Context {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(out, "{index}"),
            Self::Extended(base, sub) => write!(out, "{base:#x}:{sub:#x}"),
        }
    }
}

impl<'a> Headers<'a> {
    /// Resolves the constants.
    ///
    /// # Errors
    /// Names the first that no layout source has.
    pub fn resolve(layouts: &Layouts, ob1: &'a Ob1Shapes) -> Result<Self, LayoutError> {
        let number = |name: &str| layouts.constant(name).map(|value| value as u64);
        let header = &ob1.header;
        // The header ends after its sequence number, unless this build pads it (OMPI_PML_OB1_MATCH_HDR_LEN).
        let end = header.padding.map_or(header.sequence.offset + header.sequence.size, |slot| slot.offset + slot.size);
        Ok(Self {
            ob1,
            eager: number("MCA_PML_OB1_HDR_TYPE_MATCH")?,
            rendezvous: number("MCA_PML_OB1_HDR_TYPE_RNDV")?,
            rget: number("MCA_PML_OB1_HDR_TYPE_RGET")?,
            extended: number("MCA_PML_OB1_HDR_TYPE_CID").ok(),
            match_len: end as u64,
        })
    }

    /// Whether what is sent with this number as its kind begins a message.
    pub fn begins_message(&self, kind: u64) -> bool {
        [self.eager, self.rendezvous, self.rget].contains(&kind) || self.extended == Some(kind)
    }

    /// The header at `at` of what was sent as `kind`, `bytes` of them with it. No more of these is read than the header: the
    /// rest is the application's.
    ///
    /// # Errors
    /// Where it cannot be read, is of another kind, or is longer than what was sent.
    pub fn read_at(&self, target: &dyn Target, at: TargetAddr, kind: u64, bytes: u64) -> Result<Header, ReaderError> {
        let end = |slot: Slot| slot.offset.saturating_add(slot.size);
        let header = &self.ob1.header;
        let extended = self.extended.filter(|extended| *extended == kind).and(header.extended_match);
        let match_end = self.match_len as usize + extended.map_or(0, |follows| follows.offset);
        let rendezvous =
            if extended.is_some() { header.extended_rendezvous_bytes } else { Some(header.rendezvous_bytes) };
        let mut buffer = Vec::new();
        let mut record = self.part(target, at, match_end, bytes, &mut buffer)?;
        let said = self.kind(&record, 0);
        if said != kind {
            return Err(ReaderError::Damaged(format!(
                "what lies at {at} was sent as one of the kind {kind}, but its header says {said}"
            )));
        }
        let inner = self.kind(&record, extended.map_or(0, |follows| follows.offset));
        let mut whole = Vec::new();
        if inner != self.eager
            && let Some(slot) = rendezvous
        {
            record = self.part(target, at, end(slot).max(match_end), bytes, &mut whole)?;
        }
        self.read(&record, 0)
    }

    fn part<'b>(
        &self,
        target: &dyn Target,
        at: TargetAddr,
        len: usize,
        bytes: u64,
        buffer: &'b mut Vec<u8>,
    ) -> Result<Record<'b>, ReaderError> {
        if bytes < len as u64 {
            return Err(ReaderError::Damaged(format!("the message at {at} has {bytes} bytes, less than its header")));
        }
        Ok(Record::read(target, at, len, buffer)?)
    }

    /// The kind that the header `shift` bytes into the record says of itself.
    fn kind(&self, record: &Record<'_>, shift: usize) -> u64 {
        record.uint(shifted(self.ob1.header.kind, shift))
    }

    /// The header `shift` bytes into the record.
    ///
    /// # Errors
    /// Where it is of no kind that begins a message.
    pub fn read(&self, record: &Record<'_>, shift: usize) -> Result<Header, ReaderError> {
        let header = &self.ob1.header;
        let number = |slot: Slot, shift: usize| record.uint(shifted(slot, shift));
        let mut inner = shift;
        let mut len = self.match_len;
        let mut bytes = shifted(header.rendezvous_bytes, shift);
        let mut context = None;
        if Some(self.kind(record, shift)) == self.extended
            && let (Some(follows), Some(announced)) = (header.extended_match, header.extended_rendezvous_bytes)
        {
            // The ordinary header follows the extended one; fields of `hdr_match` are found there.
            inner += follows.offset;
            len += follows.offset as u64;
            bytes = shifted(announced, shift);
            let id = header.extended_base.zip(header.extended_sub);
            context = id.map(|(base, sub)| Context::Extended(number(base, shift), number(sub, shift)));
        }
        let kind = number(header.kind, inner);
        let announced = if kind == self.eager {
            None
        } else if kind == self.rendezvous || kind == self.rget {
            Some(record.uint(bytes))
        } else {
            let at = record.addr;
            return Err(ReaderError::Damaged(format!("the message at {at} has a header of the unknown kind {kind}")));
        };
        Ok(Header {
            source: record.int(shifted(header.source, inner)),
            tag: record.int(shifted(header.tag, inner)),
            sequence: number(header.sequence, inner),
            context: context.unwrap_or_else(|| Context::Index(number(header.context, inner))),
            len,
            announced,
        })
    }

    /// Bytes of the header of an eager message without an extended one.
    pub const fn match_len(&self) -> u64 {
        self.match_len
    }
}

impl Header {
    /// Length of the message, of which `bytes` were sent with the header at `at`.
    ///
    /// # Errors
    /// Where these are fewer than the header itself has.
    pub fn length(&self, bytes: u64, at: TargetAddr) -> Result<u64, ReaderError> {
        match self.announced {
            Some(length) => Ok(length),
            None => bytes.checked_sub(self.len).ok_or_else(|| {
                ReaderError::Damaged(format!("the message at {at} has {bytes} bytes, less than its header"))
            }),
        }
    }

    /// The message as an operation.
    pub fn operation(&self, length: u64) -> Operation {
        Operation {
            desired_local_rank: Some(self.source),
            desired_tag: Some(self.tag),
            desired_length: Some(length),
            system_buffer: true,
            actual_local_rank: Some(self.source),
            actual_tag: Some(self.tag),
            actual_length: Some(length),
            extra_text: self.announced.map(|_| Remark::Rendezvous).into_iter().collect(),
            ..Operation::default()
        }
    }
}

/// The slot of a member of a structure that is itself a member, `shift` bytes into the outer one.
pub fn shifted(slot: Slot, shift: usize) -> Slot {
    Slot { offset: slot.offset.saturating_add(shift), ..slot }
}
