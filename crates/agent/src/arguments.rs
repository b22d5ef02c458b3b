//! What the agent is asked.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::time::Duration;

use target::Reason;

/// What `--help` prints.
pub const HELP: &str = "\
usage: mpi-queues-agent show|diagnose|stacks|record TARGET... [OPTION...]

Reads MPI processes of this machine without Python and without a debugger. Live ones are stopped
together while they are read, and go on.

  show             the JSON of: mpi-queues show --format json
  stacks           the JSON of: mpi-queues stacks --format json
  diagnose         the JSON of: mpi-queues diagnose --once --format json
                   (one look only: to have live processes read twice, use mpi-queues diagnose)
  record           all processes as one recording, for mpi-queues COMMAND --recording FILE

targets, each may be repeated, and mixed with the others:
  --pid PID        a live process
  --core CORE      a core file
  --exe EXE        the program of the core file before it (default: as the core says)
  --recording FILE what record wrote, here or on another node

options:
  -o, --output FILE
                   record: the file to write; - is standard output (the default)
  --internal       show: also operations of MPI itself; stacks: all frames, and with --threads all
                   threads
  --threads        stacks: all threads but those of the MPI library, not the main ones only
  --wrappers NAMES libraries (libhalo.so) and functions (halo::, comm_*) that wrap MPI, separated by
                   commas (default: $MPI_QUEUES_WRAPPERS)
  --layouts FILE   a layout profile instead of the shipped ones
  --timeout SECONDS
                   limit for all live processes, which stand meanwhile, and for each core file
                   (default: 60)
  -h, --help       this text
  --version        the version

Exit status: 0 done; 1 done, and something could not be read (told on standard error); 2 bad usage;
3 nothing could be read.

examples:
  mpi-queues-agent show --pid 4242
  mpi-queues-agent diagnose $(pgrep my_solver | sed s/^/--pid=/) | jq .verdict.headline
  ssh node7 'mpi-queues-agent record $(pgrep my_solver | sed s/^/--pid=/)' > node7.mpirec
  mpi-queues diagnose --recording node7.mpirec --recording node8.mpirec
";

/// What is wanted of the processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// Their queues.
    Show,
    /// Why they are stuck.
    Diagnose,
    /// Where they stand.
    Stacks,
    /// All of that for later.
    Record,
    /// The objects behind their handles. Only fronts ask for these.
    Handles,
}

impl Command {
    const ALL: [(&'static str, Self); 4] =
        [("show", Self::Show), ("diagnose", Self::Diagnose), ("stacks", Self::Stacks), ("record", Self::Record)];

    fn of(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(name, _)| *name == word).map(|(_, command)| *command)
    }
}

/// What is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A live process.
    Pid(u32),
    /// A core file, and its program where the user has named it.
    Core(PathBuf, Option<PathBuf>),
    /// All processes of a recording.
    Recording(PathBuf),
}

/// A command with what it is about.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// What is wanted.
    pub command: Command,
    /// What is read, each once.
    pub sources: Vec<Source>,
    /// Where a recording goes; `None`: to standard output.
    pub output: Option<PathBuf>,
    /// Also what is the MPI's own.
    pub internal: bool,
    /// All threads.
    pub threads: bool,
    /// What wraps MPI, besides what is known; `None`: as the environment says.
    pub wrappers: Option<String>,
    /// A layout profile.
    pub layouts: Option<PathBuf>,
    /// How long reading may take.
    pub timeout: Duration,
}

/// What a command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub enum Asked {
    /// The help.
    Help,
    /// The version.
    Version,
    /// To read something.
    Reading(Request),
}

/// The request of a command line without its first word.
///
/// # Errors
/// What is wrong with it, in a sentence.
pub fn parse(words: impl Iterator<Item = OsString>) -> Result<Asked, Reason> {
    let mut words = words;
    let mut command = None;
    let mut request = Request {
        command: Command::Show,
        sources: Vec::new(),
        output: None,
        internal: false,
        threads: false,
        wrappers: None,
        layouts: None,
        timeout: Duration::from_secs(60),
    };
    let mut output = false;
    while let Some(word) = words.next() {
        let (name, attached) = split(&word);
        let mut value = || attached.clone().or_else(|| words.next()).ok_or_else(|| missing(&name));
        match (name.as_str(), command) {
            ("--pid", _) => add(&mut request.sources, Source::Pid(pid(&value()?)?)),
            ("--core", _) => add(&mut request.sources, Source::Core(value()?.into(), None)),
            ("--recording", _) => add(&mut request.sources, Source::Recording(value()?.into())),
            ("--exe", _) => match request.sources.last_mut() {
                Some(Source::Core(_, program @ None)) => *program = Some(value()?.into()),
                _ => {
                    return Err(Reason::new(
                        "--exe: it must follow the core file that it belongs to: --core CORE --exe EXE",
                    ));
                }
            },
            ("-o" | "--output", _) => {
                output = true;
                request.output = Some(PathBuf::from(value()?)).filter(|path| path != OsStr::new("-"));
            }
            ("--timeout", _) => request.timeout = seconds(&value()?)?,
            ("--layouts", _) => request.layouts = Some(value()?.into()),
            ("--wrappers", _) => request.wrappers = Some(value()?.to_string_lossy().into_owned()),
            _ if attached.is_some() => return Err(not_understood(&word)),
            ("-h" | "--help", _) => return Ok(Asked::Help),
            ("--version", _) => return Ok(Asked::Version),
            ("--internal", _) => request.internal = true,
            ("--threads", _) => request.threads = true,
            (word_of_command, None) if Command::of(word_of_command).is_some() => command = Command::of(word_of_command),
            _ => return Err(not_understood(&word)),
        }
    }
    let Some(command) = command else {
        return Err(Reason::new("name a command: show, diagnose, stacks or record"));
    };
    request.command = command;
    let misplaced = [
        ("--output", output && command != Command::Record, "record"),
        ("--threads", request.threads && command != Command::Stacks, "stacks"),
        ("--internal", request.internal && !matches!(command, Command::Show | Command::Stacks), "show and stacks"),
    ];
    if let Some((option, _, of)) = misplaced.iter().find(|(_, wrong, _)| *wrong) {
        return Err(Reason::new(format!("{option}: an option of {of} only")));
    }
    if request.sources.is_empty() {
        return Err(Reason::new("name what to read: --pid PID, --core CORE --exe EXE, --recording FILE"));
    }
    Ok(Asked::Reading(request))
}

/// An option, and the value that is attached to it: `--pid=4242`.
fn split(word: &OsStr) -> (String, Option<OsString>) {
    let bytes = word.as_bytes();
    match bytes.iter().position(|byte| *byte == b'=').filter(|_| bytes.starts_with(b"--")) {
        Some(at) => {
            let value = OsString::from_vec(bytes[at + 1..].to_vec());
            (String::from_utf8_lossy(&bytes[..at]).into_owned(), Some(value))
        }
        None => (word.to_string_lossy().into_owned(), None),
    }
}

/// What is named twice is read once.
fn add(sources: &mut Vec<Source>, source: Source) {
    // An --exe may follow, and belong to this core file only.
    if matches!(source, Source::Core(..)) || !sources.contains(&source) {
        sources.push(source);
    }
}

fn pid(word: &OsStr) -> Result<u32, Reason> {
    let number = word.to_str().and_then(|word| word.parse::<u32>().ok()).filter(|pid| (1..1 << 31).contains(pid));
    number.ok_or_else(|| Reason::new(format!("--pid {}: not a process id", shown(word))))
}

fn seconds(word: &OsStr) -> Result<Duration, Reason> {
    let number = word.to_str().and_then(|word| word.parse::<f64>().ok()).filter(|number| *number > 0.0);
    let seconds =
        number.filter(|number| *number <= 86400.0).and_then(|number| Duration::try_from_secs_f64(number).ok());
    seconds
        .ok_or_else(|| Reason::new(format!("--timeout {}: not a number of seconds between 0 and 86400", shown(word))))
}

fn missing(option: &str) -> Reason {
    Reason::new(format!("{option}: it needs a value"))
}

fn not_understood(word: &OsStr) -> Reason {
    Reason::new(format!("{}: not understood", shown(word)))
}

fn shown(word: &OsStr) -> String {
    target::printable(word.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Asked, String> {
        parse(line.split_whitespace().map(OsString::from)).map_err(|reason| reason.to_string())
    }

    fn reading(line: &str) -> Result<Request, String> {
        match parsed(line)? {
            Asked::Reading(request) => Ok(request),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn a_command_and_its_targets() {
        let found = reading("diagnose --pid 7 --core c --exe e --core d --recording=r --pid=7 --timeout 0.5");
        let sources = vec![
            Source::Pid(7),
            Source::Core("c".into(), Some("e".into())),
            Source::Core("d".into(), None),
            Source::Recording("r".into()),
        ];
        let (timeout, internal, threads) = (Duration::from_millis(500), false, false);
        let (output, wrappers, layouts, command) = (None, None, None, Command::Diagnose);
        let expected = Request { command, sources, output, internal, threads, wrappers, layouts, timeout };
        assert_eq!(found, Ok(expected));
        assert_eq!(parsed("show --help"), Ok(Asked::Help));
        assert_eq!(parsed("--version"), Ok(Asked::Version));
    }

    #[test]
    fn options_go_before_the_command_and_behind_it() {
        let found = reading("--pid 7 stacks --threads --internal --wrappers a,b --layouts l");
        let found = found.map(|one| (one.command, one.threads, one.internal, one.wrappers, one.layouts));
        let expected = (Command::Stacks, true, true, Some("a,b".to_owned()), Some(PathBuf::from("l")));
        assert_eq!(found, Ok(expected));
        for (line, output) in [("", None), ("-o -", None), ("-o f", Some("f")), ("--output=f", Some("f"))] {
            let found = reading(&format!("record --pid 7 {line}")).map(|one| one.output);
            assert_eq!(found, Ok(output.map(PathBuf::from)), "{line}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        let none = "name what to read: --pid PID, --core CORE --exe EXE, --recording FILE";
        for (line, said) in [
            ("", "name a command: show, diagnose, stacks or record"),
            ("--pid 7", "name a command: show, diagnose, stacks or record"),
            ("show", none),
            ("show --recording", "--recording: it needs a value"),
            ("show show", "show: not understood"),
            ("show --internal=1", "--internal=1: not understood"),
            ("show \u{1b}[31m", "\\x1b[31m: not understood"),
            ("show --pid 0", "--pid 0: not a process id"),
            ("show --pid -1", "--pid -1: not a process id"),
            ("show --pid 2147483648", "--pid 2147483648: not a process id"),
            ("show --pid \u{1b}", "--pid \\x1b: not a process id"),
            ("show --exe e", "--exe: it must follow the core file that it belongs to: --core CORE --exe EXE"),
            (
                "show --core c --exe e --exe f",
                "--exe: it must follow the core file that it belongs to: --core CORE --exe EXE",
            ),
            ("show --pid 7 --timeout 0", "--timeout 0: not a number of seconds between 0 and 86400"),
            ("show --pid 7 --timeout nan", "--timeout nan: not a number of seconds between 0 and 86400"),
            ("show --pid 7 --timeout 1e9", "--timeout 1e9: not a number of seconds between 0 and 86400"),
            ("show --pid 7 -o f", "--output: an option of record only"),
            ("show --pid 7 --threads", "--threads: an option of stacks only"),
            ("record --pid 7 --internal", "--internal: an option of show and stacks only"),
        ] {
            assert_eq!(parsed(line), Err(said.to_owned()), "{line}");
        }
    }

    #[test]
    fn no_line_of_the_help_is_wider_than_people_read() {
        assert!(HELP.lines().all(|line| line.chars().count() <= 100), "{HELP}");
    }
}
