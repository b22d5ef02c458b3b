//! Where a process's plug-in for handles may be.
//!
//! In this order: the one that the user named, the `plugin-path` setting, `mpidbg_dll_locations` of the target (an array of
//! names that ends with NULL), and the name of Open MPI's, beside the MPI library. Names from the target are only
//! suggestions; see `plugins::host::trust`. Open MPI's own array is always NULL (open-mpi/ompi, ompi/debuggers/ompi_debuggers.c,
//! `check`, 4.1.4 and 5.0.7: it is filled by value), and would hold message-queue plug-ins were it filled, because the
//! two arrays are mixed up; a library that exports nothing of the interface is therefore passed over.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::plugin::is_handle_plugin;
use plugins::host::candidate::{Candidate, How, Search, by_name};
use target::address::TargetAddr;
use target::{Reason, Target};

/// Longest path that is read from the target.
const MAX_PATH: usize = 4096;
/// More names than this are not read from the target.
const MAX_LOCATIONS: u64 = 64;
/// The name of Open MPI's plug-in: its configuration's `OMPI_MPIHANDLES_DLL_PREFIX`.
const OPEN_MPI: &str = "libompi_dbg_mpihandles.so";
/// The variable of the MPI library.
pub const LOCATIONS: &str = "mpidbg_dll_locations";
/// By that variable.
pub const BY_LOCATIONS: How = How::Named("named by the MPI library (mpidbg_dll_locations)");

/// The candidates for `target`, the preferred one first, and why the target names none where it does not.
pub fn candidates(target: &dyn Target, search: &Search<'_>) -> (Vec<Candidate>, Option<Reason>) {
    if let Some(path) = search.explicit {
        return (vec![by_name(path, How::Explicit)], None);
    }
    let images = target.images().unwrap_or_default();
    let (named, reason) = match locations(target) {
        Ok(named) => (named, None),
        Err(reason) => (Vec::new(), Some(reason)),
    };
    let named = named.into_iter().map(|path| (path, BY_LOCATIONS)).collect();
    let mut found = search.candidates(&images, named, &[OPEN_MPI]);
    found.retain(|candidate| !candidate.exists || is_handle_plugin(&candidate.path).unwrap_or(true));
    (found, reason)
}

/// The names that the target has for plug-ins.
///
/// # Errors
/// Why there are none, in a sentence.
pub fn locations(target: &dyn Target) -> Result<Vec<PathBuf>, Reason> {
    let symbol = target.symbol(LOCATIONS).map_err(|error| format!("{LOCATIONS} could not be looked up: {error}"))?;
    let Some(symbol) = symbol else { return Err(Reason::new(format!("the MPI library has no variable {LOCATIONS}"))) };
    let unreadable = |error| format!("{LOCATIONS} could not be read: {error}");
    let array = target.read_pointer(symbol.addr).map_err(unreadable)?;
    if array.is_null() {
        return Err(Reason::new(format!("{LOCATIONS} of the MPI library is NULL: it names no plug-in")));
    }
    let width = target.abi().pointer_width.bytes() as u64;
    let mut names = Vec::new();
    for number in 0..MAX_LOCATIONS {
        let entry: TargetAddr = target.read_pointer(array.wrapping_add(number * width)).map_err(unreadable)?;
        if entry.is_null() {
            break;
        }
        let name = target.read_c_string(entry, MAX_PATH).map_err(unreadable)?;
        if !name.is_empty() {
            names.push(Path::new(OsStr::from_bytes(&name)).to_owned());
        }
    }
    if names.is_empty() {
        return Err(Reason::new(format!("{LOCATIONS} of the MPI library is empty: it names no plug-in")));
    }
    Ok(names)
}
