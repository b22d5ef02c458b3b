//! What the tags of the library's own messages mean.
//!
//! Applications use tags from 0 up; negative ones are the library's (ompi/mca/coll/base/coll_tags.h). The tag tells
//! which building block posted the operation: a barrier made of a reduce and a broadcast shows those two.

use layouts::Layouts;
use std::borrow::Cow;

use model::Remark;

/// Constants of coll_tags.h (and of communicator.h in 4.1) with the function that they stand for.
const BLOCKING: &[(&str, &str)] = &[
    ("MCA_COLL_BASE_TAG_ALLGATHER", "MPI_Allgather"),
    ("MCA_COLL_BASE_TAG_ALLGATHERV", "MPI_Allgatherv"),
    ("MCA_COLL_BASE_TAG_ALLREDUCE", "MPI_Allreduce"),
    ("MCA_COLL_BASE_TAG_ALLTOALL", "MPI_Alltoall"),
    ("MCA_COLL_BASE_TAG_ALLTOALLV", "MPI_Alltoallv"),
    ("MCA_COLL_BASE_TAG_ALLTOALLW", "MPI_Alltoallw"),
    ("MCA_COLL_BASE_TAG_BARRIER", "MPI_Barrier"),
    ("MCA_COLL_BASE_TAG_BCAST", "MPI_Bcast"),
    ("MCA_COLL_BASE_TAG_EXSCAN", "MPI_Exscan"),
    ("MCA_COLL_BASE_TAG_GATHER", "MPI_Gather"),
    ("MCA_COLL_BASE_TAG_GATHERV", "MPI_Gatherv"),
    ("MCA_COLL_BASE_TAG_REDUCE", "MPI_Reduce"),
    ("MCA_COLL_BASE_TAG_REDUCE_SCATTER", "MPI_Reduce_scatter"),
    ("MCA_COLL_BASE_TAG_REDUCE_SCATTER_BLOCK", "MPI_Reduce_scatter_block"),
    ("MCA_COLL_BASE_TAG_SCAN", "MPI_Scan"),
    ("MCA_COLL_BASE_TAG_SCATTER", "MPI_Scatter"),
    ("MCA_COLL_BASE_TAG_SCATTERV", "MPI_Scatterv"),
];

/// The meaning of negative tags in one release.
#[derive(Debug, Clone)]
pub struct InternalTags {
    blocking: Vec<(i64, &'static str)>,
    /// First (greatest) and last (least) tag of non-blocking collectives.
    non_blocking: Option<(i64, i64)>,
    /// The same of collectives between neighbours.
    neighbours: Option<(i64, i64)>,
}

impl InternalTags {
    /// The table of the release whose constants `layouts` has; without them every tag is merely internal.
    pub fn new(layouts: &Layouts) -> Self {
        let blocking = BLOCKING.iter().filter_map(|(name, call)| Some((layouts.constant(name).ok()?, *call))).collect();
        let first = layouts.constant("MCA_COLL_BASE_TAG_NONBLOCKING_BASE").ok();
        let last = layouts.constant("MCA_COLL_BASE_TAG_NONBLOCKING_END").ok();
        let non_blocking = first.zip(last);
        let first = layouts.constant("MCA_COLL_BASE_TAG_NEIGHBOR_BASE").ok();
        let last = layouts.constant("MCA_COLL_BASE_TAG_NEIGHBOR_END").ok();
        Self { blocking, non_blocking, neighbours: first.zip(last) }
    }

    /// Whether a tag may be what is left of one of a collective between neighbours, where only its lowest `bits` travel.
    pub fn may_be_of_neighbours(&self, tag: i64, bits: u32) -> bool {
        let left = |tag: i64| tag << (64 - bits) >> (64 - bits);
        self.neighbours.is_some_and(|(first, last)| {
            left(first) != first && (last.max(first.saturating_sub(1024))..=first).any(|whole| left(whole) == tag)
        })
    }

    /// What an operation with this negative tag belongs to.
    pub fn describe(&self, tag: i64) -> Remark {
        if let Some((_, call)) = self.blocking.iter().find(|(known, _)| *known == tag) {
            return Remark::Collective(Some((Cow::Borrowed(call), tag)));
        }
        if self.non_blocking.is_some_and(|(first, last)| (last..=first).contains(&tag)) {
            return Remark::NumberedCollective(tag);
        }
        Remark::Library(tag)
    }
}
