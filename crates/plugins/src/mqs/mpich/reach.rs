//! Which queues the plug-in's lists hold whole.
//!
//! ch3 has all messages in them. ch4 hands those for other nodes to the netmod, and those to oneself to a queue of its
//! own, and the lists know only part of these: up to 4.0.2 they are those of active messages, which shared memory uses; from
//! 4.0.3 on sends and receives are noted whatever moves them, but messages that the netmod has received and nobody has
//! asked for are not (src/mpid/ch4/src, `MPII_UNEXPQ_REMEMBER`).

use super::communicators::Object;
use super::doubt;
use super::lists::Lists;
use model::{Queue, QueueReport, QueueState};

/// The handle of MPI_COMM_WORLD.
const WORLD: u64 = 0x4400_0000;

/// What moves the messages of a communicator.
enum WaitKind {
    /// Shared memory, all of them.
    Memory,
    /// None: it has one process.
    Oneself,
    /// The netmod, some of them at least.
    Netmod,
}

/// Says of each queue that the lists cannot hold whole that it is not empty but not known.
pub fn mark(report: &mut QueueReport, objects: &[Option<Object>], lists: &Lists) {
    let requests = &lists.requests;
    if !requests.is_ch4 {
        return;
    }
    // Processes that were not there at the start are in no list of the nodes' processes.
    let all_near = requests.has_shared_memory
        && objects.iter().flatten().any(|object| object.handle == WORLD && object.is_on_one_node());
    for (communicator, object) in report.communicators.iter_mut().zip(objects) {
        let Some(object) = object else { continue };
        let way = if object.is_alone() {
            WaitKind::Oneself
        } else if requests.has_shared_memory && (all_near || object.is_on_one_node()) {
            WaitKind::Memory
        } else {
            WaitKind::Netmod
        };
        let (receives, unexpected) = (&mut communicator.pending_receives, &mut communicator.unexpected_messages);
        match (way, lists.noted_apart) {
            (WaitKind::Memory, _) | (WaitKind::Oneself, true) => {}
            (WaitKind::Oneself, false) => {
                for queue in [receives, unexpected] {
                    incomplete(queue, "this MPICH keeps messages to oneself in a queue that its plug-in does not read");
                }
            }
            (WaitKind::Netmod, noted_apart) => {
                if !noted_apart {
                    incomplete(receives, "the plug-in does not see receives that ch4 has handed to its netmod");
                }
                incomplete(unexpected, "the plug-in does not see messages that have arrived over ch4's netmod");
            }
        }
    }
}

/// What was read stays; where nothing was, nothing is known.
fn incomplete(queue: &mut Queue, reason: &str) {
    let detail = format!("{reason}; try the built-in reader (--source builtin)");
    if queue.state == QueueState::Ok && queue.operations.is_empty() {
        *queue = Queue::no_information(detail);
    } else {
        doubt(queue, detail);
    }
}
