//! Live processes that are no ranks, and that cannot be read.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{agent, json, said};
use native::{Stopped, status};

struct Sleeper(Child);

impl Sleeper {
    fn new() -> Self {
        let child = Command::new("sleep").arg("1000").stdin(Stdio::null()).spawn().unwrap();
        // Until then it is a copy of this test.
        while !matches!(std::fs::read(format!("/proc/{}/comm", child.id())).as_deref(), Ok(b"sleep\n")) {}
        Self(child)
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }

    /// Its state, as soon as it does not run: one that was let go does for a moment.
    fn state(&self) -> Option<char> {
        let end = Instant::now() + Duration::from_secs(20);
        loop {
            let found = status(self.0.id()).map(|found| found.state);
            if found != Some('R') || Instant::now() > end {
                return found;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What is said of a process that is not read, as people and as programs read it.
fn refused(pid: &str) -> String {
    let output = agent(&["show", "--pid", pid]);
    assert_eq!(output.status.code(), Some(3), "{}", said(&output));
    let told = json(&output);
    assert_eq!(told["processes"].as_array().map(Vec::len), Some(0));
    let text = said(&output);
    let text = text.strip_prefix("mpi-queues-agent: ").unwrap().trim_end().to_owned();
    assert_eq!(told["problems"][0], text.replace('\n', "; "));
    text
}

#[test]
fn a_process_without_an_mpi_is_named_and_goes_on() {
    let sleeper = Sleeper::new();
    let pid = sleeper.pid();
    let text = refused(&pid);
    assert!(text.starts_with(&format!("pid {pid}: ")) && text.contains("is not an MPI process"), "{text}");
    assert_eq!(sleeper.state(), Some('S'));
    // It has stacks all the same.
    let output = agent(&["stacks", "--pid", &pid]);
    let told = json(&output);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(told["processes"][0]["state"], "sleeping");
    assert!(told["stacks"]["nodes"].as_array().is_some_and(|nodes| !nodes.is_empty()), "{told}");
    assert_eq!(sleeper.state(), Some('S'));
    // It cannot be recorded; the demo with it can.
    let output = agent(&["record", "--pid", &pid]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(3), 0));
    let both = agent(&["show", "--pid", &pid, "--recording", &crate::support::demo()]);
    assert_eq!((both.status.code(), json(&both)["processes"].as_array().map(Vec::len)), (Some(1), Some(3)));
    assert!(json(&both)["problems"][0].as_str().unwrap().contains("is not an MPI process"));
}

#[test]
fn what_is_no_process_is_named() {
    assert!(refused("2147483647").contains("no such process\nto find the ranks of a job, type: pgrep"));
    let mut ended = Command::new("true").spawn().unwrap();
    let pid = ended.id().to_string();
    while status(ended.id()).is_some_and(|found| found.state != 'Z') {}
    assert!(refused(&pid).contains("a zombie: the process has ended"));
    ended.wait().unwrap();
    assert!(refused(&pid).contains("no such process"));
    // A thread of this test.
    let (tell, told) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let link = std::fs::read_link("/proc/thread-self").unwrap();
        tell.send(link.file_name().unwrap().to_str().unwrap().to_owned()).unwrap();
        let _ = ended.recv();
    });
    let own = std::process::id();
    assert!(refused(&told.recv().unwrap()).ends_with(&format!("a thread of the process {own}\ntype: --pid {own}")));
    drop(end);
    thread.join().unwrap();
}

#[test]
fn one_that_somebody_traces_is_left_to_him() {
    let sleeper = Sleeper::new();
    let (held, failures) = Stopped::all(&[sleeper.0.id()], Duration::from_secs(20));
    assert_eq!(failures, []);
    let text = refused(&sleeper.pid());
    assert!(text.contains("already traced by pid ") && text.ends_with("type in it: mpi queues"), "{text}");
    drop(held);
    assert_eq!(sleeper.state(), Some('S'));
}

#[test]
fn core_files_that_are_none_are_named() {
    let output = agent(&["show", "--core", "/etc/passwd"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(said(&output).contains("/etc/passwd: not a core file"), "{}", said(&output));
    let output = agent(&["show", "--core", "/dev/zero", "--exe", "/bin/true"]);
    assert_eq!(output.status.code(), Some(3));
    assert!(said(&output).contains("/dev/zero: not a core file, but "), "{}", said(&output));
}
