//! The process table of a live process, read without a debugger.

use super::{Candidates, ProcessTable, process_table};
use layouts::{LayoutSource, Layouts, ObjectTypes};
use target::{Image, LiveProcess, Target, TargetError, processes};

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

/// The job of Slurm that the process `pid` has started, by its number; none where it is no srun, or does not say so.
///
/// It has that for debuggers that attach to it (`totalview_jobid`, src/srun/libsrun/debugger.c of Slurm 22.05). Where it has asked for
/// the nodes itself, no environment that others see names the job.
pub fn slurm_job_of(pid: u32) -> Option<String> {
    const LONGEST: usize = 16;
    let process = LiveProcess::open(pid).ok()?;
    let place = process.symbol("totalview_jobid").ok()??;
    let text = process.read_pointer(place.addr).ok().filter(|at| at.get() != 0)?;
    let number = String::from_utf8(process.read_c_string(text, LONGEST).ok()?).ok()?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
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
            true => processes::place(process.pid()).join("exe"),
            // Also where it lies in a container.
            false => processes::place(process.pid()).join("root").join(image.path.trim_start_matches('/')),
        }))
    };
    Layouts::new(image().map(source).into_iter().collect())
}
