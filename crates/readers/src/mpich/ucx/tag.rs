//! How MPICH packs context, rank and tag into the 64 bits that UCX matches by.
//!
//! `MPIDI_UCX_init_tag`, `MPIDI_UCX_recv_tag` and `MPIDI_UCX_tag_mask` (pmodels/mpich, src/mpid/ch4/netmod/ucx/ucx_impl.h, v3.4
//! to v5.0): the context in the upper 16 bits, then the source's rank in as many as the build was configured with
//! (`--with-ch4-ucx-rankbits`), since 4.3 two bits for the protocol, then the tag.

use crate::mpich::communicators::Communicators;
use crate::ucx::Sample;

use layouts::Layouts;

/// Bits of the context, in all releases.
const CONTEXT_BITS: u32 = 16;

/// Ranks that builds may be configured for, in bits.
const RANK_BITS: std::ops::RangeInclusive<u32> = 8..=28;

/// Fewest bits of a tag that an application may use: MPI_TAG_UB is at least 32,767.
const LEAST_TAG_BITS: u32 = 15;

/// Most bits of a tag that an application may use: one of an `int`'s tells collectives apart
/// (`MPIR_TAG_COLL_BIT`, src/include/mpir_tags.h).
const MOST_TAG_BITS: u32 = 30;

/// Where the parts lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Split {
    /// Bits of the rank.
    pub rank_bits: u32,
    /// Bits between rank and tag.
    pub protocol_bits: u32,
}

/// What the mask of a receive leaves open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Open {
    /// It takes any source.
    pub any_source: bool,
    /// It takes any tag.
    pub any_tag: bool,
    /// Bits of tags that an application may use.
    pub tag_bits: u32,
}

const fn ones(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

impl Split {
    /// The split that a build was configured with, where its layouts say it.
    pub fn configured(layouts: &Layouts) -> Option<Self> {
        let bits = |name| layouts.constant(name).ok().and_then(|bits| u32::try_from(bits).ok());
        let rank_bits = bits("MPIDI_UCX_RANK_BITS").or_else(|| bits("MPIDI_UCX_CONTEXT_RANK_BITS"))?;
        let protocol_bits = bits("MPIDI_UCX_PROTOCOL_BITS").unwrap_or(0);
        Some(Self { rank_bits, protocol_bits }).filter(|split| RANK_BITS.contains(&rank_bits) && split.tag_field() > 15)
    }

    const fn tag_field(self) -> u32 {
        64u32.saturating_sub(CONTEXT_BITS + self.rank_bits + self.protocol_bits)
    }

    const fn rank_shift(self) -> u32 {
        64 - CONTEXT_BITS - self.rank_bits
    }

    /// The context id.
    pub const fn context(word: u64) -> u64 {
        word >> (64 - CONTEXT_BITS)
    }

    /// The rank of the source.
    pub const fn rank(self, word: u64) -> i64 {
        (word >> self.rank_shift() & ones(self.rank_bits)) as i64
    }

    /// The tag.
    pub const fn tag(self, word: u64) -> i64 {
        (word & ones(self.tag_field())) as i64
    }

    /// Whether it is a part of an active message, or belongs to processes that connect: not the application's.
    pub const fn is_protocol(self, word: u64) -> bool {
        word >> self.tag_field() & ones(self.protocol_bits) != 0
    }

    /// What a mask leaves open; `None` where MPICH makes no such mask.
    pub fn open(self, mask: u64) -> Option<Open> {
        let rank = mask >> self.rank_shift() & ones(self.rank_bits);
        let protocol = mask >> self.tag_field() & ones(self.protocol_bits);
        let whole = Self::context(mask) == ones(CONTEXT_BITS) && protocol == ones(self.protocol_bits);
        let closed = rank == ones(self.rank_bits);
        if !whole || !(closed || rank == 0) {
            return None;
        }
        let field = self.tag_field();
        let tag = mask & ones(field);
        let any = tag.trailing_zeros().min(field);
        if any == 0 {
            // Bits that tell errors of collectives may be open: the two on top of one that tells collectives.
            let holes = !tag & ones(field);
            let usable = holes.trailing_zeros().min(field).min(MOST_TAG_BITS + 1) - 1;
            let known = holes == 0 || (holes >> holes.trailing_zeros()) <= 0b11;
            return Some(Open { any_source: !closed, any_tag: false, tag_bits: usable })
                .filter(|_| known && usable >= LEAST_TAG_BITS);
        }
        let holes = !tag & ones(field) & !ones(any);
        let known = holes == 0 || (holes >> holes.trailing_zeros()) <= 0b11;
        Some(Open { any_source: !closed, any_tag: true, tag_bits: any })
            .filter(|_| known && (LEAST_TAG_BITS..=MOST_TAG_BITS).contains(&any))
    }

    /// The communicator of an operation by its place, and whether it is one of a collective, where everything in `sample`
    /// makes sense in that communicator; of several, the first.
    pub fn place(self, sample: Sample, communicators: &Communicators) -> Option<(usize, bool)> {
        self.places(sample, communicators).first().copied()
    }

    /// All communicators that an operation can be of: of sends there may be several.
    pub fn places(self, sample: Sample, communicators: &Communicators) -> Vec<(usize, bool)> {
        let (word, mut found) = match sample {
            Sample::Receive(word, _) | Sample::Arrived(word) => {
                (word, Vec::from_iter(communicators.receiving(Self::context(word))))
            }
            Sample::Send(word) => (word, communicators.senders(Self::context(word))),
        };
        found.retain(|place| self.fits(sample, word, *place, communicators).unwrap_or(false));
        found
    }

    fn fits(self, sample: Sample, word: u64, place: (usize, bool), communicators: &Communicators) -> Option<bool> {
        let (index, collective) = place;
        let found = communicators.found.get(index)?;
        let (rank, tag) = (self.rank(word), self.tag(word));
        let tag_fits = |bits: u32| collective || found.internal || tag as u64 <= ones(bits);
        Some(match sample {
            Sample::Receive(_, mask) => {
                let open = self.open(mask)?;
                (if open.any_source { rank == 0 } else { rank < found.peers() })
                    && (if open.any_tag { tag as u64 & ones(open.tag_bits) == 0 } else { tag_fits(open.tag_bits) })
            }
            Sample::Arrived(_) => rank < found.peers() && tag_fits(MOST_TAG_BITS),
            Sample::Send(_) => Some(rank) == found.facts.local_rank && tag_fits(MOST_TAG_BITS),
        })
    }

    /// The split by which most of what UCX has makes sense: the configured one unless another is clearly better. `None` where
    /// none is, or several are equally good.
    pub fn choose(configured: Option<Self>, samples: &[Sample], communicators: &Communicators) -> Option<Self> {
        let score =
            |split: Self| samples.iter().filter(|sample| split.place(**sample, communicators).is_some()).count();
        // Single requests may be damaged, or change while they are looked at.
        let nearly_all = |score: usize| score * 10 >= samples.len() * 9;
        let of_configured = configured.map_or(0, score);
        if configured.is_some() && nearly_all(of_configured) {
            return configured;
        }
        let protocol_bits = configured.map_or(0, |split| split.protocol_bits);
        let tried: Vec<(usize, Self)> =
            RANK_BITS.map(|rank_bits| Self { rank_bits, protocol_bits }).map(|split| (score(split), split)).collect();
        let best = tried.iter().map(|(score, _)| *score).max().unwrap_or(0);
        if best <= of_configured {
            return configured.filter(|_| of_configured * 2 >= samples.len());
        }
        let mut winners = tried.into_iter().filter(|(score, _)| *score == best && nearly_all(best));
        winners.next().filter(|_| winners.next().is_none()).map(|(_, split)| split)
    }
}
