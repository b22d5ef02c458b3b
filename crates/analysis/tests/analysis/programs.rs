//! Random programs of a few ranks: such that belong together, and then something is dropped, moved or changed.

use proptest::prelude::*;

use super::machine::{Aside, COMMS, Call, Programs};

/// Something that several ranks do together.
#[derive(Debug, Clone)]
enum Event {
    Message {
        from: usize,
        to: usize,
        comm: usize,
        tag: i64,
        sync: bool,
        isend: bool,
        irecv: bool,
        any: (bool, bool),
        probe: bool,
    },
    Collective {
        comm: usize,
        kind: u8,
        root: usize,
        /// Whether each rank waits for a non-blocking one at once.
        waits: bool,
    },
    /// A rank waits for all or any of its requests.
    Wait { rank: usize, any: bool },
}

#[derive(Debug, Clone)]
enum Mistake {
    Drop { rank: usize, at: usize },
    Swap { rank: usize, at: usize },
    Tag { rank: usize, at: usize },
    Other { rank: usize, at: usize, call: Call },
}

fn event(size: usize) -> impl Strategy<Value = Event> {
    let flags = (any::<bool>(), prop::bool::weighted(0.3), prop::bool::weighted(0.3), prop::bool::weighted(0.15));
    let message = (0..size, 1..size, 0..COMMS, 0..2_i64, flags, (prop::bool::weighted(0.3), prop::bool::weighted(0.3)))
        .prop_map(move |(from, by, comm, tag, (sync, isend, irecv, probe), any)| Event::Message {
            from,
            to: (from + by) % size,
            comm,
            tag,
            sync,
            isend,
            irecv,
            any,
            probe,
        });
    prop_oneof![
        5 => message,
        // Most often on the communicator of those that take part.
        3 => (prop_oneof![1 => 0..COMMS, 2 => COMMS - 1..COMMS], 0..5_u8, 0..size, any::<bool>())
            .prop_map(|(comm, kind, root, waits)| Event::Collective { comm, kind, root, waits }),
        2 => (0..size, any::<bool>()).prop_map(|(rank, any)| Event::Wait { rank, any }),
    ]
}

fn mistake(size: usize) -> impl Strategy<Value = Mistake> {
    let own = || (0..size, 0..6_usize);
    let call = (0..size, 0..COMMS, 0..2_i64, 0..4_u8).prop_map(move |(peer, comm, tag, kind)| match kind {
        0 => Call::Send { comm, to: peer, tag, sync: true },
        1 => Call::Recv { comm, from: Some(peer), tag: Some(tag) },
        2 => Call::Recv { comm, from: None, tag: None },
        _ => Call::Barrier { comm },
    });
    prop_oneof![
        own().prop_map(|(rank, at)| Mistake::Drop { rank, at }),
        own().prop_map(|(rank, at)| Mistake::Swap { rank, at }),
        own().prop_map(|(rank, at)| Mistake::Tag { rank, at }),
        (own(), call).prop_map(|((rank, at), call)| Mistake::Other { rank, at, call }),
    ]
}

/// Who takes part, of ranks in one communicator with some that stand aside.
#[derive(Debug, Clone)]
struct Cast {
    /// By rank: whether it takes part.
    parts: Vec<bool>,
    asides: Vec<Aside>,
    /// By rank: whether it ends in MPI_Finalize.
    ends: Vec<bool>,
}

/// `size` ranks take part; events name them by their places among these.
fn written(size: usize, events: Vec<Event>, mistakes: Vec<Mistake>, cast: Cast) -> Programs {
    let part: Vec<usize> = (0..cast.parts.len()).filter(|rank| cast.parts[*rank]).collect();
    let everybody: Vec<usize> = (0..cast.parts.len()).collect();
    let mut calls: Vec<Vec<Call>> = vec![Vec::new(); size];
    let mut requests = vec![0_usize; size];
    for event in events {
        match event {
            Event::Message { from, to, comm, tag, sync, isend, irecv, any, probe } => {
                requests[from] += usize::from(isend);
                requests[to] += usize::from(irecv);
                calls[from].push(match isend {
                    true => Call::Isend { comm, to, tag, sync },
                    false => Call::Send { comm, to, tag, sync },
                });
                let (source, tag) = ((!any.0).then_some(from), (!any.1).then_some(tag));
                if probe {
                    calls[to].push(Call::Probe { comm, from: source, tag });
                }
                calls[to].push(match irecv {
                    true => Call::Irecv { comm, from: source, tag },
                    false => Call::Recv { comm, from: source, tag },
                });
            }
            Event::Collective { comm, kind, root, waits } => {
                for (program, requests) in calls.iter_mut().zip(&mut requests) {
                    *requests += usize::from(kind > 2);
                    program.push(match kind {
                        0 => Call::Barrier { comm },
                        1 => Call::Bcast { comm, root },
                        2 => Call::Reduce { comm, root },
                        _ => Call::Ialltoall { comm },
                    });
                    if kind > 2 && waits {
                        program.push(Call::Wait { any: false, requests: vec![*requests - 1] });
                    }
                }
            }
            Event::Wait { rank, any } => {
                calls[rank].push(Call::Wait { any, requests: (0..requests[rank]).collect() });
            }
        }
    }
    for mistake in mistakes {
        let (Mistake::Drop { rank, at }
        | Mistake::Swap { rank, at }
        | Mistake::Tag { rank, at }
        | Mistake::Other { rank, at, .. }) = mistake;
        let program = &mut calls[rank];
        if program.is_empty() {
            continue;
        }
        let at = at % program.len();
        match mistake {
            Mistake::Drop { .. } => _ = program.remove(at),
            Mistake::Swap { .. } => program.swap(at, 0),
            Mistake::Tag { .. } => match &mut program[at] {
                Call::Send { tag, .. } | Call::Isend { tag, .. } => *tag = 7,
                Call::Recv { tag, .. } | Call::Irecv { tag, .. } | Call::Probe { tag, .. } => *tag = Some(8),
                _ => {}
            },
            Mistake::Other { ref call, .. } => program.insert(at, call.clone()),
        }
    }
    let mut programs = Programs {
        calls: vec![Vec::new(); everybody.len()],
        asides: cast.asides,
        members: [everybody.clone(), everybody, part.clone()],
    };
    for (rank, calls) in part.iter().zip(calls) {
        programs.calls[*rank] = calls.into_iter().map(|call| placed(call, &part)).collect();
        if cast.ends[*rank] {
            programs.calls[*rank].push(Call::Finalize);
        }
    }
    programs
}

/// A call of ranks that are named by their places among those that take part.
fn placed(call: Call, part: &[usize]) -> Call {
    let any = |from: Option<usize>| from.map(|from| part[from]);
    match call {
        Call::Send { comm, to, tag, sync } => Call::Send { comm, to: part[to], tag, sync },
        Call::Isend { comm, to, tag, sync } => Call::Isend { comm, to: part[to], tag, sync },
        Call::Recv { comm, from, tag } => Call::Recv { comm, from: any(from), tag },
        Call::Irecv { comm, from, tag } => Call::Irecv { comm, from: any(from), tag },
        Call::Probe { comm, from, tag } => Call::Probe { comm, from: any(from), tag },
        Call::Bcast { comm, root } => Call::Bcast { comm, root: part[root] },
        Call::Reduce { comm, root } => Call::Reduce { comm, root: part[root] },
        other => other,
    }
}

fn aside() -> impl Strategy<Value = Aside> {
    use Aside::{Computing, Ended, Locked, Polling, Sleeping, Stopped};
    prop::sample::select(vec![Computing, Sleeping, Polling, Stopped, Locked, Ended])
}

/// Of so many that take part, with up to two more ranks.
fn cast(size: usize) -> impl Strategy<Value = Cast> {
    let more = prop_oneof![3 => Just(0), 2 => Just(1), 1 => Just(2_usize)];
    more.prop_flat_map(move |more| {
        let all = size + more;
        let parts: Vec<bool> = (0..all).map(|at| at < size).collect();
        let (asides, ends) = (prop::collection::vec(aside(), all), prop::collection::vec(any::<bool>(), all));
        (Just(parts).prop_shuffle(), asides, ends).prop_map(|(parts, asides, ends)| Cast { parts, asides, ends })
    })
}

/// Programs, and the numbers by which it is chosen what happens next.
pub fn programs() -> impl Strategy<Value = (Programs, Vec<u8>)> {
    (2..5_usize).prop_flat_map(|size| {
        let events = prop::collection::vec(event(size), 1..6);
        let mistakes = prop::collection::vec(mistake(size), 0..3);
        let schedule =
            prop_oneof![prop::collection::vec(any::<u8>(), 0..20), prop::collection::vec(any::<u8>(), 60..61),];
        (events, mistakes, cast(size), schedule)
            .prop_map(move |(events, mistakes, cast, schedule)| (written(size, events, mistakes, cast), schedule))
    })
}
