//! Lists of members of groups, equal ones kept once: every communicator of a large job that was duplicated has the same.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::Arc;

use model::Group;
use target::{TargetError, collect};

/// The lists that were read.
#[derive(Default)]
pub struct MemberLists {
    known: RefCell<HashSet<Group>>,
}

impl MemberLists {
    /// A list of `count` members; the one that is kept already where it is the same.
    ///
    /// # Errors
    /// Where so many are more than there is memory for.
    pub fn keep(&self, count: u64, members: impl Iterator<Item = Option<i64>>) -> Result<Group, TargetError> {
        let found = collect(count, members)?;
        let mut known = self.known.borrow_mut();
        if let Some(same) = known.get(found.as_slice()) {
            return Ok(Arc::clone(same));
        }
        let found: Group = found.into();
        known.insert(Arc::clone(&found));
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn equal_lists_are_one() {
        let lists = MemberLists::default();
        let [a, b, c] = [4, 4, 5].map(|count| lists.keep(count, (0..count as i64).map(Some)).unwrap());
        assert!(Arc::ptr_eq(&a, &b) && !Arc::ptr_eq(&a, &c));
        assert!(lists.keep(u64::MAX, std::iter::repeat(None)).is_err());
    }
}
