//! What MPI_Init and MPI_Finalize wait for.

use super::point_to_point::NOT_COUNTED;
use super::{Context, Need, Wait};
use model::Call;

impl<'a> Context<'a, '_> {
    /// The rest of the job: to start, or to come to its end.
    pub(super) fn lifecycle(&self, call: &'a Call) -> Wait<'a> {
        let Some(id) = self.collectives.of_thread(self.proc, call.thread) else {
            return Wait::only(Need::Unknown("which other processes are in this job is not known"));
        };
        let need = if self.collectives.get(id).missing.is_empty() { Need::Nothing } else { Need::Others(id) };
        Wait { need, in_flight: Some(NOT_COUNTED), operations: Vec::new() }
    }
}
