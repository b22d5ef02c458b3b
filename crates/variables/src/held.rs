//! Where a value is: in memory, or in parts of whatever is left of it.

use std::rc::Rc;

use calls::Unknown;
use target::{ByteOrder, zeroed};

use crate::die::Die;
use crate::frame::{Context, gone};

/// Where a value is.
#[derive(Clone)]
pub(crate) enum Held {
    /// At an address.
    Memory(u64),
    /// In pieces; the value begins with that bit of them.
    Parts(Rc<[Part]>, u64),
}

/// One piece.
#[derive(Clone)]
pub(crate) struct Part {
    /// Its bits; `None` for all that are left.
    pub bits: Option<u64>,
    pub what: What,
    /// The bits of `what` that come before it.
    pub skipped: u64,
}

/// What a piece is.
#[derive(Clone)]
pub(crate) enum What {
    Memory(u64),
    /// As they would lie in memory.
    Bytes(Rc<[u8]>),
    /// A pointer to something that has no address, so many bytes into it.
    Pointer(Die, i64),
    Missing,
}

impl Held {
    /// All of those bytes, as in memory.
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Self::Parts(Rc::new([Part { bits: None, what: What::Bytes(bytes.into()), skipped: 0 }]), 0)
    }

    /// Where it lies; `None` where in no memory.
    pub fn place(&self) -> Option<u64> {
        if let Self::Memory(address) = self { Some(*address) } else { None }
    }

    /// What begins so many bytes further.
    pub fn further(&self, bytes: i128) -> Option<Self> {
        match self {
            Self::Memory(address) => Some(Self::Memory(address.wrapping_add(bytes as u64))),
            Self::Parts(parts, skipped) => {
                let skipped = i128::from(*skipped).checked_add(bytes.checked_mul(8)?)?;
                Some(Self::Parts(parts.clone(), u64::try_from(skipped).ok()?))
            }
        }
    }

    /// Whether nothing is left of it.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Parts(parts, _) if parts.iter().all(|part| matches!(part.what, What::Missing)))
    }

    /// Where a pointer leads that is a whole piece and has no number.
    pub fn pointer(&self) -> Option<(&Die, i64)> {
        let Self::Parts(parts, skipped) = self else { return None };
        let mut begin = 0;
        for part in parts.iter() {
            if let What::Pointer(die, offset) = &part.what
                && begin == *skipped
            {
                return Some((die, *offset));
            }
            begin += part.bits?;
        }
        None
    }

    /// So many of its bytes.
    pub fn read(&self, context: &Context, length: usize) -> Result<Vec<u8>, Unknown> {
        match self {
            Self::Memory(address) => context.read(*address, length),
            Self::Parts(..) => self.bits(context, 0, 8 * length as u64),
        }
    }

    /// Some of its bits, the first of which become the first bytes. On a machine that stores the least significant byte first
    /// these are the lower ones.
    pub fn bits(&self, context: &Context, first: u64, count: u64) -> Result<Vec<u8>, Unknown> {
        let big = order(context) == ByteOrder::Big;
        let length = usize::try_from(count.div_ceil(8)).unwrap_or(usize::MAX);
        let mut found = zeroed(length).map_err(|error| Unknown::new(error.to_string()))?;
        // A number of fewer bits than its bytes have lies at the lower end of them.
        let padding = if big { 8 * found.len() as u64 - count } else { 0 };
        let mut known: Option<(usize, u64, u8)> = None;
        for bit in 0..count {
            let (number, at) = self.find(first.checked_add(bit).ok_or_else(gone)?)?;
            let (byte, within) = (at / 8, at % 8);
            let content = match known {
                Some((of, index, content)) if of == number && index == byte => content,
                _ => self.byte(context, number, byte)?,
            };
            known = Some((number, byte, content));
            let is_set = (content >> if big { 7 - within } else { within }) & 1 == 1;
            let to = bit + padding;
            let place = if big { 7 - to % 8 } else { to % 8 };
            if is_set && let Some(byte) = found.get_mut((to / 8) as usize) {
                *byte |= 1 << place;
            }
        }
        Ok(found)
    }

    /// The piece that has a bit, and which bit of it that is.
    fn find(&self, bit: u64) -> Result<(usize, u64), Unknown> {
        let Self::Parts(parts, skipped) = self else { return Ok((0, bit)) };
        let mut left = skipped.checked_add(bit).ok_or_else(gone)?;
        for (number, part) in parts.iter().enumerate() {
            match part.bits {
                Some(bits) if left >= bits => left -= bits,
                _ => return Ok((number, left.checked_add(part.skipped).ok_or_else(gone)?)),
            }
        }
        Err(gone())
    }

    fn byte(&self, context: &Context, number: usize, index: u64) -> Result<u8, Unknown> {
        let one = |address: u64| {
            let bytes = context.read(address.wrapping_add(index), 1)?;
            bytes.first().copied().ok_or_else(gone)
        };
        let parts = match self {
            Self::Memory(address) => return one(*address),
            Self::Parts(parts, _) => parts,
        };
        let at = usize::try_from(index).map_err(|_| gone())?;
        match &parts.get(number).ok_or_else(gone)?.what {
            What::Memory(address) => one(*address),
            What::Bytes(bytes) => bytes.get(at).copied().ok_or_else(gone),
            What::Pointer(..) => Err(Unknown::new("what it points at has no address: it is optimised away")),
            What::Missing => Err(gone()),
        }
    }
}

fn order(context: &Context) -> ByteOrder {
    context.files.first().map_or(ByteOrder::Little, |file| file.info.abi().byte_order)
}
