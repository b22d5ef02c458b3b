//! What each thread waits for, by the rules of the standard and by what its library has posted.
//!
//! A need is a formula over parties. Where it is not known which of several things a thread waits for, both readings are kept:
//! under the hopeful one it waits for any of them, under the strict one for all. What is stuck even under the hopeful reading
//! is stuck for certain.

use super::job::{CommunicatorId, PartyId, Side};

/// What must happen before a thread goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// Nothing: it is not blocked, or what it waits for is on its way.
    Nothing,
    /// This party must go on.
    Party(PartyId),
    /// Any member of one group of a communicator must go on; the thread's own party is one and helps nobody.
    AnyOf(CommunicatorId, Side),
    /// The members of a communicator that are not in this collective operation must go on.
    Others(CollectiveId),
    /// All of these.
    All(Vec<Need>),
    /// Any one of these.
    Any(Vec<Need>),
    /// All or any of these: it is not known which of them the thread waits for.
    Unclear(Vec<Need>),
    /// Nobody can bring it about, for the reason told with it.
    Never(&'static str),
    /// It is not known what it waits for.
    Unknown(&'static str),
}

/// A place in the list of collective operations in which parties wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CollectiveId(pub usize);
