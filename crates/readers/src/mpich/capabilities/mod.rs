//! What can be known of an MPICH, fact by fact, by its device and what its layouts have. docs/mpis.md has the same as measured,
//! all processes on one node; what differs where messages go over a network stands under `network`.

mod over_network;
mod ways;

use super::MpichProcess;
use super::active_messages::OVERWRITTEN;
use super::active_sends::NO_TAG;
use layouts::Layouts;
use model::Capability;
use target::Target;

/// What is said of handles: every kind is read, and each handle says for itself what is not known of it.
const HANDLES: &str = "each handle says which of its facts are not known, and why";

const ORDER_OF_SENDS: &str = "sends that are on no list are listed in the order of MPICH's pool of requests";
const GONE: &str = "of a send that is done nothing may be left";
const AT_ONCE: &str = "MPICH does not write it into the request of a message within a node that it sends at once";
const OWN: &str = "within a communicator of one process MPICH does not keep whether any source was asked for";

/// What can be known of a process with these layouts, fact by fact.
pub fn of(target: &dyn Target, process: &MpichProcess, layouts: &Layouts) -> Vec<Capability> {
    let device = process.library.device.as_deref().unwrap_or("an unknown device");
    let mut all = vec![
        Capability::exact("communicators"),
        Capability::not_available("communicators.empty_name", "MPICH has an empty name for communicators without one"),
    ];
    let has = |field: &str| layouts.has_field("MPIR_Request", field);
    let networks: Vec<&str> = device.split([':', ',']).skip(1).collect();
    if device.starts_with("ch3") {
        all.extend(ch3());
    } else if has("dev.is_local") {
        let near = within_a_node(layouts, process.library.debug_lists);
        all.extend(ways::of(target, process, layouts, &networks, near));
        all.extend(between_nodes(&networks));
    } else {
        all.extend(ways::over(target, process, layouts, &networks));
    }
    all.push(Capability::partial("handles", HANDLES));
    all
}

fn ch3() -> Vec<Capability> {
    let under_way = "of a receive that is under way, ch3 notes sender, tag and length when the message is complete";
    vec![
        Capability::exact("receives"),
        Capability::partial("receives.complete", format!("of a receive that is done, {OVERWRITTEN}")),
        Capability::partial("receives.matched", under_way),
        Capability::exact("unexpected"),
        Capability::exact("sends"),
        Capability::partial("sends.order", ORDER_OF_SENDS),
    ]
}

/// ch4 with shared memory (src/mpid/ch4/shm), whose messages are the library's own active messages.
fn within_a_node(layouts: &Layouts, debug_lists: bool) -> Vec<Capability> {
    let mut all = vec![Capability::exact("receives")];
    let done = format!("of a receive that is done, {OVERWRITTEN}");
    // 3.4 keeps the lists with the communicators, and what is on none names none.
    let in_communicators = layouts.has_field("MPIR_Comm", "dev.ch4.am.posted_list");
    if in_communicators {
        let nowhere = "in this release a receive that is done does not name its communicator";
        all.push(Capability::not_available("receives.complete", nowhere));
    } else {
        all.push(Capability::partial("receives.complete", done));
    }
    if layouts.has_field("MPIR_Request", "dev.ch4.self.tag") {
        all.push(Capability::partial("receives.peer", OWN));
    }
    all.push(Capability::partial("receives.matched", format!("where a message has arrived, {OVERWRITTEN}")));
    all.push(Capability::exact("unexpected"));
    if in_communicators {
        let nowhere = "in this release no send names its communicator: only that there are none can be known";
        all.push(Capability::partial("sends", nowhere));
        all.push(Capability::not_available("sends.complete", "of a send that is done not even that is known"));
        return all;
    }
    all.push(Capability::exact("sends"));
    all.push(Capability::partial("sends.complete", GONE));
    all.push(Capability::partial("sends.order", ORDER_OF_SENDS));
    for fact in ["sends.buffer", "sends.datatype", "sends.length", "sends.peer"] {
        all.push(Capability::partial(fact, AT_ONCE));
    }
    let listed = if debug_lists { "; the library's lists for debuggers have it of those that are on them" } else { "" };
    all.push(Capability::partial("sends.tag", format!("{NO_TAG}{listed}")));
    all
}

/// What a network has of messages to and from other nodes.
fn between_nodes(networks: &[&str]) -> Vec<Capability> {
    let names = networks.iter().map(|name| name.to_uppercase()).collect::<Vec<_>>().join(" or ");
    let each =
        |what: &str| format!("of {what} over {names} each operation says what the network's library does not give");
    vec![
        Capability::partial("network.receives", each("receives")),
        Capability::partial("network.unexpected", each("messages")),
        Capability::partial("network.sends", each("sends")),
    ]
}
