//! Matched messages.

use super::facts::facts;
use super::{Known, Reference};

facts! {
    /// What a matched message tells.
    Message {
        /// The communicator.
        communicator: Known<Option<Reference>>,
        /// The sender's rank.
        source: Known<i64>,
        /// The tag.
        tag: Known<i64>,
        /// The length.
        bytes: Known<u64>,
    }
}
