//! Sees from outside to it that a reading ends: what reads may stand, in a lock, in a loop, or in a file system that does not answer.
#![allow(unsafe_code)]

use std::io::{PipeReader, PipeWriter, Read};
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::stop::release_everything;

/// How often it looks.
const TICK: Duration = Duration::from_millis(100);

/// The exit status of a command that could not read all.
const NOT_ALL_READ: i32 = 1;

/// Watches over one reading until it is dropped.
#[derive(Debug)]
pub struct Watchdog {
    state: Arc<Mutex<State>>,
    signals: PipeWriter,
}

#[derive(Debug)]
struct State {
    /// When the processes go on, and when the program ends.
    release: Instant,
    end: Instant,
    /// How long reading could take.
    limit: Duration,
    /// The signal that came: then there is no more time.
    signal: Option<u8>,
    is_over: bool,
}

fn locked(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watchdog {
    /// After `limit` the processes that stand go on, and `grace` later the program ends with status 1 and says so.
    ///
    /// # Errors
    /// Where there can be no further thread or pipe.
    pub fn new(limit: Duration, grace: Duration) -> std::io::Result<Self> {
        let (reader, signals) = std::io::pipe()?;
        let now = Instant::now();
        let state = Arc::new(Mutex::new(State {
            release: now + limit,
            end: now + limit + grace,
            limit,
            signal: None,
            is_over: false,
        }));
        let watched = Arc::clone(&state);
        std::thread::Builder::new().name("watchdog".to_owned()).spawn(move || watch(&watched, grace, &reader))?;
        Ok(Self { state, signals })
    }

    /// A descriptor to which the number of a signal is written that came, one byte (`signal.set_wakeup_fd` of Python): after SIGINT
    /// or SIGTERM the program ends within the grace. It is open as long as this is there.
    pub fn signals(&self) -> i32 {
        self.signals.as_raw_fd()
    }

    /// Another limit from now on: a part of the reading is done, and the next one begins.
    pub fn renew(&self, limit: Duration, grace: Duration) {
        let mut state = locked(&self.state);
        if state.signal.is_none() {
            state.limit = limit;
            state.release = Instant::now() + limit;
            state.end = state.release + grace;
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        locked(&self.state).is_over = true;
    }
}

impl State {
    fn end_program(&self) -> ! {
        let (status, words) = match self.signal {
            Some(signal) => (128 + i32::from(signal), "interrupted; the processes run on".to_owned()),
            None => {
                let limit = self.limit.as_secs_f64();
                let words = format!(
                    "reading did not finish within {limit:.1} s, and could not be ended: what is not shown by now \
                     was not read. The processes run on"
                );
                (NOT_ALL_READ, words)
            }
        };
        let line = format!("\nmpi-queues: {words}\n");
        // Whoever holds the locks of standard error and of Python may be what stands.
        // SAFETY: the bytes are there, and as many as is said; the program ends without running anything more of it. The kernel
        // lets processes go on whose tracer has ended.
        unsafe {
            libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len());
            libc::_exit(status)
        }
    }
}

fn watch(state: &Mutex<State>, grace: Duration, signals: &PipeReader) {
    let mut released = false;
    loop {
        let signal = wait(signals);
        let mut now = locked(state);
        if now.is_over {
            return;
        }
        if signal.is_some() && now.signal.is_none() {
            now.signal = signal;
            now.release = Instant::now() + grace / 2;
            now.end = Instant::now() + grace;
        }
        if !released && Instant::now() >= now.release {
            released = true;
            release_everything();
        }
        if Instant::now() >= now.end {
            now.end_program();
        }
        // Time may have been added meanwhile.
        released &= Instant::now() >= now.release;
    }
}

/// Waits for a tick; a signal that came.
fn wait(signals: &PipeReader) -> Option<u8> {
    let mut asked = libc::pollfd { fd: signals.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    let milliseconds = i32::try_from(TICK.as_millis()).unwrap_or(100);
    // SAFETY: one structure is writable, and one is said to be there.
    let ready = unsafe { libc::poll(&raw mut asked, 1, milliseconds) };
    if ready <= 0 {
        return None;
    }
    let mut byte = [0];
    match (&mut &*signals).read(&mut byte) {
        Ok(1) => Some(byte[0]).filter(|signal| matches!(i32::from(*signal), libc::SIGINT | libc::SIGTERM)),
        _ => {
            // The other end is closed.
            std::thread::sleep(TICK);
            None
        }
    }
}
