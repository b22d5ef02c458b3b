//! Whether what members have planned for a non-blocking collective fits together (`model::Schedule`).
//!
//! A plan names the functions that make it, and the messages of its process. Where no function makes the plans of two members, they
//! started different ones. Where one plans a message that the other does not, their calls do not fit, whatever they were.

use hashbrown::HashMap;

use super::Context;
use crate::job::{ProcIndex, Shared};
use crate::words;
use model::{PlannedMessages, Schedule};

/// Members that have started the same collective, with their plans.
pub type Plans<'a> = Vec<(ProcIndex, &'a Schedule)>;

/// What does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// There is no function that all of them may have started.
    Functions,
    /// They may have started one function only, but with different roots: by these members.
    Roots {
        /// The function; `None`: one of several, all with different roots.
        function: Option<String>,
        /// The members by their root.
        by_root: Vec<(i64, Vec<ProcIndex>)>,
    },
    /// One has planned messages that another has not.
    Messages(Exchange),
    /// They have planned the same messages, but of different sizes.
    Sizes(Exchange),
}

/// What one sends and the other receives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Who sends.
    pub from: ProcIndex,
    /// To whom.
    pub to: ProcIndex,
    /// What the first has planned to send.
    pub sent: PlannedMessages,
    /// What the second has planned to receive.
    pub received: PlannedMessages,
}

impl Exchange {
    /// In a sentence.
    pub fn words(&self, context: &Context<'_>) -> String {
        let (from, to) = (words::proc(context.job, self.from), words::proc(context.job, self.to));
        if self.sent.messages == self.received.messages {
            let bytes = |planned: &PlannedMessages| words::counted(planned.bytes.unwrap_or_default() as usize, "byte");
            return format!(
                "For it {from} sends {} to {to}, which expects {}.",
                bytes(&self.sent),
                bytes(&self.received)
            );
        }
        let number = |planned: &PlannedMessages| match planned.messages {
            0 => "none".to_owned(),
            other => other.to_string(),
        };
        let (sent, received) = (words::counted(self.sent.messages as usize, "message"), number(&self.received));
        if self.sent.messages == 0 {
            let received = words::counted(self.received.messages as usize, "message");
            return format!("For it {to} expects {received} from {from}, which sends none.");
        }
        format!("For it {from} sends {sent} to {to}, which expects {received}.")
    }
}

/// The functions that all of them may have started; `None` where nothing is known of them.
pub fn common<'a>(plans: &Plans<'a>) -> Option<Vec<&'a str>> {
    let mut known = plans.iter().map(|(_, plan)| *plan).filter(|plan| !plan.functions.is_empty());
    let first = known.next()?;
    let mut functions: Vec<&str> = first.functions.iter().map(|one| one.function.as_str()).collect();
    for plan in known {
        functions.retain(|function| plan.of(function).is_some());
    }
    Some(functions)
}

/// What does not fit; `only`: the function that they started for certain, where that is known otherwise.
pub fn misfit(shared: &Shared<'_>, plans: &Plans<'_>, only: Option<&str>) -> Option<Misfit> {
    let mut functions = common(plans);
    if functions.as_ref().is_some_and(Vec::is_empty) {
        return Some(Misfit::Functions);
    }
    if let (Some(functions), Some(only)) = (&mut functions, only) {
        functions.retain(|function| *function == only);
    }
    let exchange = exchanges(shared, plans);
    let roots = functions.filter(|functions| !functions.is_empty()).and_then(|functions| roots(plans, &functions));
    let numbers = exchange.iter().find(|one| one.sent.messages != one.received.messages);
    roots.or_else(|| numbers.cloned().map(Misfit::Messages)).or_else(|| exchange.into_iter().next().map(Misfit::Sizes))
}

/// The roots of the members, where no root is possible for all of them whichever of the functions it is.
fn roots(plans: &Plans<'_>, functions: &[&str]) -> Option<Misfit> {
    for function in functions {
        let mut known = plans.iter().filter_map(|(_, plan)| plan.of(function)?.roots.as_deref());
        let mut possible = known.next()?.to_vec();
        for roots in known {
            possible.retain(|root| roots.contains(root));
        }
        if !possible.is_empty() {
            return None;
        }
    }
    let mut by_root: Vec<(i64, Vec<ProcIndex>)> = Vec::new();
    let first = functions.first()?;
    for (proc, plan) in plans {
        let Some([root]) = plan.of(first).and_then(|one| one.roots.as_deref()) else { continue };
        match by_root.iter_mut().find(|(other, _)| other == root) {
            Some((_, procs)) => procs.push(*proc),
            None => by_root.push((*root, vec![*proc])),
        }
    }
    by_root.sort();
    let function = if let [only] = functions { Some((*only).to_owned()) } else { None };
    Some(Misfit::Roots { function, by_root })
}

/// All that one sends and the other does not receive as it is sent.
fn exchanges(shared: &Shared<'_>, plans: &Plans<'_>) -> Vec<Exchange> {
    let by_proc: HashMap<ProcIndex, &Schedule> = plans.iter().copied().collect();
    let mut exchanges = Vec::new();
    for (proc, plan) in plans {
        let Some(view) = shared.view(*proc) else { continue };
        let others = shared.peers(view.side);
        let mut look = |mine: &Option<Vec<PlannedMessages>>, sends: bool| {
            for one in mine.iter().flatten() {
                let Some(peer) = shared.member(others, one.peer) else { continue };
                let theirs = by_proc
                    .get(&peer)
                    .and_then(|plan| if sends { plan.receives.as_ref() } else { plan.sends.as_ref() });
                let (Some(theirs), Some(rank)) = (theirs, rank_of(shared, *proc)) else { continue };
                let none = PlannedMessages { peer: rank, messages: 0, bytes: Some(0) };
                let other = theirs.iter().find(|other| other.peer == rank).unwrap_or(&none).clone();
                let sizes = one.bytes.zip(other.bytes).is_some_and(|(one, other)| one != other);
                if one.messages != other.messages || (sends && sizes) {
                    exchanges.push(if sends {
                        Exchange { from: *proc, to: peer, sent: one.clone(), received: other }
                    } else {
                        Exchange { from: peer, to: *proc, sent: other, received: one.clone() }
                    });
                }
            }
        };
        look(&plan.sends, true);
        look(&plan.receives, false);
    }
    exchanges
}

/// The rank of a process in its group of the communicator.
fn rank_of(shared: &Shared<'_>, proc: ProcIndex) -> Option<i64> {
    let view = shared.view(proc)?;
    let rank = view.communicator.local_rank?;
    // Else it is another one that is meant.
    (shared.member(view.side, rank) == Some(proc)).then_some(rank)
}
