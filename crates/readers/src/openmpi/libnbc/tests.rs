//! Schedules written by hand after the algorithms, and any others. What a real library makes is compared in
//! `tests/mpi/test_schedules.py`.

use super::*;
use Doing::{Copy, Receive, Reduce, Send, Unpack};

fn asked(algorithm: Option<i64>) -> Algorithms {
    Algorithms {
        broadcast: algorithm,
        radix: Some(4),
        all_reduce: algorithm,
        reduce: algorithm,
        all_gather: algorithm,
        scan: algorithm,
        exscan: algorithm,
    }
}

fn member(rank: i64, size: i64) -> Member {
    let algorithms = asked(Some(0));
    Member { rank, size, remote: None, topology: Some(false), persistent: false, temporary: false, algorithms }
}

/// Messages of four bytes, each from a place of its own.
fn steps(doings: &[Doing]) -> Vec<Step> {
    let step = |(place, doing): (usize, &Doing)| {
        let count = u64::from(doing.is_message());
        Step { doing: *doing, count, bytes: Some(4), buffer: 0x1000 + place as u64 * 4, temporary: false }
    };
    doings.iter().enumerate().map(step).collect()
}

fn names(found: &[PossibleFunction]) -> Vec<&str> {
    found.iter().map(|one| one.function.trim_start_matches("MPI_I")).collect()
}

fn roots_of<'f>(found: &'f [PossibleFunction], function: &str) -> Option<&'f [i64]> {
    found.iter().find(|one| one.function == function).and_then(|one| one.roots.as_deref())
}

#[test]
fn a_barrier_has_no_data() {
    let plan = [Send(1), Receive(2), Send(2), Receive(1)];
    let empty: Vec<Step> = steps(&plan).into_iter().map(|step| Step { count: 0, buffer: 0, ..step }).collect();
    assert_eq!(names(&functions(&empty, member(0, 3))), ["barrier"]);
    assert!(functions(&steps(&plan), member(0, 3)).iter().all(|one| one.function != "MPI_Ibarrier"));
    // Neighbours may exchange nothing, too.
    let with_topology = Member { topology: None, ..member(0, 3) };
    assert!(names(&functions(&empty, with_topology)).contains(&"neighbor_alltoallw"));
}

#[test]
fn one_message_is_of_several_functions_with_one_root() {
    let from = functions(&steps(&[Receive(2)]), member(0, 4));
    assert_eq!(names(&from), ["bcast", "scatter", "scatterv", "alltoallv", "alltoallw"]);
    for function in ["MPI_Ibcast", "MPI_Iscatter", "MPI_Iscatterv"] {
        assert_eq!(roots_of(&from, function), Some(&[2][..]), "{function}");
    }
    let to = functions(&steps(&[Send(3)]), member(1, 4));
    assert_eq!(names(&to), ["gather", "gatherv", "alltoallv", "alltoallw"]);
    // With memory of the library's own it is a reduction.
    let reduction = functions(&steps(&[Send(0)]), Member { temporary: true, ..member(3, 4) });
    assert_eq!(names(&reduction), ["reduce"]);
}

#[test]
fn algorithms_that_were_asked_for_have_other_roots() {
    let leaf = |algorithm: Option<i64>| {
        let found = functions(&steps(&[Receive(2)]), Member { algorithms: asked(algorithm), ..member(3, 4) });
        roots_of(&found, "MPI_Ibcast").map(<[i64]>::to_vec)
    };
    assert_eq!(leaf(Some(0)), Some(vec![2]));
    assert_eq!(leaf(Some(1)), Some(vec![2]));
    // Any of them: rank 3 is the last of chains, too.
    let any = leaf(None).unwrap_or_default();
    assert!(any.contains(&0) && any.contains(&2), "{any:?}");
}

#[test]
fn a_broadcast_sends_the_same_to_all() {
    let plan = steps(&[Send(1), Send(2)]);
    let found = functions(&plan, member(0, 3));
    assert!(!names(&found).contains(&"bcast"), "{found:?}");
    let same: Vec<Step> = plan.into_iter().map(|step| Step { buffer: 0x1000, ..step }).collect();
    let found = functions(&same, member(0, 3));
    assert_eq!(roots_of(&found, "MPI_Ibcast"), Some(&[0][..]));
    assert!(!names(&found).contains(&"scatter"), "{found:?}");
}

#[test]
fn pieces_of_a_chain() {
    let pieces: Vec<Doing> = std::iter::repeat_n([Receive(1), Send(3)], 5).flatten().collect();
    let found = functions(&steps(&pieces), member(2, 8));
    // Rank 0 and the root change places.
    assert_eq!(roots_of(&found, "MPI_Ibcast"), Some(&[0, 4, 5, 6, 7][..]));
    let broken: Vec<Doing> = pieces.into_iter().chain([Receive(1)]).collect();
    assert!(functions(&steps(&broken), member(2, 8)).iter().all(|one| one.function != "MPI_Ibcast"));
}

#[test]
fn persistent_ones_have_names_of_their_own() {
    let found = functions(&steps(&[Receive(2)]), Member { persistent: true, ..member(0, 4) });
    assert_eq!(found[0].function, "MPI_Bcast_init");
}

#[test]
fn nothing_is_said_of_what_cannot_be() {
    let plan = steps(&[Receive(2)]);
    for (rank, size) in [(0, 0), (4, 4), (-1, 4), (0, -3), (0, i64::MAX), (i64::MIN, i64::MIN)] {
        assert_eq!(functions(&plan, member(rank, size)), [], "{rank} of {size}");
    }
    assert_eq!(functions(&[], member(0, 4)), []);
    for remote in [0, -1, i64::MAX] {
        assert_eq!(functions(&plan, Member { remote: Some(remote), ..member(0, 4) }), []);
    }
}

/// Numbers that look random, always the same ones.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below.max(1)
    }
}

#[test]
fn any_schedule_is_looked_at_in_bounded_time() {
    let mut numbers = Numbers(7);
    for _ in 0..made_up::share::rounds(100, 500) {
        let sizes = [1, 2, 3, 5, 8, 17, 4096, 4097, 1 << 20, MOST_MEMBERS];
        let size = sizes[numbers.next(if numbers.0 & 7 == 0 { 10 } else { 6 }) as usize];
        let rank = numbers.next(size as u64) as i64;
        let doings: Vec<Doing> = (0..numbers.next(12))
            .map(|_| {
                let peer =
                    [numbers.next(size as u64) as i64, -4, i64::MAX, i64::MIN][numbers.next(40).min(3) as usize % 4];
                [Send(peer), Receive(peer), Reduce, Copy, Unpack, Doing::LocalSend(peer)][numbers.next(6) as usize]
            })
            .collect();
        let found = Member {
            remote: (numbers.next(3) == 0).then(|| 1 + numbers.next(9) as i64),
            topology: [None, Some(true), Some(false)][numbers.next(3) as usize],
            persistent: numbers.next(2) == 0,
            temporary: numbers.next(2) == 0,
            algorithms: asked([None, Some(0), Some(1), Some(2), Some(3), Some(4), Some(-9)][numbers.next(7) as usize]),
            ..member(rank, size)
        };
        for one in functions(&steps(&doings), found) {
            let roots = one.roots.unwrap_or_default();
            assert!(roots.iter().all(|root| (0..size).contains(root)) && roots.len() <= MOST_ROOTS, "{roots:?}");
        }
    }
}
