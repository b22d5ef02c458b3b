//! What is particular to MPICH's plug-in `libtvmpich.so` (pmodels/mpich, src/mpi/debugger/dll_mpich.c, 3.0 to 5.0).
//!
//! It lists the right requests and says much of them wrongly or not at all: ranks and context ids cut to 16 bits, counts in
//! place of lengths, a status that is always pending (4.0.3 on), the lists backwards, neither world ranks nor datatypes. It does
//! not name the request either. So the lists that it has read are read once more (`lists`), its operations are paired
//! with their entries, which must agree in what it says rightly (`pairs`), and the requests tell the rest (`requests`).

mod block;
mod communicators;
mod lists;
mod pairs;
mod reach;
mod requests;

use super::dialect::{Dialect, Evidence};
use communicators::Object;
use model::{Communicator, Queue, QueueReport, QueueState, Text};
use target::Reason;

/// MPICH's plug-in.
pub struct Mpich;

/// What the plug-in calls a communicator without a name.
const UNNAMED: &str = "--unnamed--";

impl Dialect for Mpich {
    /// The plug-in of 4.0.0 to 4.0.2 for ch4 asks for members of former releases; these lie deeper
    /// (src/mpid/ch4/include/mpidpre.h, v4.0.2: `MPIDI_Devreq_t.ch4.am`, `MPIDIG_req_t.u.recv`), and that of 3.4 for
    /// `am` as well. It adds the -1 that it gets for them to its offsets and shows garbage.
    fn member(&self, type_name: &str, field: &str) -> Option<&'static str> {
        match (type_name, field) {
            ("MPIDI_Devreq_t", "am") => Some("ch4.am"),
            ("MPIDIG_req_t", "rank") => Some("u.recv.source"),
            ("MPIDIG_req_t", "tag") => Some("u.recv.tag"),
            ("MPIDIG_req_t", "context_id") => Some("u.recv.context_id"),
            _ => None,
        }
    }

    /// It leaves its text for failure there whatever happens.
    fn speaks_on_success(&self) -> bool {
        false
    }

    fn correct(&self, report: &mut QueueReport, evidence: &Evidence<'_>) {
        let objects = communicators::read_all(report, evidence);
        match lists::Lists::read(evidence, &objects) {
            Ok(lists) => {
                pairs::correct(report, evidence, &objects, &lists);
                reach::mark(report, &objects, &lists);
                report.notes.extend(lists.notes());
            }
            Err(reason) => distrust(report, &reason),
        }
        for (communicator, object) in report.communicators.iter_mut().zip(&objects) {
            describe(communicator, object.as_ref());
        }
        communicators::leave_out_internal(report, &objects);
    }

    fn find<'k>(&self, communicator: &Communicator, known: &'k [Communicator]) -> Option<&'k Communicator> {
        known.iter().find(|known| known.unique_id == communicator.unique_id)
    }
}

/// Gives a communicator what its object says.
fn describe(communicator: &mut Communicator, object: Option<&Object>) {
    if communicator.name == UNNAMED {
        communicator.name = Text::default();
        communicator.name_set = Some(false);
    }
    let Some(object) = object else { return };
    // The plug-in's identifier is the object's address; our own reader's is the handle with which the object begins.
    communicator.unique_id = object.handle;
    communicator.handle = Some(model::HandleWord(object.handle));
    communicator.size = object.local_size.or(communicator.size);
}

/// Without a second reading of the lists nothing says which of the plug-in's facts are right.
fn distrust(report: &mut QueueReport, reason: &Reason) {
    for queue in report.communicators.iter_mut().flat_map(Communicator::queues_mut) {
        doubt(queue, format!("what the plug-in says could not be checked: {reason}"));
    }
}

/// Marks a queue that was read, as the plug-in thinks, with what is wrong with it.
fn doubt(queue: &mut Queue, detail: String) {
    if queue.state == QueueState::Ok {
        queue.state = QueueState::Error;
        queue.detail = Some(detail);
    }
}
