//! What the agent is asked.

use std::ffi::OsString;
use std::path::PathBuf;
use target::Reason;

/// What `--help` prints.
pub const HELP: &str = "\
usage: mpi-queues-agent show|diagnose --recording FILE [--recording FILE ...]

Prints the JSON that `mpi-queues show` and `mpi-queues diagnose` print with --format json, without Python and without a
debugger. So far it reads recordings.

Exit status: 0 done; 1 done, and something could not be read; 2 bad usage; 3 nothing could be read.

example: mpi-queues-agent diagnose --recording hang.mpirec
";

/// What is wanted of the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Their queues.
    Show,
    /// Why they are stuck.
    Diagnose,
}

/// A command and its targets.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// What is wanted.
    pub command: Command,
    /// The recordings.
    pub recordings: Vec<PathBuf>,
}

/// The request of a command line without its first word; `None`: the help.
///
/// # Errors
/// What is wrong with it, in a sentence.
pub fn parse(words: impl Iterator<Item = OsString>) -> Result<Option<Request>, Reason> {
    let mut words = words;
    let mut command = None;
    let mut recordings = Vec::new();
    while let Some(word) = words.next() {
        match (word.to_str(), command) {
            (Some("-h" | "--help"), _) => return Ok(None),
            (Some("show"), None) => command = Some(Command::Show),
            (Some("diagnose"), None) => command = Some(Command::Diagnose),
            (Some("--recording"), _) => {
                recordings.push(words.next().ok_or("--recording: name a file behind it")?.into());
            }
            _ => return Err(Reason::new(format!("{}: not understood", word.to_string_lossy().escape_debug()))),
        }
    }
    match command {
        None => Err(Reason::new("say what is wanted: show or diagnose")),
        Some(_) if recordings.is_empty() => Err(Reason::new("name what is to be read: --recording FILE")),
        Some(command) => Ok(Some(Request { command, recordings })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Option<Request>, String> {
        parse(line.split_whitespace().map(OsString::from)).map_err(|reason| reason.to_string())
    }

    #[test]
    fn a_command_and_its_recordings() {
        let recordings = vec![PathBuf::from("a"), PathBuf::from("b")];
        let expected = Request { command: Command::Diagnose, recordings };
        assert_eq!(parsed("diagnose --recording a --recording b"), Ok(Some(expected)));
        assert_eq!(parsed("show --help"), Ok(None));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (line, said) in [
            ("", "say what is wanted: show or diagnose"),
            ("show", "name what is to be read: --recording FILE"),
            ("show --recording", "--recording: name a file behind it"),
            ("show show", "show: not understood"),
            ("show \u{1b}[31m", "\\u{1b}[31m: not understood"),
        ] {
            assert_eq!(parsed(line), Err(said.to_owned()));
        }
    }
}
