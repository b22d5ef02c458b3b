//! A look at a core file and its program before a debugger opens them.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::error::{CoreError, shown};
use super::file::CoreFile;
use super::libraries::named_libraries;
use crate::files::{self, Irregular};

/// The program of the core file: `program` or else the one that it names, if it dumped it and everything that the core
/// names can be opened without waiting for anybody.
///
/// # Errors
/// That name what does not fit, and what to type.
pub fn checked(core: &CoreFile, program: Option<&Path>) -> Result<PathBuf, CoreError> {
    let path = shown(core.path());
    if core.truncated() > 0 && !core.has_auxiliary() {
        // gcore writes what it tells of the process last, and no debugger opens a core without it.
        return Err(CoreError::Truncated { path, missing: core.truncated() });
    }
    let names: BTreeSet<&OsStr> = core.mappings().iter().map(|mapping| mapping.name.as_os_str()).collect();
    let is_fifo = |name: &&&OsStr| files::irregular(Path::new(name)) == Some(Irregular::Fifo);
    if let Some(name) = names.iter().find(is_fifo) {
        return Err(CoreError::MappedFifo { path, name: shown(name) });
    }
    let named = core.executable();
    let Some(dumped_by) = program.or_else(|| named.map(Path::new)) else {
        return Err(CoreError::NoProgram { path });
    };
    match core.is_program(dumped_by) {
        Ok(true) => {}
        Ok(false) => {
            let (program, named) = (shown(dumped_by), named.map(shown));
            return Err(CoreError::OtherProgram { path, program, named });
        }
        Err(error) => {
            let (program, named) = (shown(dumped_by), program.map(|_| named.map(shown)));
            return Err(CoreError::ProgramUnreadable { path, program, named, reason: error.reason() });
        }
    }
    for name in named_libraries(core, dumped_by) {
        if let Some(what) = files::irregular(Path::new(&name)) {
            return Err(CoreError::IrregularLibrary { path, name: shown(name), what });
        }
    }
    Ok(dumped_by.to_owned())
}
