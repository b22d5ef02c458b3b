//! How the pml ucx packs communicator, rank and tag into the 64 bits that UCX matches by.
//!
//! The tag in the upper 24 bits, of which the first is its sign; then the sender's rank in 20; then the communicator's context id in
//! 20, since 5.0 its index (`PML_UCX_MAKE_SEND_TAG`, `PML_UCX_MAKE_RECV_TAG`, open-mpi/ompi, ompi/mca/pml/ucx/pml_ucx_request.h,
//! v4.1.4 and v5.0.10).

const RANK_BITS: u32 = 20;
const CONTEXT_BITS: u32 = 20;
const RANK: u64 = (1 << RANK_BITS) - 1;
const CONTEXT: u64 = (1 << CONTEXT_BITS) - 1;

/// The bits that every receive compares: the context and the tag's sign.
const ALWAYS: u64 = 1 << 63 | CONTEXT;
/// Those that a receive from one source compares, too.
const OF_SOURCE: u64 = RANK << CONTEXT_BITS;
/// Those that a receive of one tag compares, too.
const OF_TAG: u64 = 0x7fff_ff00_0000_0000;

/// What a mask leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Open {
    /// It takes any source.
    pub any_source: bool,
    /// It takes any tag.
    pub any_tag: bool,
}

/// Bits of a tag.
pub const TAG_BITS: u32 = 64 - RANK_BITS - CONTEXT_BITS;

/// The number of the communicator.
pub const fn context(word: u64) -> u64 {
    word & CONTEXT
}

/// The same, of a communicator as its members number it: more bits than these do not travel.
pub const fn context_of(id: u64) -> Option<u64> {
    if id <= CONTEXT { Some(id) } else { None }
}

/// The sender's rank.
pub const fn rank(word: u64) -> i64 {
    (word >> CONTEXT_BITS & RANK) as i64
}

/// The tag.
pub const fn tag(word: u64) -> i64 {
    (word as i64) >> (CONTEXT_BITS + RANK_BITS)
}

/// What a mask leaves open; `None` where the pml makes no such mask.
pub const fn open(mask: u64) -> Option<Open> {
    let (source, tag) = (mask & OF_SOURCE, mask & OF_TAG);
    let whole = mask & ALWAYS == ALWAYS && (source == 0 || source == OF_SOURCE) && (tag == 0 || tag == OF_TAG);
    if whole { Some(Open { any_source: source == 0, any_tag: tag == 0 }) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_masks_are_taken_apart() {
        let word = (-17i64 as u64) << 40 | 3 << 20 | 5;
        assert_eq!((tag(word), rank(word), context(word)), (-17, 3, 5));
        assert_eq!(tag(0x7f_ffff << 40), 8_388_607);
        let known = |any_source, any_tag| Some(Open { any_source, any_tag });
        assert_eq!(open(u64::MAX), known(false, false));
        assert_eq!(open(0xffff_ff00_000f_ffff), known(true, false));
        assert_eq!(open(0x8000_00ff_ffff_ffff), known(false, true));
        assert_eq!(open(0x8000_0000_000f_ffff), known(true, true));
        for mask in [0, 1, u64::MAX >> 1, !(1 << 20), !(1 << 45), !1] {
            assert_eq!(open(mask), None, "{mask:#x}");
        }
        assert_eq!((context_of(CONTEXT), context_of(CONTEXT + 1)), (Some(CONTEXT), None));
    }
}
