//! A piece of memory that host and helper process share.
//!
//! The helper notes here which function of the plug-in it is about to call, how it ends, and what it has not sent
//! yet, so that the host knows all of that after a crash, with nothing to be sent by a dying process. The plug-in can
//! write here too: the host takes every value as hostile.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// Bytes of messages that the helper collects before it sends them.
pub const BUFFER: usize = 1 << 17;

/// Not in any function of the plug-in.
pub const NOWHERE: u32 = u32::MAX;
/// Loading the plug-in (its constructors run).
pub const LOADING: u32 = u32::MAX - 1;

/// The plug-in called `exit`.
pub const NOTE_EXIT: u32 = 1;
/// The connection to the host was lost.
pub const NOTE_LOST: u32 = 2;

#[repr(C)]
struct Layout {
    place: AtomicU32,
    signal: AtomicI32,
    note: AtomicU32,
    pid: AtomicI32,
    flushing: AtomicU32,
    used: AtomicU32,
    buffer: [u8; BUFFER],
}

/// The shared piece. Unmapped by the side that drops it.
pub struct Shared {
    at: NonNull<Layout>,
}

impl Shared {
    /// Maps a new piece; a process that is forked afterwards shares it.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> std::io::Result<Self> {
        // SAFETY: a fresh anonymous mapping; no memory of ours is touched.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                size_of::<Layout>(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if at == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        let shared = Self { at: NonNull::new(at.cast()).ok_or_else(|| std::io::Error::other("mapped at zero"))? };
        shared.layout().place.store(NOWHERE, Ordering::Relaxed);
        Ok(shared)
    }

    fn layout(&self) -> &Layout {
        // SAFETY: mapped for as long as `self` lives; all numbers are atomics, and zero bytes are valid ones. The
        // buffer is only reached through raw pointers.
        unsafe { self.at.as_ref() }
    }

    fn buffer(&self) -> *mut u8 {
        // SAFETY: a field of the mapping; no reference is made.
        unsafe { (&raw mut (*self.at.as_ptr()).buffer).cast() }
    }

    /// Notes which function is called.
    pub fn set_place(&self, place: u32) {
        self.layout().place.store(place, Ordering::Relaxed);
    }
    /// Which function was called last.
    pub fn place(&self) -> u32 {
        self.layout().place.load(Ordering::Relaxed)
    }
    /// Notes a deadly signal. Safe in a signal handler.
    pub fn set_signal(&self, signal: i32) {
        self.layout().signal.store(signal, Ordering::Relaxed);
    }
    /// The deadly signal, 0 for none.
    pub fn signal(&self) -> i32 {
        self.layout().signal.load(Ordering::Relaxed)
    }
    /// Notes how the helper ends.
    pub fn set_note(&self, note: u32) {
        self.layout().note.store(note, Ordering::Relaxed);
    }
    /// How the helper ended.
    pub fn note(&self) -> u32 {
        self.layout().note.load(Ordering::Relaxed)
    }
    /// Notes the helper's process id.
    pub fn set_pid(&self, pid: i32) {
        self.layout().pid.store(pid, Ordering::Release);
    }
    /// The helper's process id, 0 where it has none yet.
    pub fn pid(&self) -> i32 {
        self.layout().pid.load(Ordering::Acquire)
    }

    /// Helper: appends a frame; `false` where there is no room for it.
    pub fn append(&self, parts: [&[u8]; 2]) -> bool {
        let used = self.layout().used.load(Ordering::Relaxed) as usize;
        let len = parts[0].len() + parts[1].len();
        if used > BUFFER || len > BUFFER - used {
            return false;
        }
        let mut at = used;
        for part in parts {
            // SAFETY: `at + part.len()` is at most BUFFER, as was just checked; the regions cannot overlap, `part` is
            // memory of this process alone.
            unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), self.buffer().add(at), part.len()) };
            at += part.len();
        }
        self.layout().used.store(at as u32, Ordering::Release);
        true
    }

    /// Helper: hands what was appended to `send` and empties the buffer.
    pub fn flush(&self, send: impl FnOnce(&[u8])) {
        let used = (self.layout().used.load(Ordering::Relaxed) as usize).min(BUFFER);
        if used == 0 {
            return;
        }
        self.layout().flushing.store(1, Ordering::Release);
        // SAFETY: `used` bytes at the start of the buffer were written by `append`; nobody writes while they are sent.
        send(unsafe { std::slice::from_raw_parts(self.buffer(), used) });
        self.layout().used.store(0, Ordering::Release);
        self.layout().flushing.store(0, Ordering::Release);
    }

    /// Host: what a dead helper appended and did not send.
    pub fn left_over(&self) -> Vec<u8> {
        if self.layout().flushing.load(Ordering::Acquire) != 0 {
            return Vec::new();
        }
        let used = (self.layout().used.load(Ordering::Acquire) as usize).min(BUFFER);
        let mut out = vec![0; used];
        // SAFETY: at most BUFFER bytes are copied, so a process that still writes can at worst change what they say.
        unsafe { std::ptr::copy_nonoverlapping(self.buffer(), out.as_mut_ptr(), used) };
        out
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` with this size and used by nobody else in this process.
        unsafe { libc::munmap(self.at.as_ptr().cast(), size_of::<Layout>()) };
    }
}
