//! The odd rank among many whose queues are not known; and none where nobody is apart from a crowd.

use std::collections::BTreeSet;

use analysis::diagnose::{Earlier, Watched, diagnose};
use model::{Exception, Finding, FindingKind, Frame, OddReason, Snapshot, Stage, State};

use super::made::{call, counted, of_kind, receive, twice};
use super::made_stacks::{Chance, dark_job, frame, in_mpi, library, stack, stand};

/// Where a crowd stands, and how.
struct Program {
    /// The functions before the loop, outermost first.
    outer: Vec<Frame>,
    /// The function with the loop, and the line in it.
    looping: (&'static str, i64),
    function: &'static str,
    /// Whether some stand at the next line.
    two_lines: bool,
    /// How deep a function that calls itself may go.
    recursion: usize,
}

const COLLECTIVES: &[&str] = &["MPI_Barrier", "MPI_Allreduce", "MPI_Alltoall", "MPI_Comm_dup", "MPI_Bcast"];
const MESSAGES: &[&str] = &["MPI_Recv", "MPI_Send", "MPI_Wait", "MPI_Waitall", "MPI_Sendrecv"];
const POLLS: &[&str] = &["MPI_Test", "MPI_Testall", "MPI_Iprobe"];

impl Program {
    fn new(chance: &mut Chance) -> Self {
        let depth = 1 + chance.below(6);
        let outer = (0..depth).map(|at| {
            let (name, file) =
                (["main", "run", "advance", "level", "stage", "inner"][at], ["main.c", "run.c", "b/run.c"][at % 3]);
            frame(name, file, 10 + chance.below(300) as i64)
        });
        let outer = outer.collect();
        let kind = chance.of(&[COLLECTIVES, MESSAGES, POLLS]);
        Self {
            outer,
            looping: ("exchange", 40 + chance.below(200) as i64),
            function: chance.of(kind),
            two_lines: chance.one_in(3),
            recursion: if chance.one_in(3) { 1 + chance.below(12) } else { 0 },
        }
    }

    /// The application's frames of one rank of the crowd, without the innermost one.
    fn outer(&self, chance: &mut Chance) -> Vec<Frame> {
        let mut frames = self.outer.clone();
        if self.recursion > 0 {
            let deep = chance.below(self.recursion);
            frames.extend((0..deep).map(|at| frame(["walk", "visit"][at % 2], "tree.c", 70 + (at % 2) as i64)));
            frames.push(frame("walk", "tree.c", 75));
        }
        frames
    }

    /// Lets a rank stand with the crowd.
    fn stand(&self, snapshot: &mut Snapshot, rank: usize, chance: &mut Chance) {
        let mut frames = self.outer(chance);
        let further = self.two_lines && chance.one_in(2);
        // In a loop that exchanges, the lines have different functions.
        let function = match (further, MESSAGES.contains(&self.function)) {
            (true, true) => "MPI_Sendrecv_replace",
            _ => self.function,
        };
        frames.push(frame(self.looping.0, "loop.c", self.looping.1 + i64::from(further)));
        stand(snapshot, rank, stack(&frames, in_mpi(function, chance)));
    }

    /// Lets all stand with the crowd.
    fn all(&self, size: usize, chance: &mut Chance) -> Snapshot {
        let mut snapshot = dark_job(size);
        (0..size).for_each(|rank| self.stand(&mut snapshot, rank, chance));
        snapshot
    }
}

/// Plants a rank that is not like the others; whether a second look is needed to see it.
fn plant(
    program: &Program,
    snapshot: &mut Snapshot,
    rank: usize,
    kind: usize,
    chance: &mut Chance,
) -> Option<Snapshot> {
    let mut frames = program.outer(chance);
    match kind {
        // In another function.
        0 => {
            frames.truncate(1 + chance.below(frames.len()));
            frames.push(frame("write_output", "io.c", 88));
            let function = chance.of(&["MPI_Recv", "MPI_Barrier", "MPI_File_write_all", "MPI_Finalize"]);
            stand(snapshot, rank, stack(&frames, in_mpi(function, chance)));
        }
        // At another line of the same one.
        1 => {
            let by = 3 + chance.below(30) as i64;
            frames.push(frame(program.looping.0, "loop.c", program.looping.1 + by));
            let function = chance.of(&["MPI_Recv", "MPI_Allreduce", "MPI_Ssend"]);
            stand(snapshot, rank, stack(&frames, in_mpi(function, chance)));
        }
        // It computes.
        2 => {
            frames.push(frame(program.looping.0, "loop.c", program.looping.1 - 5));
            frames.push(frame("relax", "kernel.c", 12 + chance.below(9) as i64));
            let inner = if chance.one_in(2) { vec![library("exp", "libm.so.6")] } else { Vec::new() };
            stand(snapshot, rank, stack(&frames, inner));
        }
        // It is called from another line.
        3 => {
            let at = frames.len() - 1;
            frames[at].line = frames[at].line.map(|line| line + 9);
            frames.push(frame(program.looping.0, "loop.c", program.looping.1));
            stand(snapshot, rank, stack(&frames, in_mpi(program.function, chance)));
        }
        // It is an iteration behind.
        4 => {
            let begun = 5 + chance.below(1000) as i64;
            for process in &mut snapshot.processes {
                process.communicators[0].next_sequence = Some(begun);
            }
            snapshot.processes[rank].communicators[0].next_sequence = Some(begun - 1 - chance.below(3) as i64);
        }
        // It goes on where the others stand, at their place.
        _ => {
            let mut earlier = snapshot.clone();
            for thread in &mut earlier.processes[rank].calls {
                thread.fingerprint = Some("earlier".to_owned());
                // A loop that polls is seen to go on where it is another one.
                thread.caller = Some("before".into());
            }
            return Some(earlier);
        }
    }
    None
}

fn odd(findings: &[Finding]) -> Vec<&Finding> {
    of_kind(findings, FindingKind::OddRank)
}

#[test]
fn a_planted_rank_is_named_first() {
    let (mut named, mut missed, mut kinds) = (0, Vec::new(), BTreeSet::new());
    for seed in 0..200 {
        let mut chance = Chance(seed);
        let program = Program::new(&mut chance);
        let mut snapshot = program.all(64, &mut chance);
        let rank = chance.below(64);
        let kind = chance.below(6);
        let earlier = plant(&program, &mut snapshot, rank, kind, &mut chance);
        let watched = Watched::default();
        let earlier = earlier.as_ref().map(|snapshot| Earlier { snapshot, interval_ms: Some(500), watched: &watched });
        let (findings, verdict) = diagnose(&snapshot, earlier);
        // Where it computes for sure it is told as the one that others wait for.
        let named_first = |finding: &&Finding| {
            let known = finding.kind == FindingKind::SlowRank && finding.certain;
            finding.ranks == [rank as i64] && (known || !finding.certain)
        };
        match findings.first().filter(named_first) {
            Some(first) => {
                named += 1;
                kinds.insert(first.kind);
                let headline = verdict.headline.to_lowercase();
                assert!(headline.contains(&format!("rank {rank} ")), "{seed}: {}", verdict.headline);
                assert!(verdict.state != State::Deadlock && verdict.finding == Some(0), "{seed}: {verdict:?}");
                let odd = first.kind != FindingKind::OddRank || first.evidence.len() == first.odd.len() + 1;
                assert!(odd, "{seed}: {first:?}");
            }
            None => missed.push(format!("{seed}, planted {kind} in {}: {}", program.function, verdict.headline)),
        }
    }
    println!("{named} of 200, as {kinds:?}; not {missed:#?}");
    assert!(named >= 190, "{named} of 200");
}

#[test]
fn where_all_are_alike_nobody_is_odd() {
    for seed in 0..300 {
        let mut chance = Chance(1_000_000 + seed);
        let program = Program::new(&mut chance);
        let size = [2, 3, 4, 8, 64, 257][chance.below(6)];
        let snapshot = program.all(size, &mut chance);
        // At two lines of few ranks one may be alone by chance, and is told so only where these are no loop's.
        let (findings, _) = diagnose(&snapshot, None);
        let alone = program.two_lines && size < 10 && COLLECTIVES.contains(&program.function);
        assert!(alone || odd(&findings).is_empty(), "{seed}, {size} ranks: {findings:?}");
    }
}

/// A job of so many ranks of which each stands in a function at a line, in an MPI function.
fn standing(places: &[(&str, i64, &str)]) -> Snapshot {
    let mut snapshot = dark_job(places.len());
    for (rank, (function, line, mpi)) in places.iter().enumerate() {
        let own = [frame("main", "main.c", 9), frame(function, "a.c", *line)];
        let inner = if mpi.is_empty() { Vec::new() } else { vec![library(mpi, "libmpi.so.40")] };
        stand(&mut snapshot, rank, stack(&own, inner));
    }
    snapshot
}

/// The ranks that are told, each with how many others stand at one place and the lines where it and these stand.
type Told = (Vec<i64>, u64, [Option<i64>; 2]);

fn told(places: &[(&str, i64, &str)]) -> Vec<Told> {
    let (findings, _) = diagnose(&standing(places), None);
    odd(&findings).iter().map(|finding| elsewhere(finding)).collect()
}

/// Of one that is told because it stands elsewhere, and for nothing else.
fn elsewhere(finding: &Finding) -> Told {
    match &finding.odd[..] {
        [OddReason::Elsewhere { own, others, number, .. }] => (finding.ranks.clone(), *number, [own.line, others.line]),
        other => panic!("{other:?}"),
    }
}

/// `of`, and `other` at these ranks.
fn with<'a>(
    size: usize,
    of: (&'a str, i64, &'a str),
    ranks: &[usize],
    other: (&'a str, i64, &'a str),
) -> Vec<(&'a str, i64, &'a str)> {
    (0..size).map(|rank| if ranks.contains(&rank) { other } else { of }).collect()
}

#[test]
fn without_a_crowd_nothing_is_said() {
    let (recv, send) = (("work", 10, "MPI_Recv"), ("work", 30, "MPI_Send"));
    let barrier = ("step", 50, "MPI_Barrier");
    // Half and half, pairs, each elsewhere, a crowd of two, all at work but one.
    let each: Vec<String> = (0..16).map(|rank| format!("f{rank}")).collect();
    let scattered: Vec<_> = each.iter().map(|name| (name.as_str(), 7, "MPI_Barrier")).collect();
    let pairs: Vec<_> = (0..16).map(|rank| (each[rank / 2].as_str(), 7, "MPI_Recv")).collect();
    for places in [
        with(8, recv, &[0, 1, 2, 3], send),
        with(64, barrier, &(0..32).collect::<Vec<_>>(), recv),
        with(3, barrier, &[1], recv),
        with(2, barrier, &[1], recv),
        with(8, ("compute", 5, ""), &[3], barrier),
        scattered,
        pairs,
        // A master, the ends of a row, and a root.
        with(8, recv, &[0], ("serve", 70, "MPI_Waitany")),
        with(8, recv, &[0, 7], send)
            .into_iter()
            .enumerate()
            .map(|(rank, place)| if rank == 7 { ("work", 90, "MPI_Recv") } else { place })
            .collect(),
        with(8, ("step", 50, "MPI_Reduce"), &[0], ("step", 56, "MPI_Reduce")),
        // Who polls comes out of MPI now and then.
        with(64, ("wait", 12, "MPI_Test"), &[5, 40], ("wait", 13, "")),
    ] {
        assert_eq!(told(&places), [], "{places:?}");
    }
}

#[test]
fn what_is_told_of_one() {
    let places = with(8, ("step", 50, "MPI_Wait"), &[5], ("write_output", 88, "MPI_Recv"));
    let (findings, verdict) = diagnose(&standing(&places), None);
    // The sentence, once.
    let summary = "rank 5 is not where the other 7 are: it is in MPI_Recv, called by write_output; they are in MPI_Wait, \
                   called by step";
    assert_eq!((findings[0].summary.as_str(), findings[0].certain), (summary, false));
    assert_eq!(findings[0].calls[0].rank, Some(5));
    let [OddReason::Elsewhere { own, number: 7, parted_in, .. }] = &findings[0].odd[..] else { panic!("{findings:?}") };
    assert_eq!((own.line, parted_in.as_deref()), (Some(88), Some("main")));
    assert_eq!(verdict.finding, Some(0));
    assert!(verdict.headline.starts_with("Rank 5 is not where the other 7 are: "), "{}", verdict.headline);
    // One in a handler.
    let mut snapshot = standing(&places);
    let thread = snapshot.processes[5].calls[0].thread;
    let exception = Exception { name: "KeyError".to_owned(), thread: Some(thread), ..Exception::default() };
    snapshot.processes[5].exceptions.push(exception);
    let (findings, _) = diagnose(&snapshot, None);
    assert_eq!(findings[0].summary, format!("{summary}, perhaps because it handles KeyError"));
    // Two that are apart, each by itself.
    let mut places = with(64, ("step", 50, "MPI_Wait"), &[5], ("write_output", 88, "MPI_Recv"));
    places[9] = ("relax", 3, "MPI_Ssend");
    let lines = |own| [Some(own), Some(50)];
    assert_eq!(told(&places), [(vec![5], 62, lines(88)), (vec![9], 62, lines(3))]);
    // One that computes goes before one that waits elsewhere.
    places[9] = ("relax", 3, "");
    assert_eq!(diagnose(&standing(&places), None).0[0].ranks, [9]);
    // One that has ended.
    let mut snapshot = standing(&with(4, ("step", 50, "MPI_Wait"), &[], ("", 0, "")));
    snapshot.processes[2].stage = Some(Stage::Ended);
    snapshot.processes[2].stacks.clear();
    snapshot.processes[2].calls.clear();
    let (findings, _) = diagnose(&snapshot, None);
    assert_eq!(elsewhere(odd(&findings)[0]), (vec![2], 3, [None, Some(50)]));
}

#[test]
fn a_job_that_runs_has_no_odd_rank() {
    let places = with(16, ("step", 50, "MPI_Wait"), &[5], ("write_output", 88, "MPI_Recv"));
    let (earlier, later) = (standing(&with(16, ("step", 20, "MPI_Recv"), &[], ("", 0, ""))), standing(&places));
    let (findings, _) =
        diagnose(&later, Some(Earlier { snapshot: &earlier, interval_ms: Some(500), watched: &Watched::default() }));
    assert!(odd(&findings).is_empty(), "{findings:?}");
    let (findings, _) = twice(&later);
    assert_eq!(odd(&findings).len(), 1);
}

#[test]
fn a_certain_cause_is_told_alone() {
    // Rank 3 receives from 2, which receives from 3; the others wait in a barrier.
    let mut snapshot = super::made::job(8);
    for rank in 0..8 {
        match rank {
            2 | 3 => {
                call(&mut snapshot, rank, "MPI_Recv", 10);
                receive(&mut snapshot, rank, Some(5 - rank as i64), 7);
            }
            _ => call(&mut snapshot, rank, "MPI_Barrier", 50),
        }
    }
    counted(&mut snapshot);
    let (findings, _) = twice(&snapshot);
    assert!(findings[0].certain && odd(&findings).is_empty(), "{findings:?}");
}
