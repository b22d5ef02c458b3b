//! What the helper with a message-queue plug-in tells the host, besides what every helper tells ([`Told`]).
//!
//! The driver writes these messages, the server reads them. The helper runs foreign code, so a message may be anything:
//! reading one never takes more than its payload has.
//!
//! [`Told`]: crate::host::message::Told

use model::QueueKind;
use std::borrow::Cow;

use super::abi;
use crate::host::message::{Part, record};
use crate::host::wire::{Put, Take};
use crate::{messages, numbered};

messages! {
    /// What a run delivers, in the order of the plug-in's life cycle.
    Event<'a> {
        /// What `mqs_version_compatibility`, `mqs_dll_taddr_width` and `mqs_version_string` gave.
        Versions = 16 {
            /// 2, or 3 for MPI-2.
            compatibility: i32,
            /// In bytes.
            width: i32,
            /// The plug-in's own words; empty where the compatibility is another one.
            version: &'a [u8],
        }
        /// Text from the plug-in.
        Message = 17 {
            /// Where it came from.
            speaker: Speaker,
            /// The text.
            text: &'a [u8],
        }
        /// The next communicator.
        Communicator = 18 {
            /// Its number.
            unique_id: u64,
            /// The process's rank in it.
            local_rank: i64,
            /// How many members it has.
            size: i64,
            /// Its name, with what stands after its NUL.
            name: &'a [u8],
        }
        /// A piece of its group.
        Group = 19 {
            /// Ranks in MPI_COMM_WORLD.
            ranks: Ranks<'a>,
        }
        /// Its group could not be had.
        NoGroup = 20 {
            /// The plug-in's error code; -1: the text is the helper's own.
            code: i32,
            /// Why.
            text: &'a [u8],
        }
        /// A queue of it begins.
        QueueStart = 21 {
            /// Which.
            class: QueueKind,
        }
        /// The next operation of the queue.
        Operation = 22 {
            /// As the plug-in has it.
            operation: Pending<'a>,
        }
        /// The queue ends.
        QueueEnd = 23 {
            /// Whether `mqs_setup_operation_iterator` ended it, and not `mqs_next_operation`.
            in_setup: bool,
            /// What that returned.
            code: i32,
            /// The plug-in's text for it.
            text: &'a [u8],
        }
        /// Where the debugger should stop to see spawned processes.
        SpawnBreakpoint = 25 {
            /// A function.
            name: &'a [u8],
        }
        /// A process that was spawned or connected to.
        NewProcess = 24 {
            /// Its process id.
            pid: i64,
            /// Its executable.
            image: &'a [u8],
            /// Its host.
            host: &'a [u8],
        }
    }
}

/// Where a text from a plug-in came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Speaker {
    /// `mqs_image_has_queues`.
    Image = 0,
    /// `mqs_process_has_queues`.
    Process = 1,
    /// `mqs_image_has_queues` that found nothing wrong.
    ImageFine = 2,
}

numbered!(Speaker: [Self::Image, Self::Process, Self::ImageFine]; QueueKind: Self::ALL);

record! {
    /// The fields of `mqs_pending_operation`.
    Pending<'a> {
        status: i32,
        desired_local_rank: i64,
        desired_global_rank: i64,
        tag_wild: bool,
        desired_tag: i64,
        desired_length: i64,
        system_buffer: bool,
        buffer: u64,
        actual_local_rank: i64,
        actual_global_rank: i64,
        actual_tag: i64,
        actual_length: i64,
        extra_text: Lines<'a>,
    }
}

/// Ranks up to the end of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranks<'a>(pub Cow<'a, [i32]>);

impl<'a> Part<'a> for Ranks<'a> {
    fn put(&self, out: &mut Vec<u8>) {
        for rank in self.0.iter() {
            out.i32(*rank);
        }
    }
    fn take(from: &mut Take<'a>) -> Option<Self> {
        Some(Self(std::iter::from_fn(|| from.i32()).collect()))
    }
}

/// Lines of extra text up to the end of a message; they count until one is empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines<'a>(pub [&'a [u8]; abi::EXTRA_LINES]);

impl<'a> Lines<'a> {
    /// Those that count.
    pub fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        self.0.into_iter().take_while(|line| !line.is_empty())
    }
}

impl<'a> Part<'a> for Lines<'a> {
    fn put(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|line| out.text(line));
    }
    fn take(from: &mut Take<'a>) -> Option<Self> {
        Some(Self([(); abi::EXTRA_LINES].map(|()| from.text().unwrap_or_default())))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::host::message::Message as _;
    use crate::host::wire::Kind;

    fn pending<'a>(lines: &[&'a [u8]]) -> Event<'a> {
        let mut extra_text = Lines([b""; abi::EXTRA_LINES]);
        extra_text.0.iter_mut().zip(lines).for_each(|(to, line)| *to = line);
        Event::Operation {
            operation: Pending {
                status: 1,
                desired_local_rank: 2,
                desired_global_rank: 3,
                tag_wild: true,
                desired_tag: -4,
                desired_length: 5,
                system_buffer: false,
                buffer: 6,
                actual_local_rank: 7,
                actual_global_rank: 8,
                actual_tag: 9,
                actual_length: 10,
                extra_text,
            },
        }
    }

    fn written(event: &Event<'_>) -> Vec<u8> {
        let mut payload = Vec::new();
        event.write(&mut payload);
        payload
    }

    #[test]
    fn what_is_written_is_read_again() {
        let lines: [&[u8]; abi::EXTRA_LINES] = [b"a", b"b", b"c", b"d", b"e"];
        let events = [
            Event::Versions { compatibility: 3, width: 8, version: b"toy" },
            Event::Communicator { unique_id: u64::MAX, local_rank: -1, size: 2, name: b"world\0x" },
            Event::Group { ranks: Ranks(Cow::Borrowed(&[0, -1, 7])) },
            Event::NoGroup { code: -1, text: b"why" },
            Event::QueueStart { class: QueueKind::UnexpectedMessages },
            pending(&[]),
            pending(&lines[..1]),
            pending(&lines),
            Event::QueueEnd { in_setup: true, code: 2, text: b"" },
            Event::SpawnBreakpoint { name: b"MPIR_Breakpoint" },
            Event::NewProcess { pid: 7, image: b"/bin/a", host: b"here" },
        ];
        for event in events {
            assert_eq!(Event::read(event.kind(), &written(&event)).as_ref(), Some(&event));
        }
    }

    #[test]
    fn a_short_frame_is_no_message() {
        let events = [pending(&[]), Event::NewProcess { pid: 7, image: b"/bin/a", host: b"here" }];
        for event in events {
            let whole = written(&event);
            for len in 0..whole.len() {
                assert_eq!(Event::read(event.kind(), &whole[..len]), None, "{event:?}");
            }
        }
        assert_eq!(Event::read(Kind(21), &[3]), None);
    }

    #[test]
    fn lines_that_do_not_fit_are_left_out() {
        let mut payload = written(&pending(&[b"first"]));
        payload.extend_from_slice(&[0xff; 9]);
        assert_eq!(Event::read(Kind(22), &payload), Some(pending(&[b"first"])));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_none(kind in 0_u8..40, payload in proptest::collection::vec(any::<u8>(), 0..300)) {
            if let Some(event) = Event::read(Kind(kind), &payload) {
                prop_assert_eq!(event.kind().0, kind);
                prop_assert!(written(&event).len() <= payload.len());
            }
        }
    }
}
