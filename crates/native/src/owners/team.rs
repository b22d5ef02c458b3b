//! Threads of an OpenMP team: who waits at a barrier, and who has not come to it. By the names of functions alone: compilers give
//! the code of a parallel region a name (`solve._omp_fn.0` of GCC, `solve.omp_outlined` of Clang), and it calls the library by names
//! that are exported.

use model::{Awaited, AwaitedKind, Frame, Owner, Stack};

use crate::peers::MOST_OWNERS;

/// What the name of a parallel region has behind that of its function.
const REGIONS: [&str; 3] = ["._omp_fn.", ".omp_outlined", ".omp_par"];

/// The functions by which a thread begins a region and waits for its end.
const BEGINS: [&str; 2] = ["GOMP_parallel", "__kmpc_fork_call"];

/// The functions by which it waits for all others within a region.
const BARRIERS: [&str; 4] = ["GOMP_barrier", "GOMP_barrier_cancel", "__kmpc_barrier", "__kmpc_cancel_barrier"];

/// What the names of those end with that end the work which a region shares out, and wait for the others there.
const ENDS: [&str; 2] = ["_end", "_end_cancel"];

/// Where a thread stands in a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stands<'a> {
    /// The function that has the region.
    function: &'a str,
    /// The region; `None` at its end.
    region: Option<&'a str>,
    /// Whether it waits there for the others.
    at_barrier: bool,
}

fn region_of(name: &str) -> Option<&str> {
    REGIONS.iter().find_map(|mark| Some(&name[..name.find(mark)?]))
}

fn begins(name: &str) -> bool {
    BEGINS.iter().any(|prefix| name.starts_with(prefix))
}

impl<'a> Stands<'a> {
    fn of(frames: &'a [Frame]) -> Option<Self> {
        let own = frames.iter().position(|frame| frame.application == Some(true))?;
        let called = frames[..own].iter().rev().find_map(|frame| frame.function.as_deref()).unwrap_or_default();
        let within = frames[own..].iter().filter_map(|frame| frame.function.as_deref());
        let region = within.clone().find(|name| region_of(name).is_some());
        let at_barrier = BARRIERS.contains(&called)
            || begins(called)
            || called.starts_with("GOMP_") && ENDS.iter().any(|end| called.ends_with(end));
        match region {
            Some(name) => Some(Self { function: region_of(name)?, region: Some(name), at_barrier }),
            // Who began it waits for its end in the function itself.
            None if begins(called) => Some(Self { function: within.into_iter().next()?, region: None, at_barrier }),
            None => None,
        }
    }

    /// Whether another thread works on what this one waits for.
    fn waits_for(&self, other: &Stands<'_>) -> bool {
        !other.at_barrier
            && other.function == self.function
            && other.region.is_some_and(|region| self.region.is_none_or(|own| own == region))
    }
}

/// Tells of those that wait at a barrier of OpenMP in the kernel which threads they wait for, where one team alone can be meant.
pub(crate) fn add_teams(stacks: &mut [Stack], pid: Option<i64>) {
    let stand: Vec<Option<Stands<'_>>> = stacks.iter().map(|stack| Stands::of(&stack.frames)).collect();
    let began = |stack: &&Stack| stack.frames.iter().filter_map(|frame| frame.function.as_deref()).any(begins);
    // Two teams may run the same region.
    if stand.iter().all(Option::is_none) || stacks.iter().filter(began).count() > 1 {
        return;
    }
    let owners = |waits: &Stands<'_>| -> Vec<Owner> {
        let missing = stacks.iter().zip(&stand).filter(|(_, one)| one.as_ref().is_some_and(|one| waits.waits_for(one)));
        let owner = |stack: &Stack| Owner { pid, thread: Some(stack.thread), ..Owner::default() };
        missing.map(|(stack, _)| owner(stack)).take(MOST_OWNERS).collect()
    };
    let waits = |stack: &Stack| {
        let call = stack.system_call.as_ref();
        call.is_some_and(|call| call.waits && !call.timed && call.waits_for.is_none())
    };
    let found: Vec<Vec<Owner>> = stacks
        .iter()
        .zip(&stand)
        .map(|(stack, one)| one.as_ref().filter(|one| one.at_barrier && waits(stack)).map(owners).unwrap_or_default())
        .collect();
    for (stack, owners) in stacks.iter_mut().zip(found).filter(|(_, owners)| !owners.is_empty()) {
        if let Some(call) = &mut stack.system_call {
            call.waits_for = Some(Box::new(Awaited { kind: AwaitedKind::Team, owners, ..Awaited::default() }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::add_teams;
    use model::{AwaitedKind, Frame, Stack, SystemCall};

    /// `+` before a name: of the application.
    fn stack(thread: i64, names: &[&str]) -> Stack {
        let frame = |name: &&str| Frame {
            function: Some(name.trim_start_matches('+').to_owned()).filter(|name| !name.is_empty()),
            application: Some(name.starts_with('+')),
            ..Frame::default()
        };
        let call = SystemCall { name: Some("futex".to_owned()), waits: true, ..SystemCall::default() };
        Stack { thread, frames: names.iter().map(frame).collect(), system_call: Some(call), ..Stack::default() }
    }

    /// For whom each waits.
    fn told(mut stacks: Vec<Stack>) -> Vec<Vec<i64>> {
        add_teams(&mut stacks, Some(7));
        let owners = |stack: Stack| {
            let found = stack.system_call.and_then(|call| call.waits_for);
            found.iter().for_each(|found| assert_eq!(found.kind, AwaitedKind::Team));
            found.into_iter().flat_map(|found| found.owners).filter_map(|owner| owner.thread).collect()
        };
        stacks.into_iter().map(owners).collect()
    }

    const AT_BARRIER: [&str; 3] = ["", "GOMP_barrier", "+solve._omp_fn.0"];

    #[test]
    fn who_is_not_at_the_barrier_is_waited_for() {
        let main = stack(1, &["", "GOMP_barrier", "+solve._omp_fn.0", "GOMP_parallel", "+solve", "+main"]);
        let of_others = [stack(2, &AT_BARRIER), stack(3, &["MPI_Recv", "+solve._omp_fn.0", "", "start_thread"])];
        let mut all = vec![main.clone()];
        all.extend(of_others.clone());
        assert_eq!(told(all), [vec![3], vec![3], vec![]]);
        // At the end of the region, and of work that is shared out.
        let main = stack(1, &["", "GOMP_parallel", "+solve", "+main"]);
        let mut all = vec![main, stack(2, &["", "GOMP_loop_end", "+solve._omp_fn.0"])];
        all.extend(of_others);
        assert_eq!(told(all), [vec![4 - 1], vec![3], vec![3], vec![]]);
        let clang = stack(1, &["futex", "__kmpc_barrier", "+solve.omp_outlined", "__kmpc_fork_call", "+solve"]);
        assert_eq!(told(vec![clang, stack(2, &["+work", "+solve.omp_outlined"])]), [vec![2], vec![]]);
    }

    #[test]
    fn nobody_is_named_where_it_is_not_known() {
        let main = stack(1, &["", "GOMP_parallel", "+solve", "+main"]);
        // Another region, and one in which all have come.
        assert_eq!(told(vec![main.clone(), stack(2, &["+work", "+other._omp_fn.0"])]), [vec![], vec![0; 0]]);
        assert_eq!(told(vec![main.clone(), stack(2, &AT_BARRIER)]), [vec![], vec![0; 0]]);
        // A critical section is no barrier.
        let critical = stack(1, &["", "GOMP_critical_start", "+solve._omp_fn.0"]);
        let works = stack(2, &["+work", "+solve._omp_fn.0"]);
        assert_eq!(told(vec![critical, works.clone()]), [vec![], vec![0; 0]]);
        // Two teams.
        assert_eq!(
            told(vec![main.clone(), works, stack(3, &["", "GOMP_parallel", "+solve"])]),
            [vec![], vec![], vec![0; 0]]
        );
        assert_eq!(told(vec![main, Stack::default()]), [vec![], vec![0; 0]]);
    }
}
