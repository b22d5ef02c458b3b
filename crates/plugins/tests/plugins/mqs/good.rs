//! The good variant: everything it says arrives, in the right words.

use std::cell::Cell;

use model::{OperationStatus, QueueSource, QueueState, Remark};
use plugins::mqs::{PluginSource, inspect_plugin, read_with_plugin};
use target::address::TargetAddr;
use target::mock::MockTarget;
use target::{ByteOrder, Image, PointerWidth, Symbol, Target, TargetAbi, TargetError};

use super::toy::{self, image, layouts, plugin, request, run, seconds};

/// What every byte order and pointer width must give.
fn check(outcome: &plugins::mqs::PluginOutcome) {
    assert_eq!(outcome.failure, None);
    assert_eq!(outcome.info.version.as_deref(), Some("toy plug-in, variant good"));
    assert_eq!((outcome.info.compatibility, outcome.info.width), (Some(2), Some(8)));
    let [first, second] = &outcome.report.communicators[..] else { panic!("{:?}", outcome.report) };
    assert_eq!((first.name.as_str(), first.unique_id), ("halo\\x1b exchange", 5));
    assert_eq!((first.local_rank, first.size), (Some(1), Some(3)));
    assert_eq!(first.group, Some([Some(0), Some(2), None].into()));
    assert_eq!(outcome.groups.len(), 2);
    assert_eq!(second.name, "second");
    assert_eq!(second.unique_id, -7_i64 as u64);

    let [wild, tagged, internal] = &first.pending_receives.operations[..] else { panic!("{first:?}") };
    assert!(wild.any_source && wild.tag_wild && !wild.internal);
    assert_eq!((wild.desired_local_rank, wild.desired_tag, wild.desired_length), (None, None, Some(40)));
    assert_eq!((wild.actual_tag, wild.buffer), (None, Some(0xdead_0000)));
    assert_eq!(wild.extra_text, [Remark::from("op %s")]);
    assert_eq!((tagged.desired_local_rank, tagged.desired_global_rank), (Some(1), Some(2)));
    assert_eq!((tagged.desired_tag, tagged.desired_length), (Some(8), Some(80)));
    assert!(internal.internal && internal.status == OperationStatus::Matched);
    assert_eq!((internal.desired_tag, internal.actual_tag), (Some(-17), Some(-17)));

    let [send] = &first.pending_sends.operations[..] else { panic!("{first:?}") };
    assert_eq!((send.actual_local_rank, send.actual_global_rank), (Some(1), Some(2)));
    assert_eq!((send.actual_tag, send.actual_length), (Some(7), Some(4096)));
    let [unexpected] = &first.unexpected_messages.operations[..] else { panic!("{first:?}") };
    assert_eq!((unexpected.actual_local_rank, unexpected.actual_tag), (Some(1), Some(9)));
    for queue in [&second.pending_sends, &second.pending_receives, &second.unexpected_messages] {
        assert_eq!((queue.state, queue.operations.len()), (QueueState::Ok, 0));
    }
    assert_eq!(outcome.failed_reads, 0);
    assert_eq!(outcome.report.problems, [""; 0]);
    assert!(outcome.messages.contains(&"the plug-in says: '/opt/toy/libtoy%n.so' is looked at".to_owned()));
    assert!(outcome.messages.contains(&"plug-in (debug): debug %s %n".to_owned()));
}

#[test]
fn everything_arrives() {
    check(&run("good"));
}

#[test]
fn other_byte_orders_and_widths() {
    let path = plugin("good");
    for byte_order in [ByteOrder::Little, ByteOrder::Big] {
        for pointer_width in [PointerWidth::Four, PointerWidth::Eight] {
            let target = toy::target(TargetAbi { byte_order, pointer_width });
            check(&read_with_plugin(&target, &layouts(), &image(), &request(&path, 20.0)));
        }
    }
}

#[test]
fn mpi2_jobs_identities_and_spawned_processes() {
    for options in ["good -DCOMPATIBILITY=3", "good -DCOMPATIBILITY=3 -DNAME_OF_THE_DOCUMENT"] {
        let outcome = run(options);
        assert_eq!(outcome.failure, None, "{options}");
        assert!(outcome.info.has_mpi2);
        assert_eq!(outcome.spawn_breakpoint.as_deref(), Some("toy_spawned_breakpoint"));
        let [kid] = &outcome.new_processes[..] else { panic!("{outcome:?}") };
        assert_eq!((kid.pid, kid.image.as_str(), kid.host.as_str()), (4711, "/bin/kid", "node7"));
        assert_eq!(outcome.report.communicators.len(), 2);
    }
}

#[test]
fn a_plugin_without_groups_still_lists() {
    let outcome = run("good -DWITHOUT_GROUP");
    assert_eq!(outcome.failure, None);
    assert_eq!(outcome.report.communicators[0].group, None);
    assert_eq!(outcome.info.missing.first().map(String::as_str), Some("mqs_get_comm_group"));
}

#[test]
fn what_a_plugin_cannot_tell_is_no_empty_queue() {
    let outcome = run("no-unexpected");
    let queue = &outcome.report.communicators[0].unexpected_messages;
    assert_eq!(queue.state, QueueState::NoInformation);
    assert!(queue.detail.as_deref().is_some_and(|detail| detail.contains("unexpected messages")), "{queue:?}");
    assert_eq!(outcome.report.communicators[0].pending_receives.operations.len(), 3);
}

#[test]
fn errors_of_the_plugin_are_in_its_own_words() {
    let outcome = run("broken-list");
    assert_eq!(outcome.failure, None, "the other queues are still read");
    let queue = &outcome.report.communicators[0].pending_receives;
    assert_eq!((queue.state, queue.operations.len()), (QueueState::Error, 1));
    let detail = queue.detail.clone().unwrap_or_default();
    assert!(detail.contains("mqs_next_operation") && detail.contains("toy: %s%n%n the list is broken (error 102)"));
    assert_eq!(outcome.report.communicators.len(), 2);
    assert_eq!(run("broken-setup").report.communicators[0].pending_sends.state, QueueState::Error);
    assert!(run("refuse-group").report.problems[0].contains("the list is broken"));
}

#[test]
fn no_communicators_is_an_empty_list() {
    let mut target = toy::target(TargetAbi::LITTLE_64);
    for (_, bytes) in target.segments_mut() {
        bytes[8..16].fill(0);
    }
    let path = plugin("good");
    let outcome = read_with_plugin(&target, &layouts(), &image(), &request(&path, 20.0));
    assert_eq!((outcome.failure, outcome.report.communicators.len()), (None, 0));
}

#[test]
fn inspection_tells_what_a_plugin_is() {
    let info = inspect_plugin(&plugin("good -DCOMPATIBILITY=3"), seconds(10.0)).expect("a good plug-in");
    assert!(info.has_mpi2 && info.missing.is_empty(), "{info:?}");
    assert_eq!(info.functions.len(), 24);
}

#[test]
fn a_source_of_queues_translates_by_known_communicators() {
    let (path, target, layouts, image) = (plugin("good"), toy::target(TargetAbi::LITTLE_64), layouts(), image());
    let known = [model::Communicator {
        name: "halo".into(),
        unique_id: 5,
        local_rank: Some(1),
        size: Some(3),
        group: Some([Some(3), Some(1), Some(0)].into()),
        ..Default::default()
    }];
    let mut source = PluginSource::new(&target, &layouts, &image, request(&path, 20.0), &known);
    let report = source.read_queues().expect("a report");
    let [only] = &report.communicators[..] else { panic!("{report:?}") };
    assert_eq!(only.pending_sends.operations[0].actual_global_rank, Some(1));
    assert!(source.outcome().is_some_and(|outcome| outcome.failure.is_none()));
}

/// A target that counts reads and dies after some.
struct Counting {
    inner: MockTarget,
    left: Cell<usize>,
    reads: Cell<usize>,
}

impl Target for Counting {
    fn read(&self, addr: TargetAddr, buf: &mut [u8]) -> Result<(), TargetError> {
        self.reads.set(self.reads.get() + 1);
        if self.left.get() == 0 {
            return Err(TargetError::Gone);
        }
        self.left.set(self.left.get() - 1);
        self.inner.read(addr, buf)
    }
    fn abi(&self) -> TargetAbi {
        self.inner.abi()
    }
    fn symbol(&self, name: &str) -> Result<Option<Symbol>, TargetError> {
        self.inner.symbol(name)
    }
    fn images(&self) -> Result<Vec<Image>, TargetError> {
        self.inner.images()
    }
}

#[test]
fn memory_is_asked_for_in_runs_and_a_dead_target_ends_the_run() {
    let path = plugin("good");
    let mut inner = toy::target(TargetAbi::LITTLE_64);
    for (_, bytes) in inner.segments_mut() {
        // A whole run is mapped, so that one read brings all of it.
        bytes.resize(1 << 16, 0);
    }
    let target = Counting { inner, left: usize::MAX.into(), reads: 0.into() };
    let outcome = read_with_plugin(&target, &layouts(), &image(), &request(&path, 20.0));
    assert_eq!(outcome.failure, None);
    assert_eq!(outcome.report.communicators[0].pending_receives.operations.len(), 3);
    assert_eq!(target.reads.get(), 1);

    let dying = Counting { inner: target.inner, left: 0.into(), reads: 0.into() };
    let outcome = read_with_plugin(&dying, &layouts(), &image(), &request(&path, 20.0));
    assert!(outcome.failure.is_some_and(|failure| failure.to_string().contains("the process ended")));
}
