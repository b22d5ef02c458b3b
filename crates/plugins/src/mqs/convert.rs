//! From what a plug-in delivers to the model.
//!
//! Plug-ins are careless with their words: ranks and tags are C ints that come zero-extended (Open MPI's
//! `ompi_fetch_int` fills the low half of a long: MPI_ANY_SOURCE is 4294967295), texts may lack their NUL, and fields
//! that a plug-in did not fill in must not be shown.

use super::abi;
use super::protocol::Pending;
use model::{Operation, OperationStatus, Queue, QueueKind, QueueState, Remark};
use target::printable;

/// The room for the name of a function in bytes; a name that fills it is not terminated.
pub const MAX_FUNCTION_NAME: usize = 1024;

/// What is kept of an error text.
const MAX_ERROR_TEXT: usize = 1024;

/// The low 32 bits with their sign: what the MPI library's C int was.
pub fn as_int(word: i64) -> i64 {
    i64::from(word as i32)
}

/// A rank, `None` where it is negative (any source, no process, not known).
pub fn rank(word: i64) -> Option<i64> {
    Some(as_int(word)).filter(|rank| *rank >= 0)
}

fn length(word: i64) -> Option<u64> {
    u64::try_from(word).ok()
}

/// One operation.
pub fn operation(told: &Pending<'_>, class: QueueKind, world_size: Option<i64>) -> Operation {
    let Pending { tag_wild, system_buffer, buffer, .. } = *told;
    let Pending { desired_local_rank: desired_local, actual_local_rank: actual_local, .. } = *told;
    let desired_tag = as_int(told.desired_tag);
    let lines = told.extra_text.iter().map(|line| Remark::from(printable(&line[..line.len().min(abi::TEXT)])));
    let mut extra_text: Vec<Remark> = lines.collect();
    let in_world = |rank: &i64| world_size.is_none_or(|size| *rank < size);
    let global = |word| rank(word).filter(in_world);
    let any_source = class == QueueKind::PendingReceives && as_int(desired_local) == i64::from(abi::INVALID_PROCESS);
    let mut operation = Operation {
        status: match told.status {
            status if status == abi::STATUSES[0] => OperationStatus::Pending,
            status if status == abi::STATUSES[1] => OperationStatus::Matched,
            status if status == abi::STATUSES[2] => OperationStatus::Complete,
            other => {
                extra_text.push(Remark::from(format!("the plug-in gave a status that does not exist: {other}")));
                OperationStatus::Pending
            }
        },
        desired_local_rank: rank(desired_local),
        // The global rank of "any" is meaningless.
        desired_global_rank: rank(desired_local).and_then(|_| global(told.desired_global_rank)),
        any_source,
        tag_wild,
        desired_tag: (!tag_wild).then_some(desired_tag),
        desired_length: length(told.desired_length),
        system_buffer,
        buffer: (buffer != 0).then_some(buffer),
        // MPI gives applications tags from zero up; the library keeps the others for itself.
        internal: !tag_wild && desired_tag < 0,
        extra_text,
        ..Operation::default()
    };
    // The header: "fields valid if status >= matched or it's a send".
    if class == QueueKind::PendingSends || operation.status != OperationStatus::Pending {
        operation.actual_local_rank = rank(actual_local);
        operation.actual_global_rank = rank(actual_local).and_then(|_| global(told.actual_global_rank));
        operation.actual_tag = Some(as_int(told.actual_tag));
        operation.actual_length = length(told.actual_length);
    } else if class == QueueKind::UnexpectedMessages {
        // What has arrived is what it is.
        operation.actual_local_rank = operation.desired_local_rank;
        operation.actual_global_rank = operation.desired_global_rank;
        operation.actual_tag = operation.desired_tag;
        operation.actual_length = operation.desired_length;
    }
    operation
}

/// The name of a function, where it can be one of C: it becomes a part of a debugger's command.
pub fn function_name(text: &[u8]) -> Option<String> {
    let word = text.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.'));
    let begins = text.first().is_some_and(|first| !first.is_ascii_digit());
    (word && begins && text.len() < MAX_FUNCTION_NAME).then(|| printable(text))
}

/// State of a queue after the function that ended its reading returned `code`.
pub fn end_of_queue(queue: &mut Queue, class: QueueKind, in_setup: bool, code: i32, text: &[u8]) {
    match code {
        abi::END_OF_LIST => {}
        abi::NO_INFORMATION => {
            queue.state = QueueState::NoInformation;
            queue.detail =
                Some(format!("this plug-in does not know {}; the built-in reader may (source builtin)", class.name()));
        }
        code => {
            let function = if in_setup { "mqs_setup_operation_iterator" } else { "mqs_next_operation" };
            queue.state = QueueState::Error;
            queue.detail = Some(format!("{function} failed: {}", error_text(code, text)));
        }
    }
}

/// A plug-in's error text with its code.
pub fn error_text(code: i32, text: &[u8]) -> String {
    let text = printable(&text[..text.len().min(MAX_ERROR_TEXT)]);
    let text = text.trim();
    match (text.is_empty(), code) {
        (true, code) => format!("error {code}"),
        // The host's own text.
        (false, -1) => text.to_owned(),
        (false, code) => format!("{text} (error {code})"),
    }
}

/// The message of a `*_has_queues` function: a format with at most one `%s`, which stands for the image. Anything else
/// after a `%` is text, and it never reaches a printf.
pub fn message(template: &[u8], image: &str) -> String {
    let text: Vec<String> = template.split(|&byte| byte == b'\n').map(printable).collect();
    // Line breaks belong to the text; they become spaces so that one message stays one line.
    let text = text.join(" ");
    let text = text.trim();
    match text.split_once("%s") {
        Some((before, after)) => format!("{before}{image}{after}"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mqs::protocol::Lines;

    fn told(status: i32, local: i64, global: i64, tag_wild: bool, tag: i64) -> Pending<'static> {
        Pending {
            status,
            desired_local_rank: local,
            desired_global_rank: global,
            tag_wild,
            desired_tag: tag,
            desired_length: 40,
            system_buffer: false,
            buffer: 0x1000,
            actual_local_rank: 7,
            actual_global_rank: 8,
            actual_tag: 9,
            actual_length: 20,
            extra_text: Lines([b"Receive: \x1b[2J", b"", b"", b"", b""]),
        }
    }

    fn converted(class: QueueKind, told: &Pending<'_>) -> Operation {
        operation(told, class, Some(4))
    }

    #[test]
    fn zero_extended_wildcards_are_wildcards() {
        let op = converted(QueueKind::PendingReceives, &told(0, 0xffff_ffff, 0, true, 0xffff_ffff));
        assert!(op.any_source && op.tag_wild && !op.internal);
        assert_eq!((op.desired_local_rank, op.desired_global_rank, op.desired_tag), (None, None, None));
        assert_eq!((op.actual_local_rank, op.actual_tag, op.actual_length), (None, None, None));
        assert_eq!(op.extra_text, [Remark::from("Receive: \\x1b[2J")]);
    }

    #[test]
    fn negative_tags_are_internal() {
        let op = converted(QueueKind::PendingReceives, &told(0, 1, 1, false, 0xffff_ffef));
        assert_eq!((op.desired_tag, op.internal), (Some(-17), true));
    }

    #[test]
    fn actual_fields_count_for_sends_and_matched_receives_only() {
        assert_eq!(converted(QueueKind::PendingReceives, &told(0, 1, 1, false, 5)).actual_tag, None);
        assert_eq!(converted(QueueKind::PendingReceives, &told(1, 1, 1, false, 5)).actual_tag, Some(9));
        assert_eq!(converted(QueueKind::PendingSends, &told(0, 1, 1, false, 5)).actual_local_rank, Some(7));
        assert_eq!(
            converted(QueueKind::PendingSends, &told(0, 1, 1, false, 5)).actual_global_rank,
            None,
            "8 is not in a world of 4"
        );
        let unexpected = converted(QueueKind::UnexpectedMessages, &told(0, 1, 1, false, 5));
        assert_eq!((unexpected.actual_local_rank, unexpected.actual_length), (Some(1), Some(40)));
    }

    #[test]
    fn a_status_that_does_not_exist_is_told() {
        assert_eq!(converted(QueueKind::PendingSends, &told(77, 1, 1, false, 5)).extra_text.len(), 2);
    }

    #[test]
    fn a_message_is_a_template_and_no_format() {
        assert_eq!(message(b"no queues in\nthe image '%s'\n", "/bin/a%n"), "no queues in the image '/bin/a%n'");
        assert_eq!(message(b"100%n %d %s %s", "x"), "100%n %d x %s");
        assert_eq!(message(b"\xff\x07", "x"), "\\xff\\x07");
    }
}
