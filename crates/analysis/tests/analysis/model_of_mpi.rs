//! Diagnoses of random programs against what these programs do, in all orders.

use std::cell::Cell;

use analysis::diagnose::{Earlier, Watched, diagnose};
use model::{Finding, FindingKind, State as Verdict};
use proptest::prelude::*;

use super::machine::{Call, Programs, State};
use super::programs::programs;
use super::snapshot::{Seen, snapshot};

/// Runs as the numbers say.
fn run(programs: &Programs, schedule: &[u8]) -> State {
    let mut state = State::new(programs.calls.len());
    for choice in schedule {
        let mut next = state.next(programs);
        if next.is_empty() {
            break;
        }
        state = next.swap_remove(usize::from(*choice) % next.len());
    }
    state
}

/// What a diagnosis says for certain: who is in a deadlock or waits for a finished rank, and whether the verdict is that.
fn told(state: &State, programs: &Programs, seen: Seen, twice: bool) -> (Vec<usize>, Verdict, String) {
    let snapshot = snapshot(state, programs, seen);
    let watched = Watched::default();
    let earlier = twice.then_some(Earlier { snapshot: &snapshot, interval_ms: Some(200), watched: &watched });
    let (findings, verdict) = diagnose(&snapshot, earlier);
    let deadlocks = findings.iter().filter(|finding| finding.certain && finding.kind == FindingKind::Deadlock);
    let ranks = deadlocks.flat_map(|finding| &finding.ranks).map(|rank| usize::try_from(*rank).unwrap()).collect();
    (ranks, verdict.state, format!("{verdict:?}\n{findings:#?}"))
}

/// All is known: by the library's counters, or by two looks.
fn all(counters: bool) -> Seen {
    Seen { arguments: true, internal: true, counters, numbers: true, fingerprints: !counters, polling: counters }
}

fn seen() -> impl Strategy<Value = Seen> {
    (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(arguments, internal, counters, numbers, fingerprints, polling)| Seen {
            arguments,
            internal,
            counters,
            numbers,
            fingerprints,
            polling,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever is known and whatever is on its way: who can go on is in no certain deadlock.
    #[test]
    fn no_deadlock_is_told_of_ranks_that_can_go_on((programs, schedule) in programs(), seen in seen()) {
        let state = run(&programs, &schedule);
        // Without its arguments a wait for null requests looks like one for what is pending; it is over before anybody looks.
        prop_assume!(seen.arguments || !state.waits_for_nothing(&programs));
        let (ranks, verdict, text) = told(&state, &programs, seen, false);
        if verdict == Verdict::Deadlock || !ranks.is_empty() {
            let leaves = state.leaves(&programs, 3000);
            for rank in ranks {
                prop_assert!(!leaves[rank], "rank {rank} goes on\n{text}");
            }
            prop_assert!(leaves.contains(&false), "all go on\n{text}");
        }
    }

    /// The same of two looks between which all that could happen in MPI has happened.
    #[test]
    fn no_deadlock_is_told_of_ranks_that_go_on_later((programs, schedule) in programs(), seen in seen()) {
        let mut state = run(&programs, &schedule);
        state.settle(&programs);
        let seen = Seen { fingerprints: true, ..seen };
        let (ranks, verdict, text) = told(&state, &programs, seen, true);
        if verdict == Verdict::Deadlock || !ranks.is_empty() {
            let leaves = state.leaves(&programs, 3000);
            for rank in ranks {
                prop_assert!(!leaves[rank], "rank {rank} goes on\n{text}");
            }
            prop_assert!(leaves.contains(&false), "all go on\n{text}");
        }
    }

    /// Where everything is known, what is told is what the definition says.
    #[test]
    fn who_is_stuck_is_told((programs, schedule) in programs(), counters in any::<bool>()) {
        let mut state = run(&programs, &schedule);
        state.settle(&programs);
        let seen = all(counters);
        let (ranks, verdict, text) = told(&state, &programs, seen, !counters);
        let mut stuck = state.stuck(&programs);
        for rank in &ranks {
            prop_assert!(stuck[*rank], "rank {rank} is not stuck\n{text}");
        }
        // Who is in MPI_Finalize, or has ended, sends nothing more; that alone is no deadlock.
        for (rank, own) in state.ranks.iter().enumerate() {
            stuck[rank] &= own.step.is_some() && programs.calls[rank][own.call] != Call::Finalize;
        }
        prop_assert_eq!(stuck.contains(&true), verdict == Verdict::Deadlock, "{:?}\n{}", stuck, text);
    }
}

/// In so many rounds of random programs there have to be enough mistakes.
const ROUNDS: usize = 10;

/// Who is told to have left out a collective never goes on, whatever others do; and these are told often enough.
#[test]
#[allow(clippy::result_large_err)]
fn who_leaves_out_a_collective_is_stuck() {
    let (blocking, started) = (Cell::new(0), Cell::new(0));
    let add = |to: &Cell<usize>| to.set(to.get() + 1);
    let round = || {
        let config = ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() };
        proptest::test_runner::TestRunner::new(config).run(
            &(programs(), any::<bool>()),
            |((programs, schedule), counters)| {
                let mut state = run(&programs, &schedule);
                state.settle(&programs);
                let seen = all(counters);
                let snapshot = snapshot(&state, &programs, seen);
                let earlier = Earlier { snapshot: &snapshot, interval_ms: Some(200), watched: &Watched::default() };
                let (findings, _) = diagnose(&snapshot, (!counters).then_some(earlier));
                let stuck = state.stuck(&programs);
                let about = |finding: &&Finding| finding.certain && finding.kind == FindingKind::MissingInCollective;
                for finding in findings.iter().filter(about) {
                    for rank in &finding.ranks {
                        let rank = usize::try_from(*rank).unwrap();
                        prop_assert!(stuck[rank], "rank {rank} goes on\n{finding:#?}");
                    }
                    let functions: Vec<_> = finding.calls.iter().map(|one| one.call.function.as_str()).collect();
                    let waits = |name: &str| matches!(name, "MPI_Waitall" | "MPI_Waitany");
                    add(if functions.iter().skip(1).any(|name| waits(name)) { &started } else { &blocking });
                }
                Ok(())
            },
        )
    };
    // How many mistakes a round has is chance (about 120 and 30): there are more until these are enough.
    let enough = || blocking.get() > 20 && started.get() > 20;
    for _ in 0..ROUNDS {
        round().unwrap();
        if enough() {
            return;
        }
    }
    panic!("only {blocking:?} and {started:?} in {ROUNDS} rounds: too few mistakes");
}

/// The definition agrees with what the machine does: who is stuck never goes on.
#[test]
#[ignore = "takes long"]
fn the_definition_holds_in_the_machine() {
    let cases = made_up::share::rounds(80, 300);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: cases as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let mut found = 0;
    let tried = Cell::new(0);
    runner
        .run(&programs(), |(programs, schedule)| {
            let mut state = run(&programs, &schedule);
            state.settle(&programs);
            let leaves = state.leaves(&programs, 3000);
            for (rank, stuck) in state.stuck(&programs).into_iter().enumerate() {
                prop_assert!(!(stuck && leaves[rank]), "rank {} goes on", rank);
                tried.set(tried.get() + usize::from(stuck));
            }
            Ok(())
        })
        .unwrap();
    found += tried.get();
    assert!(found as u64 > cases / 6, "only {found} stuck ranks: the programs have too few mistakes");
}
