//! Bounded walks of linked lists in target memory.

use std::collections::HashSet;

use target::address::TargetAddr;
use target::{Target, TargetError};

/// Why a walk ended before the end of its list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stop {
    /// A link could not be read.
    #[error("the list is broken after {after} elements: {cause}")]
    Unreadable {
        /// How many elements were read before.
        after: usize,
        /// The read that failed.
        cause: TargetError,
    },
    /// A link leads back to an element that was there before.
    #[error("the list runs in a circle after {after} elements, at {at}")]
    Cycle {
        /// How many elements were read before.
        after: usize,
        /// The element that comes a second time.
        at: TargetAddr,
    },
    /// A link is the null pointer, which this kind of list never has.
    #[error("the list ends in a null pointer after {after} elements")]
    Null {
        /// How many elements were read before.
        after: usize,
    },
    /// There are more elements than a list of this kind can have.
    #[error("the list has more than {limit} elements")]
    TooLong {
        /// The bound.
        limit: usize,
    },
}

/// The elements that were reached, and why the walk ended early if it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walk {
    /// Addresses of the elements in list order.
    pub elements: Vec<TargetAddr>,
    /// `None` where the list was walked to its end.
    pub stopped: Option<Stop>,
}

/// Walks a circular list from the element after `sentinel` until it returns there. The pointer to the next element
/// lies `next_offset` bytes into each element; at most `limit` elements are taken.
pub fn circular_list(target: &(impl Target + ?Sized), sentinel: TargetAddr, next_offset: u64, limit: usize) -> Walk {
    let mut walk = Walk { elements: Vec::new(), stopped: None };
    let mut seen = HashSet::new();
    let mut at = sentinel;
    loop {
        let after = walk.elements.len();
        at = match target.read_pointer(at.wrapping_add(next_offset)) {
            Ok(next) => next,
            Err(cause) => {
                walk.stopped = Some(Stop::Unreadable { after, cause });
                return walk;
            }
        };
        if at == sentinel {
            return walk;
        }
        walk.stopped = if at.is_null() {
            Some(Stop::Null { after })
        } else if !seen.insert(at) {
            Some(Stop::Cycle { after, at })
        } else if after >= limit {
            Some(Stop::TooLong { limit })
        } else {
            None
        };
        if walk.stopped.is_some() {
            return walk;
        }
        walk.elements.push(at);
    }
}

/// Walks a list that ends in a null pointer, from its first element on. The pointer to the next element lies `next_offset` bytes
/// into each element; at most `limit` elements are taken.
pub fn linear_list(target: &(impl Target + ?Sized), first: TargetAddr, next_offset: u64, limit: usize) -> Walk {
    let mut walk = Walk { elements: Vec::new(), stopped: None };
    let mut seen = HashSet::new();
    let mut at = first;
    while !at.is_null() {
        let after = walk.elements.len();
        walk.stopped = if !seen.insert(at) {
            Some(Stop::Cycle { after, at })
        } else if after >= limit {
            Some(Stop::TooLong { limit })
        } else {
            None
        };
        if walk.stopped.is_some() {
            return walk;
        }
        walk.elements.push(at);
        at = match target.read_pointer(at.wrapping_add(next_offset)) {
            Ok(next) => next,
            Err(cause) => {
                walk.stopped = Some(Stop::Unreadable { after: after + 1, cause });
                return walk;
            }
        };
    }
    walk
}
