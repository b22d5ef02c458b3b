//! The operations that the pass over the requests found, before they are sorted into queues.

use std::collections::{BTreeMap, HashMap};

use super::debug_lists::DebugLists;
use super::decoder::{Decoder, Outcome, Row};
use super::lists::List;
use super::persistent::Persistent;
use super::transport::Around;
use model::{Operation, OperationStatus, QueueKind};
use target::address::TargetAddr;

/// How many requests no transport knows, by queue and, where they name it, communicator.
pub(super) type Unknown = HashMap<(QueueKind, Option<usize>), u64>;

/// What the pass found.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    persistent: Vec<Persistent>,
    /// Persistent requests that are not started, by the place of their communicator.
    pub(super) inactive: Vec<(usize, Operation)>,
    /// Messages for communicators that do not exist, by context.
    pub(super) unplaced: BTreeMap<u64, u64>,
    /// Requests on communicators that have been freed, by context.
    pub(super) abandoned: BTreeMap<u64, u64>,
    /// Requests that no transport knows.
    pub(super) unknown: Unknown,
    /// Requests that were left out because they are on no list, where no list of unexpected messages was found.
    pub(super) perhaps_messages: usize,
    /// Sends of a release in which none says of what communicator it is.
    pub(super) forgetful_sends: u64,
}

impl Rows {
    pub(super) fn take(&mut self, decoded: Outcome) {
        match decoded {
            Outcome::Rows(rows) => self.rows.extend(rows),
            Outcome::Persistent(persistent) => self.persistent.push(persistent),
            Outcome::Unplaced(context) => *self.unplaced.entry(context).or_default() += 1,
            Outcome::Abandoned(context) => *self.abandoned.entry(context).or_default() += 1,
            Outcome::Unknown(queue, comm) => *self.unknown.entry((queue, comm)).or_default() += 1,
            Outcome::Inactive(comm, operation) => self.inactive.push((comm, *operation)),
            Outcome::Nothing => {}
        }
    }

    /// Tells the operations that persistent requests have started.
    pub(super) fn persistent(&mut self, decoder: &Decoder) {
        let started: HashMap<TargetAddr, &Persistent> =
            self.persistent.iter().map(|persistent| (persistent.started, persistent)).collect();
        for row in &mut self.rows {
            // What has arrived from this process itself is the request of its send, and a message as any other.
            let persistent = started.get(&row.at).filter(|_| row.decoded.queue != QueueKind::UnexpectedMessages);
            if let Some(persistent) = persistent {
                row.persistent = Some(persistent.at);
                decoder.started(persistent, &mut row.decoded.operation);
            }
        }
    }

    /// Sorts by the lists; returns how many receives wait on none of them.
    pub(super) fn order(&mut self, lists: Vec<List>, decoder: &Decoder, around: &Around<'_>) -> u64 {
        // By their addresses: where they are, and their order in a list.
        let mut places: HashMap<TargetAddr, (usize, Option<u64>)> =
            self.rows.iter().enumerate().map(|(index, row)| (row.at, (index, None))).collect();
        for (number, list) in (0..).zip(lists) {
            // A list of one sort of requests is what it looks like.
            let mut queue = None;
            let same = list.requests.iter().all(|at| {
                places.get(at).and_then(|(index, _)| self.rows.get(*index)).is_some_and(|row| {
                    *queue.get_or_insert(row.decoded.queue) == row.decoded.queue
                        && row.decoded.operation.status != OperationStatus::Complete
                })
            });
            if !same {
                continue;
            }
            for (place, at) in (0_u64..).zip(list.requests) {
                if let Some((_, order)) = places.get_mut(&at) {
                    *order = Some((number << 32) + place);
                }
            }
        }
        // A message within one process is a send and an unexpected message.
        for row in &mut self.rows {
            if let Some((_, Some(order))) = places.get(&row.at) {
                (row.listed, row.decoded.order) = (true, *order);
            }
        }
        let before = self.rows.len();
        self.rows.retain(|row| row.listed || !row.doubtful);
        let is_listed = |row: &Row| row.listed && row.decoded.queue == QueueKind::UnexpectedMessages;
        if !self.rows.iter().any(is_listed) {
            self.perhaps_messages = before - self.rows.len();
        }
        let mut unordered = 0;
        for row in &mut self.rows {
            let operation = &mut row.decoded.operation;
            if row.listed {
                let evidence = operation.evidence.take().unwrap_or_default();
                let which = if row.decoded.queue == QueueKind::UnexpectedMessages {
                    "unexpected messages"
                } else {
                    "posted operations"
                };
                operation.evidence = Some(
                    format!("{evidence}; on its list of {which}, found by scanning the library's variables").into(),
                );
            } else if row.links.is_some() && !row.own && operation.status == OperationStatus::Pending {
                unordered += u64::from(!decoder.is_matched(row.more, row.decoded.queue, operation, around));
            }
        }
        unordered
    }

    /// Whether the network has receives whose place among those of their communicator is not known.
    pub(super) fn networks_order_is_lost(&self) -> bool {
        let mut orders: HashMap<usize, Order> = HashMap::new();
        let waits = |row: &&Row| {
            row.decoded.queue == QueueKind::PendingReceives && row.decoded.operation.status == OperationStatus::Pending
        };
        for row in self.rows.iter().filter(waits) {
            let order = orders.entry(row.decoded.comm).or_default();
            // Only those of the network have no neighbours.
            match (row.links, row.decoded.order) {
                (Some(_), _) => order.listed = true,
                (None, u64::MAX) => order.unordered += 1,
                (None, _) => order.ordered = true,
            }
        }
        let lost = |order: &Order| {
            let networks = order.unordered + u64::from(order.ordered);
            order.unordered > 1 || networks > 1 || (order.listed && networks > 0)
        };
        orders.values().any(lost)
    }

    /// Leaves out the sends of which nothing is known but that they are done; returns how many there are.
    pub(super) fn drop_forgotten(&mut self) -> usize {
        let before = self.rows.len();
        self.rows.retain(|row| {
            let Operation { status, desired_local_rank, desired_tag, desired_length, .. } = &row.decoded.operation;
            row.decoded.queue != QueueKind::PendingSends
                || *status != OperationStatus::Complete
                || desired_local_rank.is_some()
                || desired_tag.is_some()
                || desired_length.is_some()
        });
        before - self.rows.len()
    }

    /// Adds what the lists for debuggers say; returns how many sends that wait are on no list, so that their order is not known,
    /// by the places of their communicators.
    pub(super) fn complete(&mut self, debug: &DebugLists, decoder: &Decoder) -> HashMap<usize, u64> {
        let mut unordered = HashMap::new();
        for row in &mut self.rows {
            let send = match row.decoded.queue {
                QueueKind::PendingSends => true,
                QueueKind::PendingReceives => false,
                QueueKind::UnexpectedMessages => continue,
            };
            let list = if send { &debug.sends } else { &debug.receives };
            let entry = list.get(&row.at).or_else(|| list.get(&row.persistent?));
            if let Some(entry) = entry {
                DebugLists::complete(entry, &mut row.decoded.operation, send, decoder.wildcards());
                if send {
                    row.decoded.order = entry.age;
                }
            } else if send && !row.listed && row.decoded.operation.status != OperationStatus::Complete {
                let (waiting, known): &mut (u64, bool) = unordered.entry(row.decoded.comm).or_insert((0, true));
                *waiting += 1;
                // Only the network gives an order of its own.
                *known &= row.decoded.order != u64::MAX;
            }
        }
        unordered.into_iter().filter(|(_, (_, known))| !known).map(|(comm, (waiting, _))| (comm, waiting)).collect()
    }
}

/// Whether the receives of a communicator, in any order, are not those of one list.
#[derive(Default)]
struct Order {
    listed: bool,
    ordered: bool,
    unordered: u64,
}
