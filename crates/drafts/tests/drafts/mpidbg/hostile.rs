//! Hostile plug-ins: each gives a clear sentence, keeps what it had answered, ends in time and leaves no process behind.

use std::cell::Cell;
use std::path::Path;
use std::time::{Duration, Instant};

use drafts::mpidbg::{HandleOutcome, Limits, inspect_handle_plugin, query_handles};
use model::{Handle, HandleState};
use plugins::host::error::PluginError;
use plugins::host::run::Run;
use serde_json::Value;
use target::TargetAbi;

use super::toy::{CART, WORLD, comm, layouts, one, plugin, request, run, target};
use crate::compiled::helpers_of;

fn text(outcome: &HandleOutcome) -> String {
    outcome.failure.as_ref().map(ToString::to_string).unwrap_or_default()
}

fn ask(options: &str, seconds: f64) -> HandleOutcome {
    let path = plugin(options);
    let queries = [comm(WORLD), comm(CART)];
    let outcome = query_handles(&target(TargetAbi::LITTLE_64), &layouts(), &request(&path, &queries, seconds));
    assert_eq!(helpers_of(&path), [""; 0], "{options} left a process behind");
    assert_eq!(outcome.handles.len(), 2, "each query has an answer, whatever happens");
    outcome
}

fn states(outcome: &HandleOutcome) -> Vec<HandleState> {
    outcome.handles.iter().map(|handle| handle.state).collect()
}

fn why<'a>(handle: &'a Handle, fact: &str) -> &'a str {
    assert_eq!(handle.facts.get(fact), Some(&Value::Null), "{fact} of {handle:?}");
    handle.unknown.get(fact).and_then(Value::as_str).unwrap_or_default()
}

#[test]
fn a_crash_in_any_function_names_it_and_keeps_what_was_answered() {
    use HandleState::{Live, Unknown};
    for (function, after) in [
        ("constructor", [Unknown, Unknown]),
        ("mpidbg_init_once", [Unknown, Unknown]),
        ("mpidbg_interface_version_compatibility", [Unknown, Unknown]),
        ("mpidbg_version_string", [Unknown, Unknown]),
        ("mpidbg_init_per_image", [Unknown, Unknown]),
        ("mpidbg_init_per_process", [Unknown, Unknown]),
        ("mpidbg_comm_query", [Unknown, Unknown]),
        // Called to see whether 4 is a Fortran integer or a code.
        ("mpidbg_comm_f2c", [Live, Unknown]),
        ("mpidbg_finalize_per_process", [Live, Live]),
        ("mpidbg_finalize_per_image", [Live, Live]),
    ] {
        let outcome = ask(&format!("crash:{function}"), 20.0);
        let Some(PluginError::Crashed { signal, .. }) = &outcome.failure else { panic!("{function}: {outcome:?}") };
        assert!(signal.starts_with("SIGSEGV"), "{signal}");
        assert!(
            text(&outcome)
                .contains(&format!("crashed in {}", if function == "constructor" { "its" } else { function }))
        );
        assert_eq!(states(&outcome), after, "{function}");
        for handle in outcome.handles.iter().filter(|handle| handle.state == Unknown) {
            assert!(handle.summary.contains("SIGSEGV"), "{}", handle.summary);
        }
    }
}

#[test]
fn an_endless_loop_is_killed_in_time() {
    for function in ["constructor", "mpidbg_init_per_process", "mpidbg_comm_query", "mpidbg_finalize_per_image"] {
        let start = Instant::now();
        let outcome = ask(&format!("loop:{function}"), 1.0);
        assert!(start.elapsed() < Duration::from_secs(30), "{function}: {:?}", start.elapsed());
        assert!(matches!(outcome.failure, Some(PluginError::TimedOut { .. })), "{function}: {outcome:?}");
        assert!(text(&outcome).contains("within 1 s"), "{}", text(&outcome));
        let answered = function == "mpidbg_finalize_per_image";
        assert_eq!(outcome.handles[1].state == HandleState::Live, answered, "{function}");
    }
}

#[test]
fn ways_to_end_the_process() {
    for (variant, word) in [
        ("abort:mpidbg_comm_query", "SIGABRT"),
        ("exit:mpidbg_comm_query", "called exit"),
        ("kill:mpidbg_comm_query", "was killed"),
        ("close:mpidbg_comm_query", "closed the connection"),
        ("exit:constructor", "called exit"),
    ] {
        let outcome = ask(variant, 20.0);
        assert!(text(&outcome).contains(word), "{variant}: {}", text(&outcome));
        assert_eq!(states(&outcome), [HandleState::Unknown; 2]);
    }
}

#[test]
fn a_plugin_that_calls_itself_without_end_crashes_alone() {
    assert!(text(&ask("reenter", 20.0)).contains("crashed in mpidbg_comm_query (SIGSEGV"));
}

#[test]
fn the_user_can_interrupt() {
    let path = plugin("loop:mpidbg_comm_query");
    let asked = Cell::new(0);
    let interrupted = || {
        asked.set(asked.get() + 1);
        asked.get() > 10
    };
    let queries = [comm(WORLD)];
    let mut request = request(&path, &queries, 60.0);
    request.run.interrupted = &interrupted;
    let outcome = query_handles(&target(TargetAbi::LITTLE_64), &layouts(), &request);
    assert!(
        matches!(outcome.failure, Some(PluginError::Interrupted { place: "mpidbg_comm_query", .. })),
        "{outcome:?}"
    );
    assert_eq!(helpers_of(&path), [""; 0]);
}

#[test]
fn versions_widths_and_machines() {
    for (options, words) in [
        ("good -DINTERFACE=2", "has interface version 2, this debugger speaks 1"),
        ("good -DINTERFACE=0", "has interface version 0"),
        ("good -DWIDTH=4", "target addresses of 4 bytes, this debugger uses 8"),
        ("good -DBITS=32", "of 32 bits, but this debugger needs one of 64 bits"),
        ("good -DBIG=1", "big-endian, but this debugger needs one of 64 bits, little-endian"),
    ] {
        let outcome = ask(options, 20.0);
        assert!(text(&outcome).contains(words), "{options}: {}", text(&outcome));
        assert_eq!(states(&outcome), [HandleState::Unknown; 2]);
    }
}

#[test]
fn a_plugin_of_another_series_is_refused() {
    let path = plugin("other-series");
    let queries = [comm(WORLD)];
    let mut request = request(&path, &queries, 20.0);
    request.library_version = Some("4.1.4".to_owned());
    let outcome = query_handles(&target(TargetAbi::LITTLE_64), &layouts(), &request);
    assert!(text(&outcome).contains("made for Open MPI 9.9.1, but the process runs 4.1.4"), "{}", text(&outcome));
    assert_eq!((outcome.answered, outcome.handles.len()), (0, 1));
}

#[test]
fn missing_functions() {
    let refused = text(&ask("good -DWITHOUT_FINALIZE", 20.0));
    assert!(refused.contains("is not a usable handle plug-in"), "{refused}");
    assert!(refused.contains("mpidbg_finalize_per_image, mpidbg_finalize_per_process"), "{refused}");
    assert!(!refused.contains("mpidbg_comm_query"), "{refused}");
    let outcome = ask("good -DWITHOUT_QUERIES", 20.0);
    assert_eq!(outcome.failure, None);
    assert_eq!(states(&outcome), [HandleState::Unknown; 2]);
    assert!(outcome.handles[0].summary.contains("it lacks the function"), "{}", outcome.handles[0].summary);
    let libc = Path::new("/lib/x86_64-linux-gnu/libc.so.6");
    let refused = inspect_handle_plugin(libc, Run::within(Duration::from_secs(5))).unwrap_err().to_string();
    assert!(refused.contains("mpidbg_init_once"), "{refused}");
}

#[test]
fn refusals_and_codes_are_told_in_words() {
    for (variant, words) in [
        ("refuse-once", "failed in mpidbg_init_once: no memory (error 5)"),
        ("refuse-image", "does not tell of handles in this image: not supported (error 2)"),
        ("refuse-process", "does not tell of handles in this process: not supported (error 2)"),
        ("error-image", "failed in mpidbg_init_per_image: error 99, which the interface does not have"),
        ("missing-type", "needs the type ompi_comn_t"),
        ("missing-field", "needs the field ompi_communicator_t.c_nome"),
    ] {
        let outcome = ask(variant, 20.0);
        assert!(text(&outcome).contains(words), "{variant}: {}", text(&outcome));
    }
    for (code, state, words) in [
        (1, HandleState::Invalid, "not an MPI_Comm: the plug-in says: not found"),
        (2, HandleState::Unknown, "not supported (error 2)"),
        (4, HandleState::Unknown, "not available (error 4)"),
        (5, HandleState::Unknown, "no memory (error 5)"),
        (77, HandleState::Unknown, "error 77, which the interface does not have"),
        (-1, HandleState::Unknown, "error -1, which the interface does not have"),
    ] {
        let handle = one(&format!("code={code}"), comm(WORLD));
        assert_eq!(handle.state, state, "{code}");
        assert!(handle.summary.contains(words), "{}", handle.summary);
    }
}

#[test]
fn arrays_are_taken_only_where_they_are_the_plugins_and_long_enough() {
    for (variant, words) in [
        ("huge-count", "2147483647 entries are not plausible"),
        ("negative-count", "-7 entries are not plausible"),
        ("more-than-room", "counts 104 entries where it has room for 4"),
        ("dangling", "has not allocated, or has freed"),
        ("wild", "has not allocated, or has freed"),
        ("foreign", "has not allocated, or has freed"),
        ("no-group", "counts 4 entries and delivers none"),
    ] {
        let handle = one(variant, comm(WORLD));
        // The rest of what it says still counts.
        assert_eq!((handle.state, handle.facts["rank"].as_i64()), (HandleState::Live, Some(1)), "{variant}");
        assert!(why(&handle, "group").contains(words), "{variant}: {}", why(&handle, "group"));
        assert!(why(&handle, "world_rank").contains("does not give it"), "{variant}");
    }
    for (variant, words) in [("many-attributes", "are not plausible"), ("no-attributes", "")] {
        let handle = one(variant, comm(WORLD));
        if words.is_empty() {
            assert_eq!(handle.facts["attributes"].as_array().map(Vec::len), Some(0), "{variant}");
        } else {
            assert!(why(&handle, "attributes").contains(words), "{variant}: {handle:?}");
        }
    }
}

#[test]
fn results_that_are_none() {
    for (variant, words) in [
        ("no-result", "it succeeded, and delivers nothing"),
        ("short-result", "has 24 bytes where the interface has 224"),
        ("foreign-result", "has not allocated, or has freed"),
        ("other-handle", "answers about 0x101008"),
        ("wild-reads", "reads of the plug-in failed while it looked at it, and it takes zeros instead"),
    ] {
        let handle = one(variant, comm(WORLD));
        assert_eq!(handle.state, HandleState::Unknown, "{variant}");
        assert!(handle.summary.contains(words), "{variant}: {}", handle.summary);
        assert_eq!(handle.facts.keys().collect::<Vec<_>>(), ["told_by"], "{variant}");
    }
}

#[test]
fn what_contradicts_itself_is_not_known() {
    let both = one("two-topologies", comm(CART));
    assert!(why(&both, "topology").contains("several at once"));
    let rank = one("bad-rank", comm(CART));
    assert!(why(&rank, "rank").contains("6 of 3"), "{}", why(&rank, "rank"));
    assert_eq!(rank.summary, "\"grid\\x1b of %n\", of 3");
    // The Fortran integer 4 is another object's: the code for "not available" is meant.
    let fortran = one("bad-fortran", comm(WORLD));
    assert_eq!(fortran.fortran, None);
    assert!(fortran.unknown["fortran"].as_str().is_some_and(|why| why.contains("not available")));
}

#[test]
fn texts_are_bounded_and_made_printable() {
    let path = plugin("unterminated");
    let queries = [comm(WORLD)];
    let outcome = query_handles(&target(TargetAbi::LITTLE_64), &layouts(), &request(&path, &queries, 20.0));
    assert_eq!(outcome.failure, None);
    assert_eq!(outcome.info.version.as_deref().map(str::len), Some(4096));
    let handle = &outcome.handles[0];
    assert_eq!(handle.name.as_deref(), Some("n".repeat(64).as_str()));
    let attributes = handle.facts["attributes"].as_array().expect("a list");
    assert_eq!(attributes.len(), 3);
    assert_eq!(attributes[0]["name"].as_str().map(str::len), Some(4096));
    assert_eq!((&attributes[1]["value"], &attributes[1]["predefined"]), (&Value::Null, &Value::Bool(false)));
    assert_eq!(attributes[2]["value"], "\\x1b[31m%n");
    assert_eq!(run("wild-version", &[]).info.version, None);
}

#[test]
fn lists_of_names_end() {
    for (variant, names) in [("wild-map", 0), ("endless-map", 1000), ("full-map", 2)] {
        let outcome = run(variant, &[comm(WORLD)]);
        assert_eq!((outcome.failure, outcome.handles[0].state), (None, HandleState::Live), "{variant}");
        let found = outcome.info.names.iter().filter(|(kind, ..)| kind.word() == "errhandler").count();
        assert_eq!(found, names, "{variant}");
    }
    let outcome = run("wild-type", &[]);
    assert_eq!(outcome.failure, None);
    assert!(outcome.info.types.iter().all(|(name, _)| *name != "MPI_Errhandler"), "{:?}", outcome.info.types);
}

#[test]
fn floods_reach_no_terminal_and_memory_is_bounded() {
    let outcome = ask("stdout", 20.0);
    assert_eq!((outcome.failure, outcome.messages.len()), (None, 0));
    let outcome = ask("stderr", 20.0);
    assert_eq!(outcome.failure, None);
    assert!(outcome.messages.len() <= 101 && outcome.messages[0] == "plug-in (stderr): warning %n 0 \\x1b[31m");
    let handle = one("eat-memory", comm(WORLD));
    assert!(handle.summary.contains("no memory"), "{}", handle.summary);
}

#[test]
fn callbacks_take_nonsense_and_free_only_what_they_gave() {
    for variant in ["free-all", "null"] {
        let outcome = ask(variant, 20.0);
        assert_eq!((states(&outcome), &outcome.failure), (vec![HandleState::Live; 2], &None), "{variant}");
        let problems = outcome.handles.iter().flat_map(|handle| &handle.problems);
        let told = problems.filter(|problem| problem.contains("1 reads of the plug-in failed while it was set up"));
        assert_eq!(told.count(), if variant == "null" { 2 } else { 0 }, "{variant}");
    }
}

#[test]
fn answers_beyond_the_bound_end_the_run() {
    let path = plugin("good");
    let queries = [comm(WORLD), comm(CART)];
    let mut request = request(&path, &queries, 20.0);
    request.limits = Limits { bytes: 600, ..Limits::default() };
    let outcome = query_handles(&target(TargetAbi::LITTLE_64), &layouts(), &request);
    assert!(matches!(outcome.failure, Some(PluginError::TooMuch { limit: 600, .. })), "{outcome:?}");
    assert_eq!(states(&outcome), [HandleState::Live, HandleState::Unknown]);
}
