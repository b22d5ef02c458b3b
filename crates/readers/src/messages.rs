//! Requests of messages in words.

use model::{Operation, OperationStatus, Progress};

/// Peer and tag, with a blank before. `nobody`: the rank MPI_PROC_NULL.
pub fn peer_and_tag(operation: &Operation, sends: bool, far: Progress, nobody: Option<i64>) -> String {
    let settled = operation.status != OperationStatus::Pending && far != Progress::Inactive;
    let to = if sends { "to" } else { "from" };
    let actual = operation.actual_local_rank.filter(|_| settled);
    let peer = match (operation.desired_local_rank, actual) {
        (Some(peer), _) if Some(peer) == nobody => format!(" {to} MPI_PROC_NULL"),
        (Some(peer), _) => format!(" {to} {peer}"),
        (None, Some(peer)) if operation.any_source => format!(" {to} {peer} (any source)"),
        (None, Some(peer)) => format!(" {to} {peer}"),
        (None, None) if operation.any_source => format!(" {to} any source"),
        (None, None) => format!(" {to} an unknown rank"),
    };
    let tag = match (operation.desired_tag, operation.actual_tag.filter(|_| settled)) {
        (Some(tag), _) => format!(", tag {tag}"),
        (None, Some(tag)) if operation.tag_wild => format!(", tag {tag} (any tag)"),
        (None, Some(tag)) => format!(", tag {tag}"),
        (None, None) if operation.tag_wild => " (any tag)".to_owned(),
        (None, None) => ", tag not known".to_owned(),
    };
    format!("{peer}{tag}")
}

/// The length, with a comma before; empty where it is not known.
pub fn length(operation: &Operation, far: Progress) -> String {
    match (operation.desired_length, operation.actual_length.filter(|_| far == Progress::Complete)) {
        (Some(room), Some(bytes)) if bytes != room => format!(", {bytes} of {room} bytes"),
        (Some(room), _) => format!(", {room} bytes"),
        (None, _) => String::new(),
    }
}
