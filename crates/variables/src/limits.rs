//! How far damaged or hostile debug information is followed.

use std::time::Duration;

/// References from an entry to the one that has its name or type; typedefs of typedefs.
pub(crate) const MOST_HOPS: usize = 32;

/// Types within types, classes that are derived from others, variables whose types need other variables, callers' callers.
pub(crate) const DEEPEST: usize = 24;

/// One question may take this long; what was not found by then stays unknown.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(1);

/// Finding what one entry stands in may take this long.
pub(crate) const PATH_TIME: Duration = Duration::from_millis(200);

/// Classes that were declared elsewhere, each within the next.
pub(crate) const MOST_SCOPES: usize = 8;

/// Listing the units or the names of one file may take this long, once.
pub(crate) const INDEX_TIME: Duration = Duration::from_secs(2);

/// Names of a file.
pub(crate) const MOST_NAMES: usize = 1 << 20;

/// Units whose names are kept.
pub(crate) const KEPT_UNITS: usize = 128;

/// Operations of one expression, and pieces that a value may lie in.
pub(crate) const MOST_OPERATIONS: u32 = 1000;

/// Entries of a location list.
pub(crate) const MOST_LOCATIONS: usize = 1 << 16;

/// Expressions that one question may lead to.
pub(crate) const MOST_EXPRESSIONS: u32 = 2000;

/// An array has at most so many dimensions (Fortran 2018, 5.4.6).
pub(crate) const MOST_DIMENSIONS: usize = 15;

/// Bytes of a number, and of a pointer.
pub(crate) const LONGEST_NUMBER: u64 = 16;

/// Sizes beyond this are damage.
pub(crate) const LARGEST: i128 = 1 << 62;

/// Frames outwards among which that of a host function is looked for.
pub(crate) const MOST_FRAMES: usize = 64;

/// Functions that are looked at for tail calls.
pub(crate) const MOST_TAIL_CALLS: usize = 64;

/// Longest name of a variable or type that is looked for.
pub(crate) const LONGEST_NAME: usize = 1000;
