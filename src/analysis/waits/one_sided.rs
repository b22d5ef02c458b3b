//! What the epochs of windows wait for.

use super::point_to_point::NOT_COUNTED;
use super::{Context, Found, Need};
use crate::model::Call;

impl<'a> Context<'a, '_> {
    /// MPI_Win_wait and its siblings: somebody of the window's communicator must act. Memory that others write to counts no
    /// messages.
    pub(super) fn epoch(&self, call: &'a Call) -> Found<'a> {
        let found: Vec<Need> = super::posted::communicators(self.process, call)
            .iter()
            .filter_map(|(place, _)| {
                let shared = self.job.communicator(self.party.0, *place)?;
                Some(Need::AnyOf(shared, self.other_side(shared)))
            })
            .collect();
        if found.is_empty() {
            return Found::only(Need::Unknown("the members of the window are not known"));
        }
        Found { need: Need::Any(found), in_flight: Some(NOT_COUNTED), operations: Vec::new() }
    }
}
