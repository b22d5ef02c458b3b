//! How the mtl ofi packs communicator, source and tag into the word that libfabric matches by.
//!
//! From the highest bit on: the communicator's number, the source where messages have no data of their own, two bits of the
//! protocol of synchronous sends, the tag (open-mpi/ompi, ompi/mca/mtl/ofi/mtl_ofi_types.h, v4.1.4 and v5.0.7).

use super::shapes::Module;
use crate::record::Record;

/// `MTL_OFI_PROTO_BIT_COUNT`.
const PROTOCOL: u32 = 2;

/// How many bits each part has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits {
    /// 0 where messages carry the source's rank as data.
    source: u32,
    tag: u32,
    answer: u64,
    protocol: u64,
}

impl Bits {
    /// What the module says; `None` where it cannot be right, as before it is set up.
    pub fn new(shape: &Module, record: &Record<'_>) -> Option<Self> {
        let number = |value: u64| u32::try_from(value).ok();
        let with_data = record.uint(shape.with_data) != 0;
        let source = if with_data { 0 } else { number(record.uint(shape.source_bits))? };
        // Where messages have data, the number of these bits is a constant, and the module's is not set.
        let mask = record.uint(shape.tag_mask);
        let tag = mask.count_ones();
        let (answer, protocol) = (record.uint(shape.answer), record.uint(shape.protocol));
        let likely = (16..=32).contains(&tag) && source <= 24 && source + tag + PROTOCOL < 64;
        let same = mask.checked_add(1) == 1_u64.checked_shl(tag);
        let apart = protocol == 3 << tag.min(61) && answer == 2 << tag.min(61);
        (likely && same && apart).then_some(Self { source, tag, answer, protocol })
    }

    /// The number of the communicator.
    pub fn communicator(&self, word: u64) -> u64 {
        word >> (self.source + self.tag + PROTOCOL)
    }

    /// The tag; the library's own are negative.
    pub fn tag(&self, word: u64) -> i64 {
        let unused = 64 - self.tag;
        ((word << unused) as i64) >> unused
    }

    /// Whether a receive takes any tag of the application's: the sign is still its own.
    pub fn any_tag(&self, ignore: u64) -> bool {
        let mask = (1_u64 << (self.tag - 1)) - 1;
        ignore & mask == mask
    }

    /// The source of a receive, if the word has it: `Some(None)` is any.
    pub fn source(&self, word: u64, ignore: u64) -> Option<Option<i64>> {
        if self.source == 0 {
            return None;
        }
        let (shift, mask) = (self.tag + PROTOCOL, (1_u64 << self.source) - 1);
        let any = (ignore >> shift) & mask == mask;
        Some((!any).then_some(((word >> shift) & mask) as i64))
    }

    /// The sender of a message, by its data, else by its word.
    pub fn sender(&self, word: u64, data: Option<u64>) -> Option<i64> {
        if self.source == 0 { data.and_then(|data| i64::try_from(data).ok()) } else { self.source(word, 0).flatten() }
    }

    /// Whether a word is that of a synchronous send (`ompi_mtl_ofi_set_bits`: the protocol's other bit).
    pub fn is_synchronous(&self, word: u64) -> bool {
        word & self.protocol == self.protocol ^ self.answer
    }

    /// Whether a word is that of an answer to a synchronous send.
    pub fn is_answer(&self, word: u64) -> bool {
        word & self.protocol == self.answer
    }
}
