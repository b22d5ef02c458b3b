//! Real processes, stopped and let go: this very test program, started again as another process with threads that come and go
//! and count signals.
#![allow(unsafe_code, clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use native::{Memory, Piece, Purpose, StopError, Stopped, Waits, status};

const LIMIT: Duration = Duration::from_secs(20);
/// Threads that only run, beside one that starts others all the time.
const SPINNING: usize = 3;
/// What stands in the memory of the other process.
static WORDS: [AtomicU64; 3] = [AtomicU64::new(0x1122_3344_5566_7788), AtomicU64::new(17), AtomicU64::new(0)];

static SIGNALS: AtomicU64 = AtomicU64::new(0);
static ENOUGH: AtomicBool = AtomicBool::new(false);

extern "C" fn count(_: i32) {
    SIGNALS.fetch_add(1, Ordering::SeqCst);
}

/// How often calls of threads that wait have failed with EINTR, each by itself.
static INTERRUPTED: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

/// Threads that wait for ever in calls which a stop fails: they count how often.
fn wait_in_calls() {
    fn forever(which: usize, mut call: impl FnMut() -> i64 + Send + 'static) {
        std::thread::spawn(move || {
            loop {
                if call() < 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::EINTR) {
                    INTERRUPTED[which].fetch_add(1, Ordering::SeqCst);
                }
            }
        });
    }
    let long = libc::timespec { tv_sec: 10_000, tv_nsec: 0 };
    // SAFETY: all that these calls are given lives as long as they last, and is as large as they are told.
    unsafe {
        let set = libc::epoll_create1(0);
        forever(0, move || {
            let mut event = libc::epoll_event { events: 0, u64: 0 };
            i64::from(libc::epoll_wait(set, &raw mut event, 1, -1))
        });
        let mut requests = 0_u64;
        libc::syscall(libc::SYS_io_setup, 1, &raw mut requests);
        forever(1, move || {
            let (mut done, no_limit) = ([0_u64; 4], std::ptr::null::<libc::timespec>());
            libc::syscall(libc::SYS_io_getevents, requests, 1, 1, done.as_mut_ptr(), no_limit)
        });
        forever(2, move || {
            let mut signals = std::mem::zeroed();
            libc::sigemptyset(&raw mut signals);
            libc::sigaddset(&raw mut signals, libc::SIGUSR2);
            i64::from(libc::sigtimedwait(&raw const signals, std::ptr::null_mut(), &raw const long))
        });
        let mut pair = [0; 2];
        libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, pair.as_mut_ptr());
        let time = libc::timeval { tv_sec: 10_000, tv_usec: 0 };
        let size = size_of_val(&time) as libc::socklen_t;
        libc::setsockopt(pair[0], libc::SOL_SOCKET, libc::SO_RCVTIMEO, (&raw const time).cast(), size);
        forever(3, move || {
            let mut byte = 0_u8;
            libc::recv(pair[0], (&raw mut byte).cast(), 1, 0) as i64
        });
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A thread that waits for a child that it has made as `vfork` does: nothing interrupts it (Linux, wait_for_vfork_done).
fn wait_for_child() -> std::thread::JoinHandle<()> {
    std::thread::spawn(|| {
        // SAFETY: the child has a copy of memory, makes system calls alone, and does not come back.
        unsafe {
            let flags = libc::CLONE_VFORK | libc::SIGCHLD;
            if libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) == 0 {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                loop {
                    libc::pause();
                }
            }
        }
    })
}

/// What the other process does, when it is started with this name: `spin`, `churn`, `calls` or `child`.
#[test]
fn other_process() {
    let Ok(role) = std::env::var("MPI_QUEUES_TEST_ROLE") else { return };
    // SAFETY: the handler only adds to an atomic number.
    unsafe {
        libc::signal(libc::SIGRTMIN(), count as extern "C" fn(i32) as libc::sighandler_t);
        // It does not outlive a test that fails.
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
    }
    let mut threads = Vec::new();
    for _ in 0..SPINNING {
        threads.push(std::thread::spawn(|| {
            while !ENOUGH.load(Ordering::Relaxed) {
                WORDS[2].fetch_add(1, Ordering::Relaxed);
            }
        }));
    }
    if role == "churn" {
        threads.push(std::thread::spawn(|| {
            while !ENOUGH.load(Ordering::Relaxed) {
                let _ = std::thread::spawn(|| WORDS[2].fetch_add(1, Ordering::Relaxed)).join();
            }
        }));
    }
    match role.as_str() {
        "calls" => wait_in_calls(),
        "child" => _ = wait_for_child(),
        _ => {}
    }
    println!("\nready {:x}", (&raw const WORDS).addr());
    for line in std::io::stdin().lock().lines() {
        match line.unwrap().as_str() {
            "signals" => println!("\nsignals {}", SIGNALS.load(Ordering::SeqCst)),
            "interrupted" => println!(
                "\ninterrupted {}",
                INTERRUPTED.iter().map(|count| count.load(Ordering::SeqCst).min(9)).fold(0, |all, one| 10 * all + one)
            ),
            "progress" => println!("\nprogress {}", WORDS[2].load(Ordering::Relaxed)),
            _ => break,
        }
    }
    ENOUGH.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

struct Other {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    words: u64,
}

impl Other {
    fn new(role: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "other_process", "--nocapture"])
            .env("MPI_QUEUES_TEST_ROLE", role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut other = Self { child, to, from, words: 0 };
        other.words = u64::from_str_radix(&other.said("ready"), 16).unwrap();
        other
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    fn said(&mut self, word: &str) -> String {
        loop {
            let mut line = String::new();
            assert_ne!(self.from.read_line(&mut line).unwrap(), 0, "the other process has ended");
            if let Some(rest) = line.trim().strip_prefix(word) {
                return rest.trim().to_owned();
            }
        }
    }

    fn ask(&mut self, word: &str) -> u64 {
        writeln!(self.to, "{word}").unwrap();
        self.said(word).parse().unwrap()
    }

    fn state(&self) -> char {
        status(self.pid()).map_or('?', |status| status.state)
    }

    fn threads(&self) -> Vec<u32> {
        let entries = std::fs::read_dir(format!("/proc/{}/task", self.pid())).unwrap();
        entries.map(|entry| entry.unwrap().file_name().to_str().unwrap().parse().unwrap()).collect()
    }

    fn signal(&self, number: i32) {
        // SAFETY: a signal to a child that was not waited for.
        assert_eq!(unsafe { libc::kill(self.pid() as i32, number) }, 0);
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn stopped(other: &Other) -> Stopped {
    let (stopped, failures) = Stopped::all(&[other.pid()], LIMIT);
    assert_eq!(failures, []);
    stopped
}

#[test]
fn all_threads_stand_and_go_on() {
    let mut other = Other::new("churn");
    for _ in 0..500 {
        let held = stopped(&other);
        let mut standing: Vec<u32> = held.get(other.pid()).unwrap().threads.iter().map(|thread| thread.id).collect();
        assert_eq!(standing[0], other.pid(), "the main thread is first");
        standing.sort_unstable();
        // One that has ended and was not waited for is listed for a moment.
        let mut listed: Vec<u32> =
            other.threads().into_iter().filter(|id| status(*id).is_some_and(|found| found.state != 'Z')).collect();
        listed.sort_unstable();
        assert_eq!(standing, listed);
        for id in listed {
            let found = status(id).unwrap();
            assert_eq!((found.state, found.process), ('t', other.pid()));
            assert_ne!(found.tracer, 0);
        }
        drop(held);
        assert_eq!(status(other.pid()).unwrap().tracer, 0);
    }
    let before = other.ask("progress");
    std::thread::sleep(Duration::from_millis(20));
    assert!(other.ask("progress") > before, "it runs");
}

#[test]
fn no_signal_is_lost_however_often_it_stands() {
    let mut other = Other::new("spin");
    let end = Instant::now() + Duration::from_secs(60);
    let (mut sent, mut rounds) = (0, 0);
    while rounds < made_up::share::rounds(500, 10_000) && Instant::now() < end {
        // Real-time signals queue: each is delivered once.
        other.signal(libc::SIGRTMIN());
        sent += 1;
        drop(stopped(&other));
        rounds += 1;
    }
    assert!(rounds >= 500, "{rounds} rounds in a minute");
    let end = Instant::now() + LIMIT;
    while other.ask("signals") < sent && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(other.ask("signals"), sent);
    assert!(matches!(other.state(), 'R' | 'S'));
}

#[test]
fn a_process_that_was_stopped_stays_stopped() {
    let mut other = Other::new("spin");
    other.signal(libc::SIGSTOP);
    let end = Instant::now() + LIMIT;
    while other.state() != 'T' && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
    for _ in 0..20 {
        let mut held = stopped(&other);
        assert_eq!(other.state(), 't');
        assert!(held.release(other.pid()).is_some());
        // It comes to its stop again before anything of the program runs.
        assert_eq!(other.state(), 'T');
    }
    other.signal(libc::SIGCONT);
    let before = other.ask("progress");
    std::thread::sleep(Duration::from_millis(20));
    assert!(other.ask("progress") > before, "it runs");
}

#[test]
fn memory_in_pieces() {
    let other = Other::new("spin");
    let memory = Memory::open(other.pid()).unwrap();
    let held = stopped(&other);
    let (mut first, mut second, mut nowhere, mut later) = ([0; 8], [0; 8], [1; 8], [0; 8]);
    let mut pieces = [
        Piece::new(other.words, &mut first),
        Piece::new(16, &mut nowhere),
        Piece::new(other.words + 8, &mut second),
        Piece::new(other.words + 16, &mut later),
    ];
    memory.read(&mut pieces);
    assert_eq!(pieces.map(|piece| piece.read), [true, false, true, true]);
    assert_eq!((u64::from_ne_bytes(first), u64::from_ne_bytes(second)), (0x1122_3344_5566_7788, 17));
    let count = u64::from_ne_bytes(later);
    std::thread::sleep(Duration::from_millis(10));
    memory.read_one(other.words + 16, &mut later).unwrap();
    assert_eq!(u64::from_ne_bytes(later), count, "nothing moves");
    drop(held);
    assert!(memory.read_one(16, &mut nowhere).is_err());
    // More than the kernel takes at once.
    let mut many = vec![[0_u8; 8]; 3000];
    let mut pieces: Vec<_> = many.iter_mut().map(|into| Piece::new(other.words, into)).collect();
    memory.read(&mut pieces);
    assert!(pieces.iter().all(|piece| piece.read));
    assert!(many.iter().all(|found| u64::from_ne_bytes(*found) == 0x1122_3344_5566_7788));
}

#[test]
fn several_processes_and_one_that_is_gone() {
    let (one, two) = (Other::new("spin"), Other::new("churn"));
    let mut gone = Command::new("true").spawn().unwrap();
    let pid = gone.id();
    gone.wait().unwrap();
    let (mut held, failures) = Stopped::all(&[one.pid(), pid, two.pid()], LIMIT);
    assert_eq!(failures, [(pid, StopError::Gone)]);
    assert_eq!((one.state(), two.state()), ('t', 't'));
    held.release(one.pid()).unwrap();
    assert_ne!(one.state(), 't');
    assert_eq!(two.state(), 't');
    // A second tracer is refused, and told who the first is.
    let (_none, failures) = Stopped::all(&[two.pid()], LIMIT);
    assert!(matches!(failures[..], [(_, StopError::Traced(_))]), "{failures:?}");
    drop(held);
    assert_ne!(two.state(), 't');
}

#[test]
fn a_zombie_is_gone() {
    let mut ended = Command::new("true").spawn().unwrap();
    let end = Instant::now() + LIMIT;
    while status(ended.id()).is_some_and(|found| found.state != 'Z') && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
    }
    let (_none, failures) = Stopped::all(&[ended.id()], LIMIT);
    assert_eq!(failures, [(ended.id(), StopError::Gone)]);
    ended.wait().unwrap();
}

/// Until the calls that were interrupted have been counted: all that were, and not more.
fn interrupted(other: &mut Other, expected: u64) {
    let end = Instant::now() + LIMIT;
    while other.ask("interrupted") != expected && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(other.ask("interrupted"), expected);
}

#[test]
fn a_rehearsal_interrupts_no_call_and_a_reading_does_once() {
    let mut other = Other::new("calls");
    for _ in 0..20 {
        let (held, failures) = Stopped::knowing(&[other.pid()], LIMIT, Purpose::Rehearsal, &mut Waits::default());
        assert_eq!(failures, []);
        let standing = &held.get(other.pid()).unwrap().threads;
        let mut told: Vec<u32> = standing.iter().map(|thread| thread.id).collect();
        told.sort_unstable();
        let mut listed = other.threads();
        listed.sort_unstable();
        assert_eq!(told, listed);
        assert!(standing.iter().all(|thread| thread.registers.stack_pointer() != 0));
        // Those that run stand.
        let states: Vec<char> = listed.iter().map(|id| status(*id).unwrap().state).collect();
        assert!(states.iter().filter(|state| **state == 't').count() >= SPINNING, "{states:?}");
    }
    interrupted(&mut other, 0);
    drop(stopped(&other));
    // A digit for each.
    interrupted(&mut other, 1111);
    drop(stopped(&other));
    interrupted(&mut other, 2222);
}

#[test]
fn nothing_stands_for_a_thread_that_cannot_be_stopped() {
    let other = Other::new("child");
    let end = Instant::now() + LIMIT;
    let waits = |id: &u32| status(*id).is_some_and(|found| found.state == 'D');
    // Another one may wait for a page for a moment.
    let found = || -> Vec<u32> { other.threads().into_iter().filter(waits).collect() };
    let mut waiting = found();
    while waiting.len() != 1 && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(1));
        waiting = found();
    }
    let [thread] = waiting[..] else { panic!("{waiting:?}") };
    let beside = Other::new("spin");
    let (pid, over) = (other.pid(), AtomicBool::new(false));
    let mut known = Waits::default();
    std::thread::scope(|scope| {
        let traced = scope.spawn(|| {
            let mut traced = 0;
            while !over.load(Ordering::Relaxed) {
                traced += usize::from(status(pid).is_some_and(|found| found.tracer != 0));
                std::thread::sleep(Duration::from_millis(1));
            }
            traced
        });
        for (round, longest) in [(0, 4000), (1, 500), (2, 500)] {
            let begun = Instant::now();
            let (held, failures) = Stopped::knowing(&[pid, beside.pid()], LIMIT, Purpose::Reading, &mut known);
            let took = begun.elapsed();
            let [(failed, StopError::Uninterruptible { thread: told, .. })] = failures[..] else {
                panic!("{failures:?}")
            };
            assert_eq!((failed, told), (pid, thread));
            assert_eq!(beside.state(), 't', "the other one is read");
            drop(held);
            assert!(took < Duration::from_millis(longest), "round {round}: {took:?}");
        }
        over.store(true, Ordering::Relaxed);
        assert_eq!(traced.join().unwrap(), 0, "it is not traced at any time");
    });
}
