//! What can be known of ch4's messages that go over a network.

use super::{GONE, ORDER_OF_SENDS, OWN};
use crate::libfabric::Provider;
use model::Capability;
use target::Reason;

/// Over UCX. `newer`: a release whose requests have a type, 4.1 or later.
pub fn ucx(newer: bool) -> Vec<Capability> {
    const BYTES: &str = "UCX keeps bytes, not datatypes";
    vec![
        Capability::exact("receives"),
        Capability::partial("receives.complete", "UCX forgets a request that is complete"),
        Capability::partial("receives.datatype", BYTES),
        Capability::partial("receives.peer", OWN),
        Capability::exact("unexpected"),
        Capability::exact("sends"),
        match newer {
            true => Capability::not_available("sends.complete", "nothing is left of a send that is done"),
            false => Capability::partial("sends.complete", GONE),
        },
        Capability::partial("sends.datatype", BYTES),
        Capability::partial("sends.order", ORDER_OF_SENDS),
        Capability::partial(
            "network",
            "where the release of UCX is not known, each operation says what is not known of it",
        ),
    ]
}

/// Over libfabric, whose provider has more of sends or less.
pub fn ofi(provider: &Provider) -> Vec<Capability> {
    const NOT_KEPT: &str = "MPICH hands it to libfabric, and what is left of a send does not name it";
    let mut all = vec![
        Capability::exact("receives"),
        Capability::partial("receives.complete", "libfabric forgets a receive that is complete"),
        Capability::partial(
            "receives.order",
            "libfabric need not keep receives from one source and from any in one list",
        ),
        Capability::partial("receives.peer", "libfabric does not keep it once a message has matched"),
        Capability::exact("unexpected"),
    ];
    if !provider.sends {
        let not_read = format!("the sends of libfabric's provider {} are not read", provider.name);
        all.push(Capability::partial("sends", format!("{not_read}: only synchronous ones are found")));
        all.push(Capability::not_available("sends.order", not_read));
        return all;
    }
    all.push(match provider.is_tried() {
        true => Capability::exact("sends"),
        false => Capability::partial("sends", "read as the published structures of libfabric's provider say"),
    });
    if provider.hands_back() {
        let handed = "of a send that its receiver's library has looked at, this one has nothing: MPICH's request \
            need not name its communicator";
        all.push(Capability::partial("sends.listed", handed));
    } else if !provider.lists_all_sends() {
        let taken = "the receiver's library takes in all that comes, and what waits in front of that is not found";
        all.push(Capability::partial("sends.listed", taken));
    }
    for fact in ["sends.buffer", "sends.datatype"] {
        all.push(Capability::partial(fact, NOT_KEPT));
    }
    all.push(Capability::partial("sends.complete", GONE));
    if !provider.keeps_until_answered() {
        let gone = "of a synchronous send that has gone libfabric has only the receive of its answer";
        all.push(Capability::partial("sends.length", gone));
    }
    all.push(Capability::partial("sends.order", ORDER_OF_SENDS));
    if !provider.keeps_destinations() {
        let told = "libfabric's provider need not keep to which process a send goes; its receiver has it";
        all.push(Capability::partial("sends.peer", told));
    }
    all
}

/// Over a network whose library is not read.
pub fn unread(reason: &Reason) -> Vec<Capability> {
    vec![
        Capability::partial("receives", reason.to_string()),
        Capability::partial("unexpected", format!("only messages of a process to itself are read: {reason}")),
        Capability::partial("sends", reason.to_string()),
    ]
}
