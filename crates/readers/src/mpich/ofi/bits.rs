//! How a build packs context, source and tag into the word that libfabric matches by.
//!
//! From the highest bit on: what the protocol adds, the context, the source where messages have no data of their own, the tag
//! (pmodels/mpich, src/mpid/ch4/netmod/ofi/ofi_impl.h, v3.4 to v5.0). How many bits each has, the variable says.

use layouts::Layouts;

/// Bits of the sender's rank in a message's data (`MPIDI_OFI_IDATA_SRC_BITS`, ofi_types.h).
const RANK_IN_DATA: u32 = 30;

/// How many bits each part has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bits {
    context: u32,
    source: u32,
    tag: u32,
    /// Messages of the library itself: active messages, answers, those between jobs; `None` where the release is not known.
    own: Option<u64>,
    /// Messages of which only the announcement has come.
    announced: u64,
}

impl Bits {
    /// With these numbers of bits; `None` where they cannot be right.
    pub fn new(layouts: &Layouts, context: u64, source: u64, tag: u64) -> Option<Self> {
        let likely = (8..=32).contains(&context) && source <= 32 && (15..=32).contains(&tag);
        if !likely || context + source + tag > 64 {
            return None;
        }
        let number = |value: u64| u32::try_from(value).unwrap_or(64);
        let (context, source, tag) = (number(context), number(source), number(tag));
        let constant = |name: &str| layouts.constant(&format!("MPIDI_OFI_{name}")).ok().map(|value| value as u64);
        // Since 4.3 they stand above the parts; before, at fixed places, of which there are two sets.
        let shift = context + source + tag;
        let above = |name: &str| constant(name)?.checked_shl(shift);
        let set = if source == 0 { "DEFAULT" } else { "MINIMAL" };
        let fixed = |name: &str| constant(&format!("{name}_{set}"));
        let own = match (above("ACK_SEND_0"), above("DYNPROC_SEND_0"), above("AM_SEND_0")) {
            (Some(answer), Some(between), active) => Some(answer | between | active.unwrap_or(0)),
            _ => fixed("SYNC_SEND_ACK").zip(fixed("DYNPROC_SEND")).map(|(answer, between)| answer | between),
        };
        let announced = above("RNDV_SEND_0").or_else(|| fixed("HUGE_SEND")).unwrap_or(0);
        Some(Self { context, source, tag, own, announced })
    }

    fn mask(bits: u32) -> u64 {
        1_u64.checked_shl(bits).map_or(u64::MAX, |bit| bit - 1)
    }

    /// The context.
    pub fn context(&self, word: u64) -> u64 {
        (word >> (self.source + self.tag)) & Self::mask(self.context)
    }

    /// Whether a context is the one of a word, which has only so many of its bits.
    pub fn has_context(&self, word: u64, context: u64) -> bool {
        self.context(word) == context & Self::mask(self.context)
    }

    /// The tag.
    pub fn tag(&self, word: u64) -> i64 {
        (word & Self::mask(self.tag)) as i64
    }

    /// Whether a receive takes any tag.
    pub fn any_tag(&self, ignore: u64) -> bool {
        ignore & Self::mask(self.tag) == Self::mask(self.tag)
    }

    /// The source of a receive, if the word has it: `Some(None)` is any.
    pub fn source(&self, word: u64, ignore: u64) -> Option<Option<i64>> {
        if self.source == 0 {
            return None;
        }
        let mask = Self::mask(self.source);
        let any = (ignore >> self.tag) & mask == mask;
        Some((!any).then_some(((word >> self.tag) & mask) as i64))
    }

    /// The sender of a message, by its data, else by its word.
    pub fn sender(&self, word: u64, data: Option<u64>) -> Option<i64> {
        match data {
            Some(data) if self.source == 0 => Some((data & Self::mask(RANK_IN_DATA)) as i64),
            _ => self.source(word, 0).flatten(),
        }
    }

    /// Whether a message is the library's own.
    pub fn is_own(&self, word: u64) -> bool {
        self.own.is_some_and(|own| word & own != 0)
    }

    /// Whether only the announcement of a message has come, so that its length is not told.
    pub fn is_announced(&self, word: u64) -> bool {
        word & self.announced != 0
    }
}
