//! Addresses in the memory of the program that is looked at.
//!
//! A target address is never a pointer of ours: it may be of another width or byte order, and it may be garbage.

use std::fmt;

/// An address in target memory, in bytes. Zero is the null pointer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct TargetAddr(u64);

impl TargetAddr {
    /// The null pointer.
    pub const NULL: Self = Self(0);

    /// An address from its number.
    pub const fn new(address: u64) -> Self {
        Self(address)
    }

    /// The number of the address.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// Whether this is the null pointer.
    pub const fn is_null(self) -> bool {
        self.0 == 0
    }

    /// The address `offset` bytes further on, or `None` where that would wrap around the address space.
    pub fn checked_add(self, offset: u64) -> Option<Self> {
        self.0.checked_add(offset).map(Self)
    }

    /// The address `offset` bytes further on; wraps, as the target's own arithmetic does.
    ///
    /// A wrapped address is not readable on any system we know, so the read that follows fails cleanly.
    #[must_use]
    pub const fn wrapping_add(self, offset: u64) -> Self {
        Self(self.0.wrapping_add(offset))
    }

    /// The next address that is a multiple of `alignment` bytes (0 counts as 1); saturates at the top.
    #[must_use]
    pub fn align_up(self, alignment: u64) -> Self {
        Self(self.0.checked_next_multiple_of(alignment.max(1)).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for TargetAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Debug for TargetAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
