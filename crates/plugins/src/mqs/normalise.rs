//! Corrects a plug-in's report by what our own reader knows of the communicators.
//!
//! Open MPI's plug-in (open-mpi/ompi, ompi/debuggers/ompi_msgq_dll.c, 4.1.4 and 5.0.7 alike) translates the peers of an
//! intercommunicator by its local group, gives sends their local rank as the actual global one, compares processes by
//! pointer (wrong for processes that are created lazily), and lists MPI_COMM_NULL and the communicator that an
//! intercommunicator keeps for its local side. MPICH's (pmodels/mpich, src/mpi/debugger/dll_mpich.c, 3.0 to 5.0) gives
//! no world ranks at all, and the size of the remote group for that of an intercommunicator.

use super::Dialect;
use model::{Communicator, Operation, QueueReport, QueueState};

/// Takes groups and world ranks from `known` and drops communicators that are not among them.
///
/// `dialect` says which communicator of ours one of the plug-in is. Does nothing where `known` is empty: then nothing is
/// known.
pub fn normalise(report: &mut QueueReport, known: &[Communicator], dialect: &dyn Dialect) {
    if known.is_empty() {
        return;
    }
    let QueueReport { communicators, problems, .. } = report;
    let mut dropped = [0; 3];
    communicators.retain_mut(|communicator| match dialect.find(communicator, known) {
        Some(known) => {
            correct(communicator, known, problems);
            true
        }
        None => {
            let each = queues(communicator).map(|queue| queue.len());
            let lost = each.iter().sum::<usize>();
            dropped.iter_mut().zip(each).for_each(|(all, more)| *all += more as u64);
            if lost > 0 {
                problems.push(format!(
                    "{lost} operations that the plug-in lists on {:?} are left out: there is no such communicator",
                    communicator.name
                ));
            }
            false
        }
    });
    // They may be of any communicator.
    for communicator in communicators {
        for (queue, more) in communicator.queues_mut().into_iter().zip(dropped).filter(|(_, more)| *more > 0) {
            queue.dropped += more;
            if queue.state == QueueState::Ok {
                let detail = format!("the plug-in lists {more} more on communicators that do not exist");
                (queue.state, queue.detail) = (QueueState::Error, Some(detail));
            }
        }
    }
}

fn queues(communicator: &mut Communicator) -> [&mut Vec<Operation>; 3] {
    [
        &mut communicator.pending_sends.operations,
        &mut communicator.pending_receives.operations,
        &mut communicator.unexpected_messages.operations,
    ]
}

fn correct(communicator: &mut Communicator, known: &Communicator, problems: &mut Vec<String>) {
    // A plug-in has room for 64 bytes.
    let cut = communicator.name.len() >= 60 && known.name.starts_with(communicator.name.as_str());
    if communicator.name.is_empty() || cut {
        communicator.name.clone_from(&known.name);
    }
    communicator.unique_id = known.unique_id;
    communicator.size = known.size.or(communicator.size);
    communicator.name_set = known.name_set;
    communicator.context_id.clone_from(&known.context_id);
    communicator.handle.clone_from(&known.handle);
    communicator.group.clone_from(&known.group);
    communicator.remote_group.clone_from(&known.remote_group);
    // Ranks of peers count in the remote group of an intercommunicator.
    let Some(peers) = known.remote_group.as_ref().or(known.group.as_ref()) else { return };
    let mut outside = 0_usize;
    let mut translate = |local: &mut Option<i64>| {
        let rank = (*local)?;
        let world = usize::try_from(rank).ok().and_then(|rank| peers.get(rank));
        if world.is_none() {
            outside += 1;
            *local = None;
        }
        world.copied().flatten()
    };
    for operation in queues(communicator).into_iter().flatten() {
        operation.desired_global_rank = translate(&mut operation.desired_local_rank);
        operation.actual_global_rank = translate(&mut operation.actual_local_rank);
    }
    if outside > 0 {
        problems.push(format!(
            "{outside} ranks that the plug-in gives for {:?} are left out: the communicator has no such ranks",
            communicator.name
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::super::dialect;
    use super::*;

    fn comm(name: &str, unique_id: u64, group: &[i64], remote: Option<&[i64]>) -> Communicator {
        let ranks = |ranks: &[i64]| ranks.iter().copied().map(Some).collect();
        Communicator {
            name: name.into(),
            unique_id,
            local_rank: Some(0),
            size: Some(group.len() as i64),
            group: Some(ranks(group)),
            remote_group: remote.map(ranks),
            ..Communicator::default()
        }
    }

    fn with_send(mut communicator: Communicator, local: i64, global: i64) -> Communicator {
        communicator.pending_sends.operations.push(Operation {
            desired_local_rank: Some(local),
            desired_global_rank: Some(global),
            actual_local_rank: Some(local),
            actual_global_rank: Some(local),
            ..Operation::default()
        });
        communicator
    }

    fn normalised(given: Vec<Communicator>, known: &[Communicator]) -> QueueReport {
        let mut report = QueueReport { communicators: given, ..QueueReport::default() };
        normalise(&mut report, known, dialect::OPEN_MPI);
        report
    }

    #[test]
    fn peers_are_translated_by_our_own_groups() {
        let known = [comm("reversed", 4, &[3, 2, 1, 0], None), comm("inter", 5, &[0, 2], Some(&[1, 3]))];
        let given = vec![
            with_send(comm("reversed", 4, &[3, 2, 1, 0], None), 3, 3),
            with_send(comm("inter", 5, &[0, 2], None), 1, 2),
        ];
        let report = normalised(given, &known);
        let ranks = report.communicators.iter().map(|communicator| {
            let op = &communicator.pending_sends.operations[0];
            (op.desired_global_rank, op.actual_global_rank)
        });
        let ranks: Vec<_> = ranks.collect();
        assert_eq!(ranks, [(Some(0), Some(0)), (Some(3), Some(3))]);
        assert_eq!(report.communicators[1].remote_group, Some([Some(1), Some(3)].into()));
        assert_eq!(report.problems, [""; 0]);
    }

    #[test]
    fn what_is_no_communicator_of_the_program_is_dropped() {
        let known = [comm("MPI_COMM_WORLD", 0, &[0, 1], None)];
        let given = vec![
            comm("MPI_COMM_WORLD", 0, &[0, 1], None),
            comm("MPI_COMM_NULL", 2, &[], None),
            with_send(comm("MPI COMMUNICATOR 6 DUP FROM 4", 6, &[0, 1], None), 1, 1),
        ];
        let report = normalised(given, &known);
        assert_eq!(report.communicators.len(), 1);
        assert_eq!(report.problems.len(), 1, "operations are not lost silently");
        assert_eq!(report.communicators[0].pending_sends.dropped, 1);
        assert_eq!(report.communicators[0].pending_receives.dropped, 0);
        assert_eq!(report.communicators[0].pending_sends.state, QueueState::Error);
        assert_eq!(report.communicators[0].pending_receives.state, QueueState::Ok);
    }

    #[test]
    fn a_rank_that_does_not_exist_is_left_out_and_told() {
        let known = [comm("w", 0, &[0, 1], None)];
        let report = normalised(vec![with_send(comm("w", 0, &[0, 1], None), 65534, 1)], &known);
        let op = &report.communicators[0].pending_sends.operations[0];
        assert_eq!((op.desired_local_rank, op.desired_global_rank), (None, None));
        assert_eq!(report.problems.len(), 1);
    }

    #[test]
    fn a_communicator_with_another_identifier_is_found_by_what_it_is() {
        let long = "n".repeat(100);
        let known = [comm(&long, 9, &[0, 1], None), comm("b", 8, &[1, 0], None)];
        let report = normalised(vec![comm(&"n".repeat(63), 1, &[0, 1], None)], &known);
        assert_eq!(report.communicators.len(), 1);
        assert_eq!(normalised(vec![comm("b", 0, &[0, 1, 2], None)], &known).communicators.len(), 0);
    }

    #[test]
    fn one_of_several_with_the_same_identifier_is_found_or_none() {
        let known = [comm("a", 3, &[0, 1], None), comm("b", 3, &[1, 0], None)];
        let report = normalised(vec![comm("b", 3, &[5, 5], None)], &known);
        assert_eq!(report.communicators[0].group, known[1].group);
        assert_eq!(normalised(vec![comm("c", 3, &[0, 1], None)], &known).communicators.len(), 0);
        let large = [comm("a", 0xffff_fff0, &[0, 1], None)];
        assert_eq!(normalised(vec![comm("x", -16_i64 as u64, &[0], None)], &large).communicators.len(), 1);
    }

    #[test]
    fn nothing_known_changes_nothing() {
        let report = normalised(vec![comm("a", 1, &[5], None)], &[]);
        assert_eq!(report.communicators.len(), 1);
    }
}
