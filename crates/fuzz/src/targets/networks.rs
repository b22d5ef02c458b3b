//! UCX's workers and the endpoints of libfabric's providers, made up by each layout that is carried, and changed.

use readers::libfabric::tests::damage;
use readers::record::Record;
use readers::ucx::tests::{ABI, REQUEST, WORKER, process};
use readers::ucx::{Native, UcxLayout, Workers};
use target::Target;
use target::address::TargetAddr;
use target::mock::MockTarget;

use crate::changed::{self, Changed, Kept, looked_at};

struct Made<T> {
    target: MockTarget,
    looked_at: Vec<(u64, usize)>,
    /// How it is read.
    by: T,
}

pub fn ucx(data: &[u8]) {
    thread_local!(static ALL: Kept<usize, Made<Workers>> = const { Kept::new() });
    let Some((first, rest)) = data.split_first() else { return };
    let mut layouts = UcxLayout::shipped(ABI);
    let which = usize::from(*first) % layouts.len();
    let make = || {
        let by = Workers { at: vec![TargetAddr::new(WORKER)], layout: layouts.swap_remove(which) };
        let target = process(&by.layout).target();
        let looked_at = looked_at(&target, |whole| {
            look_at_workers(&whole, &by);
        });
        Made { target, looked_at, by }
    };
    let made = ALL.with(|all| all.of(which, make));
    let target = Changed::new(&made.target, &made.looked_at, rest);
    look_at_workers(&target, &made.by);
    assert!(target.reads() < 1 << 20, "{} reads", target.reads());
}

fn look_at_workers(target: &dyn Target, workers: &Workers) {
    let worker = workers.at[0];
    let (messages, _) = workers.arrived(target, worker);
    assert!(messages.len() < 1 << 17);
    let _ = workers.waiting(target);
    let mut buffer = Vec::new();
    if let Ok(record) = Record::read(target, TargetAddr::new(REQUEST), workers.layout.request.size, &mut buffer) {
        let _ = (Native::of(&workers.layout, &record, true), Native::of(&workers.layout, &record, false));
    }
}

pub fn libfabric(data: &[u8]) {
    thread_local!(static ALL: Kept<(usize, usize), Option<Made<TargetAddr>>> = const { Kept::new() });
    let [first, second, rest @ ..] = data else { return };
    let (layouts, providers) = damage::count();
    let (layout, provider) = (usize::from(*first) % layouts, usize::from(*second) % providers);
    let make = || {
        let (target, by) = damage::made(layout, provider)?;
        let looked_at = looked_at(&target, |whole| {
            damage::look(&whole, by);
        });
        Some(Made { target, looked_at, by })
    };
    let made = ALL.with(|all| all.of((layout, provider), make));
    let Some(made) = &*made else { return };
    let target = Changed::new(&made.target, &made.looked_at, rest);
    damage::look(&target, made.by);
    assert!(target.reads() < 1 << 20, "{} reads", target.reads());
}

pub fn ucx_seeds() -> Vec<Vec<u8>> {
    changed::seeds((0..UcxLayout::shipped(ABI).len() as u8).map(|which| vec![which]))
}

/// Each provider by each layout that has it.
pub fn libfabric_seeds() -> Vec<Vec<u8>> {
    let (layouts, providers) = damage::count();
    let all = (0..layouts).flat_map(|layout| (0..providers).map(move |provider| (layout, provider)));
    let all = all.filter(|(layout, provider)| damage::made(*layout, *provider).is_some());
    changed::seeds(all.map(|(layout, provider)| vec![layout as u8, provider as u8]))
}
