//! Which communicators of different processes are one.

use analysis::job::{Job, ProcIndex, Side};
use model::{Communicator, Snapshot};
use proptest::prelude::*;

use super::support::{add, communicator, world};

/// The communicators of each process, as numbers of what they are.
fn identities(snapshot: &Snapshot) -> Vec<Vec<usize>> {
    let job = Job::new(snapshot);
    let of = |(index, process): (usize, &model::Shared<model::Process>)| {
        (0..process.communicators.len()).map(|place| job.communicator(index, place).unwrap().0).collect()
    };
    snapshot.processes.iter().enumerate().map(of).collect()
}

fn doubts(snapshot: &Snapshot) -> Vec<bool> {
    Job::new(snapshot).communicators.iter().map(|shared| shared.doubt.is_some()).collect()
}

#[test]
fn halves_of_a_split_have_one_id_and_are_two() {
    let mut snapshot = world(4);
    add(&mut snapshot, "half", "3", &[0, 1]);
    add(&mut snapshot, "half", "3", &[2, 3]);
    assert_eq!(identities(&snapshot), [[0, 1], [0, 1], [0, 2], [0, 2]]);
    assert_eq!(doubts(&snapshot), [false; 3]);
}

#[test]
fn the_order_of_members_makes_another_communicator() {
    let mut snapshot = world(2);
    add(&mut snapshot, "a", "3", &[0, 1]);
    add(&mut snapshot, "b", "4", &[1, 0]);
    assert_eq!(identities(&snapshot), [[0, 1, 2], [0, 1, 2]]);
    let job = Job::new(&snapshot);
    assert_eq!(job.communicators[2].member(Side::First, 0), Some(ProcIndex(1)));
    assert_eq!(job.communicators[2].member(Side::First, 2), None);
    assert_eq!(job.communicators[2].member(Side::First, -1), None);
}

#[test]
fn each_process_has_its_own_self() {
    let mut snapshot = world(2);
    add(&mut snapshot, "MPI_COMM_SELF", "1", &[0]);
    add(&mut snapshot, "MPI_COMM_SELF", "1", &[1]);
    for place in &mut snapshot.processes {
        place.communicators[1].group = None;
    }
    assert_eq!(identities(&snapshot), [[0, 1], [0, 2]]);
    assert_eq!(doubts(&snapshot), [false; 3]);
}

fn inter(rank: i64, own: &[i64], other: &[i64], context: &str) -> Communicator {
    let remote_group = Some(other.iter().map(|member| Some(*member)).collect());
    Communicator { remote_group, ..communicator("inter", context, rank, own) }
}

#[test]
fn both_sides_of_an_intercommunicator_are_one() {
    // MPICH tells the ids that it sends and receives with: swapped on the other side, and equal ones are possible.
    for (first, second) in [("7/9", "9/7"), ("7/7", "7/7"), ("5", "5")] {
        let mut snapshot = world(4);
        for rank in 0..4 {
            let (own, other, id) = if rank < 2 { ([0, 1], [2, 3], first) } else { ([2, 3], [0, 1], second) };
            snapshot.processes[rank as usize].communicators.push(inter(rank, &own, &other, id));
        }
        assert_eq!(identities(&snapshot), [[0, 1]; 4], "{first}");
        let job = Job::new(&snapshot);
        let shared = &job.communicators[1];
        assert!(shared.is_inter() && shared.doubt.is_none());
        assert_eq!(shared.peers(Side::First), Side::Second);
        assert_eq!(shared.view(ProcIndex(3)).unwrap().side, Side::Second);
        assert_eq!(shared.member(Side::Second, 1), Some(ProcIndex(3)));
    }
}

#[test]
fn two_intercommunicators_of_the_same_groups_are_two() {
    let mut snapshot = world(2);
    for (mine, theirs) in [("7/9", "9/7"), ("9/7", "7/9")] {
        snapshot.processes[0].communicators.push(inter(0, &[0], &[1], mine));
        snapshot.processes[1].communicators.push(inter(1, &[1], &[0], theirs));
    }
    assert_eq!(identities(&snapshot), [[0, 1, 2], [0, 1, 2]]);
}

#[test]
fn without_ids_one_of_equal_members_is_certain_and_several_are_not() {
    let mut snapshot = world(2);
    add(&mut snapshot, "one", "", &[0, 1]);
    assert_eq!((identities(&snapshot), doubts(&snapshot)), (vec![vec![0, 1]; 2], vec![false, false]));
    add(&mut snapshot, "two", "", &[0, 1]);
    assert_eq!(identities(&snapshot), [[0, 1, 2]; 2]);
    assert_eq!(doubts(&snapshot), [false, true, true]);
    add(&mut snapshot, "two", "", &[0, 1]);
    assert_eq!(identities(&snapshot), [[0, 1, 2, 3]; 2]);
    assert_eq!(doubts(&snapshot), [false, true, true, true]);
}

#[test]
fn names_that_differ_are_a_doubt() {
    let mut snapshot = world(2);
    add(&mut snapshot, "a", "", &[0, 1]);
    snapshot.processes[1].communicators[1].name = "b".into();
    assert_eq!(identities(&snapshot), [[0, 1], [0, 2]]);
    assert_eq!(doubts(&snapshot), [false, true, true]);
}

#[test]
fn a_process_that_does_not_know_all_members_is_found_by_its_own_membership() {
    let mut snapshot = world(4);
    add(&mut snapshot, "half", "3", &[0, 1]);
    add(&mut snapshot, "half", "3", &[2, 3]);
    snapshot.processes[3].communicators[1].group = Some([None, Some(3)].into_iter().collect());
    snapshot.processes[1].communicators[1].group = None;
    assert_eq!(identities(&snapshot), [[0, 1], [0, 1], [0, 2], [0, 2]]);
    assert_eq!(doubts(&snapshot), [false; 3]);
    // What it says must fit.
    snapshot.processes[3].communicators[1].group = Some([Some(1), Some(3), None].into_iter().collect());
    snapshot.processes[3].communicators[1].size = Some(3);
    assert_eq!(identities(&snapshot)[3], [0, 3]);
    assert_eq!(doubts(&snapshot), [false, false, false, true]);
}

#[test]
fn where_nobody_knows_the_members_the_views_tell_them_and_it_is_a_doubt() {
    let mut snapshot = world(3);
    add(&mut snapshot, "x", "3", &[2, 0]);
    for rank in [0, 2] {
        snapshot.processes[rank].communicators[1].group = None;
    }
    let job = Job::new(&snapshot);
    let shared = &job.communicators[1];
    assert!(shared.doubt.is_some());
    assert_eq!(shared.group(Side::First), [Some(ProcIndex(2)), Some(ProcIndex(0))]);
}

#[test]
fn the_world_needs_no_members_to_be_one() {
    let mut snapshot = world(3);
    for process in &mut snapshot.processes {
        (process.communicators[0].group, process.communicators[0].context_id) = (None, None);
    }
    let job = Job::new(&snapshot);
    assert_eq!(job.communicators.len(), 1);
    assert_eq!(job.communicators[0].doubt, None);
    assert_eq!(job.communicators[0].group(Side::First), [0, 1, 2].map(|rank| Some(ProcIndex(rank))));
}

#[test]
fn ranks_that_were_not_read_are_members() {
    let mut snapshot = world(3);
    snapshot.processes.remove(1);
    let job = Job::new(&snapshot);
    let member = job.communicators[0].member(Side::First, 1).unwrap();
    assert!(job.procs[member.0].process.is_none());
    assert_eq!(job.procs[member.0].rank, Some(1));
}

#[test]
fn two_processes_that_are_the_same_member_are_a_doubt() {
    let mut snapshot = world(2);
    snapshot.processes.push(snapshot.processes[1].clone());
    assert_eq!(doubts(&snapshot), [true]);
    let mut snapshot = world(2);
    snapshot.processes[1].communicators[0].local_rank = Some(0);
    assert_eq!(doubts(&snapshot), [true]);
}

#[test]
fn a_process_with_equal_communicators_is_a_doubt_and_no_hang() {
    let mut snapshot = world(2);
    let one = snapshot.processes[0].communicators[0].clone();
    snapshot.processes[0].communicators.extend(vec![one; 50_000]);
    let job = Job::new(&snapshot);
    assert_eq!(job.communicators.len(), 50_001);
    assert!(job.communicators[0].doubt.is_some());
}

#[test]
fn absurd_sizes_take_no_memory() {
    let mut snapshot = world(2);
    for process in &mut snapshot.processes {
        (process.communicators[0].group, process.communicators[0].size) = (None, Some(i64::MAX));
    }
    assert_eq!(Job::new(&snapshot).communicators[0].group(Side::First), []);
}

proptest! {
    /// Whatever stands in a snapshot, each place has a communicator, and each communicator the views of its places.
    #[test]
    fn every_place_has_its_communicator(
        processes in proptest::collection::vec(
            (
                proptest::option::of(-1_i64..4),
                proptest::collection::vec(
                    (
                        proptest::option::of(0_u8..3),
                        proptest::option::of(proptest::collection::vec(proptest::option::of(-1_i64..4), 0..4)),
                        proptest::option::of(proptest::collection::vec(proptest::option::of(-1_i64..4), 0..3)),
                        proptest::option::of(-2_i64..5),
                        proptest::option::of(-2_i64..5),
                    ),
                    0..4,
                ),
            ),
            0..5,
        )
    ) {
        let mut snapshot = Snapshot::default();
        for (rank, communicators) in processes {
            let communicators = communicators
                .into_iter()
                .map(|(context, group, remote, local_rank, size)| Communicator {
                    context_id: context.map(|id| format!("{id}/{}", 2 - id)).map(Into::into),
                    group: group.map(Into::into),
                    remote_group: remote.map(Into::into),
                    local_rank,
                    size,
                    ..Communicator::default()
                })
                .collect();
            snapshot.processes.push(model::Process { rank, communicators, ..Default::default() }.into());
        }
        let job = Job::new(&snapshot);
        let mut seen = 0;
        for (id, shared) in job.communicators.iter().enumerate() {
            prop_assert!(!shared.views.is_empty());
            prop_assert!(shared.views.windows(2).all(|pair| pair[0].proc < pair[1].proc));
            for view in &shared.views {
                seen += 1;
                prop_assert_eq!(job.communicator(view.proc.0, view.place).map(|found| found.0), Some(id));
                prop_assert_eq!(shared.view(view.proc).map(|found| found.place), Some(view.place));
            }
        }
        let places: usize = snapshot.processes.iter().map(|process| process.communicators.len()).sum();
        prop_assert_eq!(seen, places);
    }
}
