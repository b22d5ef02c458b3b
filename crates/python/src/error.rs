//! Why an interpreter, or a part of it, could not be read.

use reason::Reason;
use target::TargetError;

/// Why something of an interpreter is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PythonError {
    /// Its memory could not be read.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// Its release is none of which the structures are known.
    #[error("CPython {major}.{minor} is not known to this version (3.8 to 3.14 are)")]
    Release {
        /// Major version.
        major: u64,
        /// Minor version.
        minor: u64,
    },
    /// Nothing tells its release.
    #[error("the interpreter does not say which release of CPython it is")]
    NoRelease,
    /// It is none of 64 bits.
    #[error("interpreters of 32 bits are not read")]
    Width,
    /// There is more of it than is read at once.
    #[error("there are more Python frames and names than are read at once")]
    TooMuch,
    /// Memory is not what the release has there.
    #[error("{0}")]
    Unlike(Reason),
}

/// What memory was found not to be.
pub(crate) fn unlike(text: impl Into<String>) -> PythonError {
    PythonError::Unlike(Reason::new(text))
}
