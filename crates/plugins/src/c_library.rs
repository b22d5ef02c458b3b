//! Opening a C library.
#![allow(unsafe_code)]

use std::path::{Path, PathBuf};

use libloading::os::unix::{Library as UnixLibrary, RTLD_LOCAL, RTLD_NOW};

/// Why a C library could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FfiError {
    /// The dynamic linker refused it.
    #[error("cannot load {path}: {reason}")]
    Open {
        /// The library.
        path: PathBuf,
        /// What the dynamic linker said.
        reason: String,
    },
}

/// A C library that stays loaded until the process ends.
///
/// It is never unloaded, so functions taken from it live as long as the process: plug-ins of debugger interfaces keep
/// static state and are told that they are never unloaded.
#[derive(Debug)]
pub struct Library {
    inner: UnixLibrary,
}

impl Library {
    /// Opens the library with RTLD_LOCAL, so that two plug-ins with the same function names stay apart, and RTLD_NOW,
    /// so that what is undefined fails here and not in the middle of a call.
    ///
    /// # Errors
    /// Where the dynamic linker refuses it.
    ///
    /// # Safety
    /// Loading runs the library's constructors. Call it only where a crash of the process is acceptable.
    pub unsafe fn open_forever(path: &Path) -> Result<&'static Self, FfiError> {
        // SAFETY: the caller accepts that constructors run.
        let opened = unsafe { UnixLibrary::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        match opened {
            Ok(inner) => Ok(Box::leak(Box::new(Self { inner }))),
            Err(error) => {
                use std::error::Error as _;
                // The dynamic linker's own words stand in the source of the error.
                let reason = error.source().map_or_else(|| error.to_string(), ToString::to_string);
                Err(FfiError::Open { path: path.to_owned(), reason })
            }
        }
    }

    /// The function `name`, `None` where the library does not export it.
    ///
    /// # Safety
    /// `F` must be a function pointer type that is the C function's own.
    pub unsafe fn function<F: Copy>(&'static self, name: &str) -> Option<F> {
        // SAFETY: the caller vouches for the type; the library is never unloaded.
        let symbol = unsafe { self.inner.get::<Option<F>>(name) };
        symbol.ok().and_then(|symbol| *symbol)
    }

    /// Where the variable `name` is, `None` where the library does not export it.
    pub fn variable(&'static self, name: &str) -> Option<usize> {
        // SAFETY: only the address is taken; the library is never unloaded.
        let symbol = unsafe { self.inner.get::<*const u8>(name) };
        symbol.ok().map(|symbol| *symbol as usize).filter(|addr| *addr != 0)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_is_an_error_that_names_it() {
        // SAFETY: the file does not exist, nothing is loaded.
        let error = unsafe { Library::open_forever(Path::new("/nonexistent/library.so")) }.map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("/nonexistent/library.so"), "{error}");
    }
}
