//! What is particular to Open MPI's plug-in `libompi_dbg_msgq.so`.

mod requests;
mod texts;

use super::dialect::{Dialect, Evidence};
use model::{Communicator, QueueReport};

/// Open MPI's plug-in.
pub struct OpenMpi;

impl Dialect for OpenMpi {
    fn correct(&self, report: &mut QueueReport, evidence: &Evidence<'_>) {
        let queues = report.communicators.iter_mut().flat_map(Communicator::queues_mut);
        queues.flat_map(|queue| &mut queue.operations).for_each(texts::tidy);
        requests::correct(report, evidence.target, evidence.layouts);
    }

    fn find<'k>(&self, communicator: &Communicator, known: &'k [Communicator]) -> Option<&'k Communicator> {
        let like = |known: &&Communicator| {
            same_name(&known.name, &communicator.name)
                && known.local_rank == communicator.local_rank
                && known.size == communicator.size
        };
        let by_id: Vec<&Communicator> =
            known.iter().filter(|known| same_id(known.unique_id, communicator.unique_id)).collect();
        match by_id[..] {
            [] => {}
            [one] => return Some(one),
            // The plug-in has one communicator for each identifier; ours with the same one differ in other ways.
            _ => return by_id.into_iter().find(like),
        }
        let mut alike = known.iter().filter(like);
        match (alike.next(), alike.next()) {
            (Some(one), None) => Some(one),
            _ => None,
        }
    }
}

/// Whether a plug-in's identifier is this one. It may be a C int that was extended with its sign.
fn same_id(known: u64, given: u64) -> bool {
    let extended = i64::from(known as u32 as i32) as u64;
    known == given || (known <= u64::from(u32::MAX) && extended == given)
}

/// Whether a plug-in's name, which has room for 64 bytes, is this one or its beginning.
fn same_name(known: &str, given: &str) -> bool {
    known == given || (given.len() >= 60 && known.starts_with(given))
}
