//! Who is alive, and where `/proc` has what is alive (proc(5)): one answer for all that asks.
//!
//! A process lives as long as one of its threads does. Its main thread may end before the others (`pthread_exit`, thrd_exit):
//! it is told as a zombie then, and what `/proc` has under its number is empty (the kernel gives up memory and files of a thread that
//! ends), but all of it stands under the numbers of the other threads.

use std::fs;
use std::path::{Path, PathBuf};

/// Where the kernel's processes are.
pub const PROC: &str = "/proc";

/// More threads are not asked whether they live.
const MAX_THREADS: usize = 1 << 15;

/// A thread by which a process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Living {
    /// Its number: that of the process for the main thread.
    pub thread: u32,
    /// The letter of its state: `R`, `S`, `D`, `T`, `t`.
    pub state: char,
}

/// The thread by which a process is seen: its main thread, or where that has ended the first of those that live. `None`: all have
/// ended, or there is no such process. `proc` is where processes are listed.
pub fn living(proc: &Path, pid: u32) -> Option<Living> {
    let own = proc.join(pid.to_string());
    let state = letter(&own)?;
    if !is_ended(state) {
        return Some(Living { thread: pid, state });
    }
    let threads = fs::read_dir(own.join("task")).ok()?.flatten().take(MAX_THREADS);
    let mut threads: Vec<u32> = threads.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    threads.sort_unstable();
    threads.into_iter().find_map(|thread| {
        let state = letter(&own.join("task").join(thread.to_string()))?;
        (!is_ended(state)).then_some(Living { thread, state })
    })
}

/// Whether nothing is left of a process but its entry, if that.
pub fn has_ended(pid: u32) -> bool {
    living(Path::new(PROC), pid).is_none()
}

/// The letter of a process's state, `Z` or `X` where all of its threads have ended; `None` where there is no such process.
pub fn state(pid: u32) -> Option<char> {
    let proc = Path::new(PROC);
    living(proc, pid).map(|living| living.state).or_else(|| letter(&proc.join(pid.to_string())))
}

/// Where `/proc` has a process: under its number, or where its main thread has ended under that of another thread.
pub fn place(pid: u32) -> PathBuf {
    Path::new(PROC).join(thread(pid).to_string())
}

/// The number under which the kernel has the memory and the files of a process.
pub fn thread(pid: u32) -> u32 {
    living(Path::new(PROC), pid).map_or(pid, |living| living.thread)
}

/// Whether a thread with such a letter has ended and merely has not been waited for.
pub fn is_ended(state: char) -> bool {
    matches!(state, 'Z' | 'X' | 'x')
}

/// The letter of the process or thread of which this is the directory; `None` where there is none.
pub fn letter(place: &Path) -> Option<char> {
    let stat = fs::read(place.join("stat")).ok()?;
    // The name in parentheses may hold anything, also a closing parenthesis.
    let after = stat.iter().rposition(|byte| *byte == b')')?;
    stat.get(after + 1..)?.trim_ascii_start().first().map(|byte| char::from(*byte))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    /// Threads by their letters.
    type Letters<'a> = &'a [(u32, char)];

    /// A `/proc` with one process, whose main thread is first, by their letters.
    fn made_up(name: &str, letters: Letters<'_>) -> PathBuf {
        let proc = std::env::temp_dir().join(format!("mpi-queues-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&proc);
        let pid = letters[0].0;
        for (thread, letter) in letters {
            let place = proc.join(pid.to_string()).join("task").join(thread.to_string());
            fs::create_dir_all(&place).unwrap();
            let stat = format!("{thread} (a) R (b) {letter} 1 2 3\n");
            fs::write(place.join("stat"), &stat).unwrap();
            if *thread == pid {
                fs::write(proc.join(pid.to_string()).join("stat"), &stat).unwrap();
            }
        }
        proc
    }

    #[test]
    fn a_process_lives_as_long_as_one_of_its_threads() {
        let cases: [(&str, Letters<'_>, Option<Living>); 6] = [
            ("main", &[(7, 'S'), (8, 'R')], Some(Living { thread: 7, state: 'S' })),
            ("others", &[(7, 'Z'), (9, 'D'), (8, 'Z')], Some(Living { thread: 9, state: 'D' })),
            ("first", &[(7, 'Z'), (10, 'S'), (9, 'T')], Some(Living { thread: 9, state: 'T' })),
            ("dead", &[(7, 'X'), (8, 'S')], Some(Living { thread: 8, state: 'S' })),
            ("all", &[(7, 'Z'), (8, 'Z'), (9, 'X')], None),
            ("alone", &[(7, 'Z')], None),
        ];
        for (name, letters, expected) in cases {
            let proc = made_up(name, letters);
            assert_eq!(living(&proc, 7), expected, "{name}");
            assert_eq!(living(&proc, 6), None);
            fs::remove_dir_all(proc).unwrap();
        }
    }

    #[test]
    fn what_is_no_status_is_no_process() {
        let proc = made_up("damaged", &[(7, 'S')]);
        for stat in ["", "7 (a", "7 (a)", "7 (a)  "] {
            fs::write(proc.join("7/stat"), stat).unwrap();
            assert_eq!(living(&proc, 7), None, "{stat:?}");
        }
        fs::remove_dir_all(proc).unwrap();
    }

    #[test]
    fn this_process_lives() {
        let own = std::process::id();
        assert!(!has_ended(own) && thread(own) == own && state(own).is_some());
        assert!(has_ended(u32::MAX) && state(u32::MAX).is_none());
        assert_eq!(place(u32::MAX), Path::new(PROC).join(u32::MAX.to_string()));
    }
}
