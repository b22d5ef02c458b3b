//! What can be known of an Open MPI: that depends on what moves its messages.

use crate::detection::QUEUES;
use layouts::Layouts;
use model::Capability;
use readers::libfabric::Provider;
use readers::openmpi::pml::Pml;

/// What can be known, fact by fact. `provider`: libfabric's, where that is known.
pub(super) fn of(pml: &Pml, provider: Option<&Provider>, layouts: &Layouts, version: Option<&str>) -> Vec<Capability> {
    let mut all = vec![Capability::exact("communicators")];
    match pml {
        Pml::Ob1 => {
            all.extend(QUEUES.map(Capability::exact));
            all.push(Capability::exact("handles"));
            return all;
        }
        Pml::Ucx if layouts.has_field("mca_pml_ucx_module_t", "ucp_worker") => {
            all.extend(ucx(version.is_some_and(|version| version.starts_with("4."))));
            return all;
        }
        Pml::Cm if layouts.has_field("ompi_mtl_ofi_request_t", "match_bits") => {
            all.extend(cm(provider));
            return all;
        }
        Pml::Ucx | Pml::Cm | Pml::Other(_) => all.extend(QUEUES.map(|fact| {
            let reason = format!("{pml} leaves matching to the network; start the job with --mca pml ob1 to see it");
            Capability::not_available(fact, reason)
        })),
        Pml::NotSelected => {
            all.extend(QUEUES.map(|fact| Capability::not_available(fact, "no pml is selected yet")));
        }
    }
    let handles = "what requests of point-to-point messages say is known of the pmls ob1, ucx and cm only";
    all.push(Capability::partial("handles", handles));
    all
}

/// Over the pml ucx, whose messages UCX matches. `connects_anew`: of a release that connects to processes again when an
/// intercommunicator is made, and forgets the connections before (`mca_pml_ucx_add_proc_common`, v4.1.4 and v5.0.10).
fn ucx(connects_anew: bool) -> Vec<Capability> {
    const BYTES: &str = "UCX keeps bytes, not datatypes, of data that lies in one piece; persistent requests have them";
    vec![
        Capability::exact("receives"),
        Capability::partial("receives.complete", "of a receive that was complete at once UCX keeps only the message"),
        Capability::partial("receives.datatype", BYTES),
        Capability::not_available("receives.probes", "a blocking probe asks UCX again and again, and waits in no list"),
        Capability::exact("unexpected"),
        Capability::exact("sends"),
        Capability::partial("sends.complete", "of a send that was complete at once nothing is kept"),
        Capability::partial("sends.datatype", BYTES),
        Capability::partial("sends.mode", "ready sends are standard sends to UCX, but for persistent ones"),
        if connects_anew {
            Capability::partial(
                "sends.peer",
                "of a send that was posted before an intercommunicator was made the connection may be no process's \
                 any more",
            )
        } else {
            Capability::exact("sends.peer")
        },
        Capability::partial(
            "sends.order",
            "sends are listed as they lie in UCX's pool of requests, blocking standard ones last",
        ),
        Capability::not_available("traffic", "UCX does not count messages by sender"),
        Capability::exact("handles"),
    ]
}

/// Over the pml cm, with the mtl ofi: messages are matched by libfabric, whose provider keeps more of sends or less.
fn cm(provider: Option<&Provider>) -> Vec<Capability> {
    const FABRIC: &str =
        "of libfabric's providers tcp, ofi_rxm, shm, sm2, sockets and ofi_rxd, where its release is known";
    const DONE: &str = "of a receive that is done it is not kept whether any source or any tag would have done";
    let keeps = provider.is_some_and(Provider::keeps_destinations);
    vec![
        Capability::exact("receives"),
        Capability::partial("receives.complete", DONE),
        // A thread of this provider completes them while the application does not look.
        if provider.is_some_and(Provider::has_own_thread) {
            Capability::partial("receives.peer", DONE)
        } else {
            Capability::exact("receives.peer")
        },
        Capability::partial("receives.network", FABRIC),
        Capability::not_available(
            "receives.probes",
            "a blocking probe asks libfabric again and again, and waits in no list",
        ),
        Capability::exact("unexpected"),
        Capability::partial("unexpected.network", FABRIC),
        Capability::exact("sends"),
        Capability::partial("sends.complete", "destination and tag are kept of persistent and buffered sends alone"),
        Capability::partial(
            "sends.blocking",
            "datatype and count are not kept, nor the buffer where the message has gone",
        ),
        Capability::partial("sends.datatype", "blocking sends do not keep it"),
        Capability::partial("sends.network", FABRIC),
        match provider.filter(|provider| provider.sends) {
            Some(provider) if provider.hands_back() => Capability::partial(
                "sends.tag",
                "of a send that its receiver's library has looked at, this one has nothing; its receiver has it",
            ),
            Some(_) => Capability::exact("sends.tag"),
            None => Capability::partial(
                "sends.tag",
                format!("read {FABRIC}; else of synchronous, persistent and buffered sends"),
            ),
        },
        Capability::partial(
            "sends.order",
            "no list has those that wait for an answer, and the provider need not keep an order",
        ),
        if keeps {
            Capability::exact("sends.peer")
        } else {
            Capability::partial(
                "sends.peer",
                "libfabric's provider need not keep to which process a standard send goes; its receiver has it",
            )
        },
        Capability::not_available("traffic", "libfabric does not count messages by sender"),
        Capability::partial(
            "handles",
            "of standard sends destination and tag are not kept, and of no message how much of it has moved",
        ),
    ]
}
