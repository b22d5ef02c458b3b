//! Command lines.

use crate::support::{agent, demo, said};

#[test]
fn a_command_line_without_sense_says_what_to_type() {
    let output = agent(&["show"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).ends_with("type: mpi-queues-agent --help\n"), "{}", said(&output));
    assert!(output.stdout.is_empty());
}

#[test]
fn the_help_and_the_version_are_printed() {
    let help = agent(&["--help"]);
    let text = String::from_utf8(help.stdout).unwrap();
    assert_eq!((help.status.code(), text.starts_with("usage: mpi-queues-agent ")), (Some(0), true));
    let version = agent(&["--version"]);
    assert_eq!(version.stdout, concat!("mpi-queues-agent ", env!("CARGO_PKG_VERSION"), "\n").as_bytes());
}

#[test]
fn a_profile_that_is_none_is_named() {
    let output = agent(&["show", "--recording", &demo(), "--layouts", "/etc/passwd"]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(said(&output).contains("cannot use the layout profile /etc/passwd: "), "{}", said(&output));
}
