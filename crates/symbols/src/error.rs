//! Why a file says nothing.

use target::files::FileError;

/// Why a file was not opened as one of ELF.
#[derive(Debug, thiserror::Error)]
pub enum ObjectError {
    /// It cannot be opened, or is no regular file, or too large.
    #[error("{path} cannot be read: {}", .error.reason())]
    File {
        /// Its path.
        path: String,
        /// Why.
        error: FileError,
    },
    /// It is no ELF file.
    #[error("{path} is not an ELF file that can be read: {reason}")]
    Format {
        /// Its path.
        path: String,
        /// Why.
        reason: String,
    },
}
