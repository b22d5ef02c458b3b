//! Groups.

use super::facts::facts;
use super::{Handle, Known, References, Typed, WorldRanks};

facts! {
    /// What the line of a group needs.
    #[derive(Copy)]
    Group {
        /// This process's rank; none where it is no member.
        rank: Option<i64>,
        /// The number of members.
        size: i64,
    }
}

facts! {
    /// The rest.
    GroupDetails {
        /// World ranks of the members, in rank order.
        ranks: Known<WorldRanks>,
        /// How the library stores them.
        storage: &'static str,
        /// Communicators that have the group.
        communicators: Known<References>,
        /// Windows that have it.
        windows: Known<References>,
    }
}

impl GroupDetails {
    /// Tells them, and keeps the ranks.
    pub fn describe(self, handle: &mut Handle) {
        handle.typed = Typed::Group(self.ranks.clone());
        self.tell(handle);
    }
}

impl Group {
    /// Tells it, with its name and line; `empty`: it is MPI_GROUP_EMPTY.
    pub fn describe(self, empty: bool, handle: &mut Handle) {
        const EMPTY: &str = "MPI_GROUP_EMPTY";
        let Self { rank, size } = self;
        handle.name = empty.then(|| EMPTY.to_owned());
        handle.summary = match (empty, rank) {
            (true, _) => EMPTY.to_owned(),
            (_, Some(rank)) => format!("group of {size}, rank {rank}"),
            (_, None) => format!("group of {size}, without this process"),
        };
        self.tell(handle);
    }
}
