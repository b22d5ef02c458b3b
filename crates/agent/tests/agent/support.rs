//! Runs the agent.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

pub fn command(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mpi-queues-agent"));
    command.args(words);
    command
}

pub fn agent(words: &[&str]) -> Output {
    command(words).output().unwrap()
}

/// The recording of the demo.
pub fn demo() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/mpi_queues/data/demo.mpirec");
    path.to_str().unwrap().to_owned()
}

pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

pub fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}
