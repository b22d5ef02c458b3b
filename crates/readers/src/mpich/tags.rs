//! What the tags of MPICH's own messages mean.
//!
//! Blocking collectives have a tag each, the same in all releases from 3.2 to 5.0; non-blocking ones take the next number of
//! their communicator (src/include/mpir_tags.h, in 3.2 src/include/mpiimpl.h; `MPIDU_Sched_next_tag`,
//! src/mpid/common/sched/mpidu_sched.c). The tag tells which building block posted the message: a barrier made of a reduce and
//! a broadcast shows those two.

use std::borrow::Cow;

use model::Remark;

/// Tags of building blocks with the function that they stand for.
const BLOCKING: &[(i64, &str)] = &[
    (1, "MPI_Barrier"),
    (2, "MPI_Bcast"),
    (3, "MPI_Gather"),
    (4, "MPI_Gatherv"),
    (5, "MPI_Scatter"),
    (6, "MPI_Scatterv"),
    (7, "MPI_Allgather"),
    (8, "MPI_Allgatherv"),
    (9, "MPI_Alltoall"),
    (10, "MPI_Alltoallv"),
    (11, "MPI_Reduce"),
    (14, "MPI_Allreduce"),
    (17, "MPI_Reduce_scatter"),
    (20, "MPI_Scan"),
    (24, "MPI_Exscan"),
    (25, "MPI_Alltoallw"),
    (28, "MPI_Reduce_scatter_block"),
];

/// First tag of non-blocking collectives since 3.3 (`MPIR_FIRST_NBC_TAG`); those of 3.2 begin among what later ones keep for
/// others.
pub const FIRST_NON_BLOCKING: i64 = 287;

/// No more non-blocking collectives of a communicator are under way at a time than this.
const UNDER_WAY: i64 = 1 << 16;

/// What an internal operation with this tag belongs to; `next` is the tag that the next non-blocking collective of its
/// communicator will have.
pub fn describe(tag: Option<i64>, next: Option<i64>) -> Remark {
    let Some(tag) = tag else { return Remark::Collective(None) };
    if let Some((_, call)) = BLOCKING.iter().find(|(known, _)| *known == tag) {
        return Remark::Collective(Some((Cow::Borrowed(call), tag)));
    }
    // Constructors of communicators mark the tags of their messages with high bits.
    let last = next.map(|next| next.saturating_add(UNDER_WAY));
    if last.is_some_and(|last| (FIRST_NON_BLOCKING..last).contains(&tag)) {
        return Remark::NumberedCollective(tag);
    }
    Remark::Collective(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_of_collectives() {
        assert_eq!(describe(Some(1), Some(287)), Remark::Collective(Some((Cow::Borrowed("MPI_Barrier"), 1))));
        assert_eq!(describe(Some(289), Some(289)), Remark::NumberedCollective(289));
        // A message may be of one that this process has not begun; a marked tag is none of them.
        assert_eq!(describe(Some(300), Some(289)), Remark::NumberedCollective(300));
        for (tag, next) in [(None, Some(289)), (Some(289), None), (Some(1 << 30), Some(289)), (Some(i64::MIN), Some(0))]
        {
            assert_eq!(describe(tag, next), Remark::Collective(None));
        }
        assert_eq!(describe(Some(i64::MAX), Some(i64::MAX)), Remark::Collective(None));
    }
}
