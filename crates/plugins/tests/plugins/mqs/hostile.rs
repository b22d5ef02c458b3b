//! Hostile plug-ins: each gives a clear error, keeps what it had delivered, ends in time and leaves no process behind.

use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

use made_up::share::rounds;
use model::QueueState;
use plugins::mqs::{Limits, PluginError, PluginOutcome, inspect_plugin, read_with_plugin};
use target::TargetAbi;

use super::toy::{image, layouts, plugin, request, run, run_within, seconds, target};
use crate::compiled::helpers_of;

fn text(outcome: &PluginOutcome) -> String {
    outcome.failure.as_ref().map(ToString::to_string).unwrap_or_default()
}

fn run_and_look(options: &str, seconds: f64) -> PluginOutcome {
    let path = plugin(options);
    let outcome = read_with_plugin(&target(TargetAbi::LITTLE_64), &layouts(), &image(), &request(&path, seconds));
    assert_eq!(helpers_of(&path), [""; 0], "{options} left a process behind");
    outcome
}

/// The functions in which the toy can misbehave, and the communicators that are delivered before each.
const PHASES: [(&str, usize); 15] = [
    ("mqs_version_compatibility", 0),
    ("mqs_version_string", 0),
    ("mqs_setup_basic_callbacks", 0),
    ("mqs_setup_image", 0),
    ("mqs_image_has_queues", 0),
    ("mqs_setup_process", 0),
    ("mqs_process_has_queues", 0),
    ("mqs_update_communicator_list", 0),
    ("mqs_setup_communicator_iterator", 0),
    ("mqs_get_communicator", 0),
    ("mqs_get_comm_group", 1),
    ("mqs_setup_operation_iterator", 1),
    ("mqs_next_operation", 1),
    ("mqs_next_communicator", 1),
    ("mqs_destroy_process_info", 2),
];

#[test]
fn a_crash_in_any_function_names_it_and_keeps_what_was_delivered() {
    for (function, communicators) in PHASES {
        let outcome = run_and_look(&format!("crash:{function}"), 20.0);
        let Some(PluginError::Crashed { place, signal, .. }) = &outcome.failure else {
            panic!("{function}: {outcome:?}")
        };
        assert_eq!(*place, function);
        assert!(signal.starts_with("SIGSEGV"), "{signal}");
        assert_eq!(outcome.report.communicators.len(), communicators, "{function}");
    }
}

#[test]
fn what_was_delivered_before_a_crash_is_marked_as_cut_off() {
    let outcome = run("crash:mqs_next_operation");
    let comm = &outcome.report.communicators[0];
    assert_eq!((comm.pending_sends.state, comm.pending_sends.operations.len()), (QueueState::Ok, 1));
    assert_eq!((comm.pending_receives.state, comm.pending_receives.operations.len()), (QueueState::Error, 1));
    assert_eq!(comm.unexpected_messages.state, QueueState::Error);
    let detail = comm.pending_receives.detail.clone().unwrap_or_default();
    assert!(detail.contains("not read to its end") && detail.contains("SIGSEGV"), "{detail}");
}

#[test]
#[ignore = "takes long"]
fn an_endless_loop_is_killed_in_time_and_keeps_what_was_delivered() {
    for (variant, communicators) in [
        ("loop:constructor", 0),
        ("loop:mqs_image_has_queues", 0),
        ("sleep:mqs_setup_process", 0),
        ("loop:mqs_next_operation", 1),
        ("loop:mqs_destroy_image_info", 2),
    ] {
        let start = Instant::now();
        let outcome = run_and_look(variant, 1.0);
        assert!(start.elapsed() < Duration::from_secs(30), "{variant}: {:?}", start.elapsed());
        assert!(matches!(outcome.failure, Some(PluginError::TimedOut { .. })), "{variant}: {outcome:?}");
        let place = variant.split_once(':').map_or("", |(_, place)| place);
        assert!(text(&outcome).contains(place) && text(&outcome).contains("within 1 s"), "{}", text(&outcome));
        assert_eq!(outcome.report.communicators.len(), communicators, "{variant}");
    }
    let operations =
        run_within("loop:mqs_next_operation", 1.0).report.communicators[0].pending_receives.operations.len();
    assert_eq!(operations, 1, "what was delivered before the loop is kept");
}

#[test]
fn ways_to_end_the_process() {
    for (variant, word) in [
        ("abort:mqs_setup_process", "SIGABRT"),
        ("exit:mqs_setup_process", "called exit"),
        ("_exit:mqs_setup_process", "_exit"),
        ("kill:mqs_setup_process", "was killed"),
        ("close:mqs_setup_process", "closed the connection"),
        ("exit:constructor", "called exit"),
        ("crash:constructor", "SIGSEGV"),
    ] {
        let outcome = run_and_look(variant, 20.0);
        assert!(text(&outcome).contains(word), "{variant}: {}", text(&outcome));
    }
}

#[test]
fn a_fork_leaves_nothing_behind() {
    let outcome = run_and_look("fork", 5.0);
    // The kernel refuses it where it can; then the plug-in says so.
    assert!(text(&outcome).contains("error 110"), "{}", text(&outcome));
}

#[test]
fn nonsense_on_the_connection_ends_the_run() {
    for variant in ["babble", "beg"] {
        let outcome = run_and_look(variant, 20.0);
        assert!(matches!(outcome.failure, Some(PluginError::Protocol { .. })), "{variant}: {outcome:?}");
    }
}

#[test]
fn a_stack_overflow_is_told() {
    assert!(text(&run_and_look("deep", 20.0)).contains("crashed in mqs_setup_image (SIGSEGV"));
}

#[test]
fn memory_is_bounded() {
    assert!(text(&run("huge-malloc")).contains("error 108"));
    assert!(text(&run_and_look("eat-memory", 20.0)).contains("error 109"));
}

#[test]
fn endless_lists_are_cut() {
    for (variant, what) in [
        ("endless-operations", "operations"),
        ("endless-communicators", "communicators"),
        ("endless-spawned -DCOMPATIBILITY=3", "new processes"),
    ] {
        let path = plugin(variant);
        let mut request = request(&path, 60.0);
        request.limits = Limits { operations: 20_000, communicators: 2000, new_processes: 1000, ..Limits::default() };
        let outcome = read_with_plugin(&target(TargetAbi::LITTLE_64), &layouts(), &image(), &request);
        let Some(PluginError::TooMuch { what: told, .. }) = outcome.failure else { panic!("{variant}: {outcome:?}") };
        assert_eq!(told, what);
        assert!(!outcome.report.communicators.is_empty());
    }
}

#[test]
fn what_is_told_of_spawned_processes_is_bounded_and_checked() {
    let outcome = run("unterminated-spawned -DCOMPATIBILITY=3");
    assert_eq!(outcome.failure, None);
    let [spawned] = &outcome.new_processes[..] else { panic!("{outcome:?}") };
    assert_eq!((spawned.pid, spawned.host.as_str()), (4711, "h".repeat(64).as_str()));
    assert_eq!(spawned.image, "i".repeat(libc::FILENAME_MAX as usize));
    assert_eq!(outcome.spawn_breakpoint, None);
    assert!(outcome.report.problems[0].contains("not the name of a function"), "{:?}", outcome.report.problems);

    let outcome = run("absurd-spawned -DCOMPATIBILITY=3");
    assert_eq!((outcome.failure, outcome.new_processes.len(), outcome.spawn_breakpoint), (None, 0, None));
    let problems = outcome.report.problems.join("; ");
    assert!(
        problems.contains("\"main\\\\x0acall exit(0)\"") && problems.contains("the impossible pid -1"),
        "{problems}"
    );
}

#[test]
#[ignore = "takes long"]
fn a_million_operations_are_the_default_bound_and_take_seconds() {
    let path = plugin("endless-operations");
    let mut request = request(&path, 60.0);
    assert_eq!(request.limits.operations, 1_000_000);
    request.limits.operations = rounds(100_000, 1_000_000) as usize;
    let start = Instant::now();
    let outcome = read_with_plugin(&target(TargetAbi::LITTLE_64), &layouts(), &image(), &request);
    let most = request.limits.operations;
    assert!(
        matches!(outcome.failure, Some(PluginError::TooMuch { limit, .. }) if limit == most),
        "{:?}",
        outcome.failure
    );
    assert!(start.elapsed() < Duration::from_secs(50), "{:?}", start.elapsed());
}

#[test]
fn texts_beyond_their_bound_are_left_out_and_told() {
    let path = plugin("unterminated");
    let mut request = request(&path, 20.0);
    request.limits.text_bytes = 500;
    let outcome = read_with_plugin(&target(TargetAbi::LITTLE_64), &layouts(), &image(), &request);
    assert_eq!(outcome.failure, None);
    let comm = &outcome.report.communicators[0];
    assert_eq!(comm.pending_sends.operations[0].extra_text.len(), 5);
    assert_eq!(comm.pending_receives.operations[0].extra_text.len(), 0);
    assert!(outcome.report.problems.iter().any(|problem| problem.contains("4 texts")), "{:?}", outcome.report.problems);
}

#[test]
fn a_huge_group_is_not_asked_for() {
    let outcome = run("huge-group");
    assert_eq!(outcome.failure, None);
    assert_eq!(outcome.report.communicators[0].group, None);
    assert!(outcome.report.problems[0].contains("2147483647 ranks is not plausible"), "{:?}", outcome.report.problems);
}

#[test]
fn unterminated_texts_are_bounded_and_garbage_is_not_passed_on() {
    let outcome = run("unterminated");
    assert_eq!(outcome.failure, None);
    let comm = &outcome.report.communicators[0];
    assert_eq!(comm.name, "n".repeat(64));
    let lines = &comm.pending_sends.operations[0].extra_text;
    assert_eq!((lines.len(), lines[0].to_string().len()), (5, 64));

    let outcome = run("garbage-ranks");
    assert_eq!(outcome.failure, None);
    let comm = &outcome.report.communicators[0];
    assert_eq!((comm.local_rank, comm.size, &comm.group), (None, None, &None));
    let op = &comm.pending_sends.operations[0];
    assert_eq!((op.desired_global_rank, op.desired_length), (None, None));
    assert!(op.extra_text.iter().any(|line| line.to_string().contains("1234")), "{op:?}");
}

#[test]
fn messages_are_data() {
    let outcome = run("message");
    assert!(text(&outcome).contains("no queues in /opt/toy/libtoy%n.so: %n%n%s%d 100%"), "{}", text(&outcome));
    assert!(text(&run("wild-message")).contains("toy: no such MPI (error 101)"));
    let long = text(&run("long-message"));
    assert!(long.len() < 5000, "{}", long.len());
    assert!(text(&run("refuse-image")).contains("toy: no such MPI (error 101)"));
    assert!(text(&run("refuse-process")).contains("mqs_setup_process: toy: %s%n%n the list is broken (error 102)"));
    assert!(text(&run("refuse-queues")).contains("the process of '/opt/toy/libtoy%n.so' has not called MPI_Init"));
    assert!(text(&run("refuse-update")).contains("mqs_update_communicator_list"));
    assert_eq!(run("wild-version").info.version, None);
}

#[test]
fn floods_of_output_block_nobody_and_reach_no_terminal() {
    let outcome = run("stdout");
    assert_eq!(outcome.failure, None);
    assert_eq!(outcome.messages, [""; 0]);
    let outcome = run("stderr");
    assert_eq!(outcome.failure, None);
    assert!(outcome.messages.len() <= 101, "{}", outcome.messages.len());
    assert_eq!(outcome.messages[0], "plug-in (stderr): warning %n 0 \\x1b[31m");
    assert!(outcome.messages[100].contains("and more that is not kept"));
}

#[test]
fn wild_addresses_are_counted() {
    let outcome = run("wild-addresses");
    assert_eq!(outcome.failure, None);
    assert!(outcome.failed_reads >= 3000, "{}", outcome.failed_reads);
    assert!(!outcome.first_failed_reads.is_empty() && outcome.first_failed_reads.len() <= 8);
    assert!(outcome.report.problems.iter().any(|problem| problem.contains("reads of the plug-in failed")));
}

#[test]
fn null_and_nonsense_in_callbacks() {
    let outcome = run("null");
    assert_eq!(outcome.failure, None, "{:?}", outcome.messages);
    assert_eq!(outcome.report.communicators.len(), 2);
    assert_eq!(outcome.failed_reads, 5);
}

#[test]
fn versions_and_widths_are_told_with_both_numbers() {
    let refused = text(&run("good -DCOMPATIBILITY=4"));
    assert!(refused.contains("interface version 4") && refused.contains("speaks 2 or 3"), "{refused}");
    let refused = text(&run("good -DWIDTH=4"));
    assert!(refused.contains("addresses of 4 bytes") && refused.contains("uses 8"), "{refused}");
    let refused = text(&run("good -DCOMPATIBILITY=3 -DWITHOUT_MPI2"));
    assert!(refused.contains("mqs_setup_job") && refused.contains("mqs_set_process_identity"), "{refused}");
    assert!(!refused.contains("mqs_get_communicator"), "{refused}");
}

#[test]
fn a_plugin_of_another_series_is_refused_before_it_reads() {
    let path = plugin("other-series");
    let mut request = request(&path, 20.0);
    request.library_version = Some("4.1.4".to_owned());
    let outcome = read_with_plugin(&target(TargetAbi::LITTLE_64), &layouts(), &image(), &request);
    let refused = text(&outcome);
    assert!(refused.contains("Open MPI 9.9.1") && refused.contains("runs 4.1.4"), "{refused}");
    assert_eq!(outcome.report.communicators.len(), 0);
    request.library_version = None;
    let outcome = read_with_plugin(&target(TargetAbi::LITTLE_64), &layouts(), &image(), &request);
    assert_eq!(outcome.failure, None);
}

#[test]
fn missing_types_and_fields_are_named() {
    let refused = text(&run("missing-type"));
    assert!(refused.contains("the type toy_comn") && refused.contains("asked: toy"), "{refused}");
    let refused = text(&run("missing-field"));
    assert!(refused.contains("the field toy_op.clazz"), "{refused}");
}

#[test]
fn files_that_are_no_plugin() {
    let refused = |path: &Path| inspect_plugin(path, seconds(10.0)).map_err(|error| error.to_string()).unwrap_err();
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let text = dir.join("mqs-no-elf.so");
    std::fs::write(&text, "#!/bin/sh\n").expect("a file");
    assert!(refused(&text).contains("not an ELF file"));
    assert!(refused(Path::new("/nonexistent/p.so")).contains("No such file"));
    assert!(refused(dir).contains("not a regular file"));
    let libc = Path::new("/lib/x86_64-linux-gnu/libc.so.6");
    let lacks = refused(libc);
    assert!(lacks.contains("mqs_setup_image") && lacks.contains("mqs_next_operation"), "{lacks}");
    let mut header = std::fs::read(plugin("good")).expect("a plug-in");
    // EI_CLASS: 32 bits.
    header[4] = 1;
    let narrow = dir.join("mqs-32-bit.so");
    std::fs::write(&narrow, &header).expect("a file");
    let told = refused(&narrow);
    assert!(told.contains("32 bits") && told.contains("64 bits for x86_64"), "{told}");
    header[4] = 2;
    // e_machine: AArch64.
    header[18] = 183;
    std::fs::write(&narrow, &header).expect("a file");
    assert!(refused(&narrow).contains("aarch64"), "{}", refused(&narrow));
    header.truncate(700);
    header[18] = 62;
    std::fs::write(&narrow, &header).expect("a file");
    let _ = refused(&narrow);
}

#[test]
fn the_user_can_interrupt() {
    let path = plugin("loop:mqs_next_operation");
    let asked = Cell::new(0);
    let interrupted = || {
        asked.set(asked.get() + 1);
        asked.get() > 30
    };
    let mut request = request(&path, 60.0);
    request.run.interrupted = &interrupted;
    let start = Instant::now();
    let outcome = read_with_plugin(&target(TargetAbi::LITTLE_64), &layouts(), &image(), &request);
    assert!(matches!(outcome.failure, Some(PluginError::Interrupted { place: "mqs_next_operation", .. })));
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    assert_eq!(outcome.report.communicators.len(), 1);
    assert_eq!(helpers_of(&path), [""; 0]);
}

#[test]
fn descriptors_are_given_back() {
    // Each helper has a pidfd here while it runs. Other tests run beside this one, each with one helper at most.
    let count = || {
        let all = std::fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
        let links = all.filter_map(|entry| std::fs::read_link(entry.path()).ok());
        links.filter(|link| link.to_string_lossy().contains("pidfd")).count()
    };
    let path = plugin("good");
    for _ in 0..100 {
        let outcome = read_with_plugin(&target(TargetAbi::LITTLE_64), &layouts(), &image(), &request(&path, 20.0));
        assert_eq!(outcome.failure, None);
    }
    assert!(count() < 64, "{}", count());
}
