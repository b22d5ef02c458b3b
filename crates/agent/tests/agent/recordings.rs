//! The agent on the recording of the demo, on files that are none, and on command lines that make no sense.

#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn agent(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mpi-queues-agent")).args(words).output().unwrap()
}

fn demo() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/mpi_queues/data/demo.mpirec")
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn the_demo_is_a_deadlock_and_its_ranks_are_shown() {
    let file = demo();
    let file = file.to_str().unwrap();
    let shown = agent(&["show", "--recording", file]);
    assert_eq!((shown.status.code(), said(&shown)), (Some(0), String::new()));
    let processes = json(&shown)["processes"].as_array().unwrap().clone();
    let ranks: Vec<_> = processes.iter().map(|process| process["rank"].as_i64()).collect();
    assert_eq!(ranks, [Some(0), Some(1), Some(2)]);
    assert!(processes.iter().all(|process| process["source"]["via"] == "recording"));
    let diagnosed = agent(&["diagnose", "--recording", file]);
    let told = json(&diagnosed);
    assert_eq!((diagnosed.status.code(), told["verdict"]["state"].as_str()), (Some(0), Some("deadlock")));
    let finding = &told["diagnosis"][told["verdict"]["finding"].as_u64().unwrap() as usize];
    // The cause, and the circle that follows from it.
    assert_eq!((finding["kind"].as_str(), finding["certain"].as_bool()), (Some("tag mismatch"), Some(true)));
    let kinds: Vec<_> = told["diagnosis"].as_array().unwrap().iter().map(|one| one["kind"].as_str()).collect();
    assert!(kinds.contains(&Some("deadlock")), "{kinds:?}");
}

#[test]
fn what_cannot_be_read_is_named_and_the_rest_is_there() {
    let file = demo();
    let file = file.to_str().unwrap();
    let none = agent(&["diagnose", "--recording", "/nonexistent/\u{1b}[31m.mpirec"]);
    assert_eq!(none.status.code(), Some(3));
    assert!(
        said(&none).contains("/nonexistent/\\x1b[31m.mpirec") && !said(&none).contains('\u{1b}'),
        "{}",
        said(&none)
    );
    assert_eq!(json(&none)["verdict"]["state"].as_str(), Some("unknown"));
    let both = agent(&["show", "--recording", file, "--recording", "/dev/zero"]);
    assert_eq!((both.status.code(), json(&both)["processes"].as_array().map(Vec::len)), (Some(1), Some(3)));
    assert!(said(&both).contains("/dev/zero"), "{}", said(&both));
}

#[test]
fn a_command_line_without_sense_says_what_to_type() {
    let output = agent(&["show"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).ends_with("type: mpi-queues-agent --help\n"), "{}", said(&output));
    assert!(output.stdout.is_empty());
}
