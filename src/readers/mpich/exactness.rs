//! What can be known of an MPICH, by its device. What the tests measure stands in docs/mpis.md.

use super::MpichProcess;
use super::active_messages::OVERWRITTEN;
use super::active_sends::NO_TAG;
use crate::layouts::Layouts;
use crate::model::Exactness;

/// What is said of handles: every kind is read, and each handle says for itself what is not known of it.
const HANDLES: &str = "each handle says which of its facts are not known, and why";

/// What can be known of a process with these layouts, fact by fact.
pub fn of(process: &MpichProcess, layouts: &Layouts) -> Vec<Exactness> {
    let device = process.library.device.as_deref().unwrap_or("an unknown device");
    let mut all = vec![
        Exactness::exact("communicators"),
        Exactness::not_available("communicators.empty_name", "MPICH has an empty name for communicators without one"),
    ];
    if device.starts_with("ch3") {
        let why = "of a receive that is under way, ch3 notes sender, tag and length when the message is complete";
        all.extend([Exactness::partial("receives", why), Exactness::exact("unexpected"), Exactness::exact("sends")]);
    } else {
        let network = device.split([':', ',']).nth(1).unwrap_or("the network").to_uppercase();
        let local = layouts.has_field("MPIR_Request", "dev.is_local");
        let within = if local {
            format!("between nodes each operation says what {network} does not tell")
        } else {
            format!("messages within a node go through {network}, too, and each operation says what it does not tell")
        };
        all.push(Exactness::partial("receives", format!("where a message has arrived, {OVERWRITTEN}; {within}")));
        all.push(Exactness::partial("unexpected", within.clone()));
        all.push(Exactness::partial("sends", within));
        if local && !process.library.debug_lists {
            all.push(Exactness::partial("sends.tag", format!("of a send within a node, {NO_TAG}")));
        }
    }
    all.push(Exactness::partial("handles", HANDLES));
    all
}
