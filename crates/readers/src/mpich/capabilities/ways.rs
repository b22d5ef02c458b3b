//! Which ways the messages of a process with ch4 can take, and what can be known where they take several.

use super::over_network::{ofi, ucx, unread};
use crate::mpich::MpichProcess;
use crate::mpich::communicators::{self, Communicators};
use crate::mpich::ofi::provider;
use crate::mpich::shapes::Shapes;
use layouts::Layouts;
use model::{Capability, Level};
use target::Target;

/// The communicators; `None` where they cannot be read.
fn communicators(target: &dyn Target, process: &MpichProcess, layouts: &Layouts) -> Option<Communicators> {
    let shapes = Shapes::resolve(layouts).ok()?;
    communicators::read_all(target, layouts, &shapes, &process.pools, process.abi).ok()
}

/// Of a library with shared memory of its own: `near` is what can be known of messages within the node.
pub fn of(
    target: &dyn Target,
    process: &MpichProcess,
    layouts: &Layouts,
    networks: &[&str],
    near: Vec<Capability>,
) -> Vec<Capability> {
    let Some(known) = communicators(target, process, layouts) else { return near };
    if known.one_node() {
        return near;
    }
    let far = over(target, process, layouts, networks);
    if known.alone_on_node() { far } else { weaker(near, &far) }
}

/// What can be known of messages over the network that MPI_Init has started.
pub fn over(target: &dyn Target, process: &MpichProcess, layouts: &Layouts, networks: &[&str]) -> Vec<Capability> {
    let provider = || provider(target, layouts, &process.pools.ranges);
    match networks.contains(&"ofi").then(provider).flatten() {
        Some(Ok(provider)) => ofi(&provider),
        Some(Err(reason)) => unread(&reason),
        None if networks.contains(&"ucx") => ucx(layouts.has_field("MPIR_Request", "dev.type")),
        None => unread(&"MPICH hands it to the network's library, which is not read".into()),
    }
}

/// Where messages take both ways, each fact is known as far as it is on either.
fn weaker(mut one: Vec<Capability>, other: &[Capability]) -> Vec<Capability> {
    let named: Vec<&'static str> = other.iter().map(|each| each.fact).collect();
    for fact in named {
        if !one.iter().any(|each| each.fact == fact)
            && let Some(whole) = told(&one, fact)
        {
            one.push(Capability { fact, ..whole.clone() });
        }
    }
    for each in &mut one {
        let Some(far) = told(other, each.fact) else { continue };
        if far.level != each.level {
            each.reason = each.reason.take().or_else(|| far.reason.clone());
            each.level = Level::Partial;
        }
    }
    one
}

/// What is told of a fact: a part's own, else that of the whole.
fn told<'a>(all: &'a [Capability], fact: &str) -> Option<&'a Capability> {
    let of = |name: &str| all.iter().find(|each| each.fact == name);
    of(fact).or_else(|| of(fact.split('.').next()?))
}

#[cfg(test)]
mod tests {
    use super::{told, weaker};
    use model::{Capability, Level};

    #[test]
    fn a_fact_is_exact_where_it_is_on_both_ways() {
        let near = vec![Capability::exact("receives"), Capability::partial("sends", "near")];
        let far = [
            Capability::exact("receives"),
            Capability::partial("receives.order", "far"),
            Capability::exact("sends"),
            Capability::not_available("sends.order", "far"),
            Capability::partial("network", "far"),
        ];
        let both = weaker(near, &far);
        let level = |fact| told(&both, fact).map(|each| (each.level, each.reason.as_deref()));
        assert_eq!(level("receives.tag"), Some((Level::Exact, None)));
        assert_eq!(level("receives.order"), Some((Level::Partial, Some("far"))));
        assert_eq!(level("sends.tag"), Some((Level::Partial, Some("near"))));
        assert_eq!(level("sends.order"), Some((Level::Partial, Some("near"))));
    }
}
