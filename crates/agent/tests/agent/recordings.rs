//! The agent on the recording of the demo, and on files that are none.

use crate::support::{agent, demo, json, said};

#[test]
fn the_demo_is_a_deadlock_and_its_ranks_are_shown() {
    let file = demo();
    let shown = agent(&["show", "--recording", &file]);
    assert_eq!((shown.status.code(), said(&shown)), (Some(0), String::new()));
    let processes = json(&shown)["processes"].as_array().unwrap().clone();
    let ranks: Vec<_> = processes.iter().map(|process| process["rank"].as_i64()).collect();
    assert_eq!(ranks, [Some(0), Some(1), Some(2)]);
    assert!(processes.iter().all(|process| process["source"]["via"] == "recording"));
    let diagnosed = agent(&["diagnose", "--recording", &file]);
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
    let none = agent(&["diagnose", "--recording", "/nonexistent/\u{1b}[31m.mpirec"]);
    assert_eq!(none.status.code(), Some(3));
    assert!(
        said(&none).contains("/nonexistent/\\x1b[31m.mpirec") && !said(&none).contains('\u{1b}'),
        "{}",
        said(&none)
    );
    assert_eq!(json(&none)["verdict"]["state"].as_str(), Some("unknown"));
    let both = agent(&["show", "--recording", &file, "--recording", "/dev/zero"]);
    assert_eq!((both.status.code(), json(&both)["processes"].as_array().map(Vec::len)), (Some(1), Some(3)));
    assert!(said(&both).contains("/dev/zero"), "{}", said(&both));
}

#[test]
fn stacks_are_one_tree_of_all_ranks() {
    let output = agent(&["stacks", "--recording", &demo()]);
    let told = json(&output);
    assert_eq!((output.status.code(), told["stacks"]["ranks"].as_str()), (Some(0), Some("0-2")), "{}", said(&output));
    assert_eq!(told["stacks"]["nodes"][0]["function"].as_str(), Some("main"));
}

#[test]
fn two_recordings_are_one_snapshot_and_a_file_that_is_damaged_is_told_with_what_to_type() {
    let twice = agent(&["show", "--recording", &demo(), "--recording", &demo()]);
    // Named twice, it is read once.
    assert_eq!(json(&twice)["processes"].as_array().map(Vec::len), Some(3));
    let none = agent(&["stacks", "--recording", "/etc/passwd"]);
    assert_eq!(none.status.code(), Some(3));
    let help = "make one: mpi-queues record --pid PID -o FILE";
    assert!(
        said(&none).contains(&format!("/etc/passwd is not a recording of mpi-queues\n{help}\n")),
        "{}",
        said(&none)
    );
    let problem = json(&none)["problems"][0].clone();
    assert_eq!(problem, format!("/etc/passwd is not a recording of mpi-queues; {help}"));
}
