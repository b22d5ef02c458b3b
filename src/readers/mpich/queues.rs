//! The queues of all communicators, from whatever the device keeps them in.

use super::MpichProcess;
use super::communicators::Communicators;
use super::shapes::Shapes;
use crate::layouts::Layouts;
use crate::model::Queue;
use crate::readers::ReaderError;
use crate::target::Target;

/// Reads the queues into the communicators.
///
/// # Errors
/// Where nothing can be read.
pub fn read_all(
    _target: &dyn Target,
    _layouts: &Layouts,
    _shapes: &Shapes,
    process: &MpichProcess,
    all: &mut Communicators,
    _notes: &mut Vec<String>,
) -> Result<(), ReaderError> {
    let device = process.library.device.as_deref().unwrap_or("its device");
    for found in &mut all.found {
        for queue in found.facts.queues_mut() {
            *queue = Queue::no_information(format!("the queues of MPICH over {device} are not read"));
        }
    }
    Ok(())
}
