//! The process table of a live process, read without a debugger.

use std::path::PathBuf;

use super::{Candidates, ProcessTable, process_table};
use crate::layouts::{LayoutSource, Layouts, ObjectTypes};
use crate::target::{Image, LiveProcess, Target, TargetError};

/// What the process `pid` of this machine says by the MPIR interface. It is neither stopped nor changed. See
/// [`process_table`].
///
/// # Errors
/// [`TargetError::Gone`] where there is no such process or it ends meanwhile, [`TargetError::Denied`] and
/// [`TargetError::File`] where its memory may not or cannot be read.
pub fn process_table_of(pid: u32, candidates: &Candidates) -> Result<ProcessTable, TargetError> {
    let process = LiveProcess::open(pid)?;
    process_table(&process, &types_of(&process, "MPIR_proctable"), candidates)
}

/// The types in the file that defines a variable of a live process, which is read when a type is asked for; none where
/// that file cannot be found out.
fn types_of(process: &LiveProcess, variable: &str) -> Layouts {
    let image = || {
        let addr = process.symbol(variable).ok().flatten()?.addr;
        let images = process.images().ok()?;
        images.into_iter().filter(|image| image.bias <= addr).max_by_key(|image| image.bias)
    };
    let source = |image: Image| -> Box<dyn LayoutSource> {
        Box::new(ObjectTypes::new(match image.is_executable {
            // Also where it has been replaced since.
            true => PathBuf::from(format!("/proc/{}/exe", process.pid())),
            // Also where it lies in a container.
            false => PathBuf::from(format!("/proc/{}/root", process.pid())).join(image.path.trim_start_matches('/')),
        }))
    };
    Layouts::new(image().map(source).into_iter().collect())
}
