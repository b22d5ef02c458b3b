//! Threads: each has a row with its ring, taken by one comparison at its first call and given back at its end.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use record_format::{Call, Thread, thread_state};

use crate::arch;
use crate::frames::Frame;
use crate::record::{self, THREADS, header, tables};

/// What a thread has of its own; zeros before its first call.
#[repr(C)]
pub struct Local {
    /// Its row; null before its first call, [`NO_ROW`] where all were taken.
    pub thread: *mut Thread,
    /// Its ring.
    pub ring: *mut Call,
    /// The ring's rows less one.
    pub mask: u64,
    /// The row's place, above the bits of a call's number.
    pub above: u64,
    /// Where its stack lies, as its row says.
    stack_low: u64,
    pub stack_high: u64,
}

/// How much a frame has with the two words above it (bytes).
const FRAME: u64 = size_of::<Frame>() as u64 + 16;

/// Stands for no row.
const NO_ROW: *mut Thread = std::ptr::without_provenance_mut(1);

/// Under which a thread's end is noticed.
static KEY: AtomicU32 = AtomicU32::new(0);

impl Local {
    /// The row of this thread; null where it has none.
    #[inline(always)]
    pub fn row(&mut self) -> *mut Thread {
        if self.has_row() { self.thread } else { self.first_call() }
    }

    #[inline(always)]
    fn has_row(&self) -> bool {
        self.thread as usize > NO_ROW as usize
    }

    /// The row of this thread, where it has one already.
    ///
    /// # Safety
    /// The thread has no other reference to it.
    #[inline(always)]
    pub unsafe fn known<'row>(&self) -> Option<&'row mut Thread> {
        // SAFETY: as the caller says; it is inside the table.
        self.has_row().then(|| unsafe { &mut *self.thread })
    }

    /// The row of a call of this thread, by its number. Only where the thread has a row.
    #[inline(always)]
    #[allow(clippy::mut_from_ref, reason = "the ring is this thread's alone")]
    pub fn call(&self, number: u64) -> &mut Call {
        // SAFETY: the place is inside the thread's ring, which nobody else writes.
        unsafe { &mut *self.ring.add((number.wrapping_sub(1) & self.mask) as usize) }
    }

    /// The frame at a place further out on this thread's stack than `inner`; `None` where that is no place for one.
    pub fn outer_frame(&self, inner: &Frame, place: u64) -> Option<*mut Frame> {
        let own = std::ptr::from_ref(inner) as u64;
        let is_one = self.stack_low <= own
            && own < place
            && place.checked_add(FRAME).is_some_and(|end| end <= self.stack_high)
            && place & 7 == 0;
        is_one.then_some(place as *mut Frame)
    }

    #[cold]
    fn first_call(&mut self) -> *mut Thread {
        if self.thread == NO_ROW {
            record::count(|header| {
                // SAFETY: a field of the mapping.
                unsafe { &raw mut (*header).lost_calls }
            });
            return std::ptr::null_mut();
        }
        if !record::make() {
            return std::ptr::null_mut();
        }
        // The first that calls MPI has the long ring.
        match claim() {
            Some((place, thread)) => {
                let (ring, rows) = tables().ring_of(place);
                (self.ring, self.mask) = (ring, rows as u64 - 1);
                self.above = (place as u64) << record_format::COUNT_BITS;
                (self.stack_low, self.stack_high) = stack();
                // SAFETY: the row is this thread's now.
                unsafe { begin(thread, self.stack_low, self.stack_high) };
                self.thread = thread;
            }
            None => {
                self.thread = NO_ROW;
                record::count(|header| {
                    // SAFETY: a field of the mapping.
                    unsafe { &raw mut (*header).lost_threads }
                });
                return self.first_call();
            }
        }
        self.thread
    }
}

/// A row that nobody has: one that nobody ever had, else one whose thread has ended.
fn claim() -> Option<(usize, *mut Thread)> {
    for wanted in [thread_state::FREE, thread_state::ENDED] {
        for place in 0..THREADS {
            // SAFETY: inside the table; the state is a word that all change by comparison.
            let (thread, state) = unsafe {
                let thread = tables().threads.add(place);
                (thread, AtomicU32::from_ptr(&raw mut (*thread).state))
            };
            if state.compare_exchange(wanted, thread_state::LIVE, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                return Some((place, thread));
            }
        }
    }
    None
}

/// # Safety
/// The row is this thread's.
unsafe fn begin(thread: *mut Thread, low: u64, high: u64) {
    // SAFETY: as the caller says. Numbers go on from those of the thread that had the row before.
    unsafe {
        (*thread).id = libc::syscall(libc::SYS_gettid) as u32;
        (*thread).stack_low = low;
        (*thread).stack_high = high;
        (*thread).current = 0;
        (*thread).frame = 0;
        (*thread).fortran_frame = 0;
        (*thread).waited_used = 0;
        (*thread).latest_communicator = 0;
        let key = KEY.load(Ordering::Relaxed);
        if key != 0 {
            libc::pthread_setspecific(key - 1, thread.cast());
        }
    }
}

/// Where this thread's stack lies; zeros where that is not known.
fn stack() -> (u64, u64) {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut low, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: it fills the attributes where it succeeds, and they are given back.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return (0, 0);
        }
        let found = libc::pthread_attr_getstack(attributes.as_ptr(), &mut low, &mut size);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        if found != 0 { (0, 0) } else { (low as u64, (low as u64).saturating_add(size as u64)) }
    }
}

/// Notices from now on the ends of threads, and forks.
pub fn watch() {
    let mut key = 0;
    // SAFETY: both functions stay, as the library does (-z nodelete).
    unsafe {
        if libc::pthread_key_create(&mut key, Some(ended)) == 0 {
            KEY.store(key + 1, Ordering::Relaxed);
        }
        libc::pthread_atfork(None, None, Some(forked));
    }
}

/// The thread of this row has ended, or is about to: a call in another destructor takes a row anew.
unsafe extern "C" fn ended(row: *mut libc::c_void) {
    let thread = row.cast::<Thread>();
    // SAFETY: the row is this thread's, which is in no call any more.
    unsafe {
        (*arch::local()).thread = std::ptr::null_mut();
        AtomicU64::from_ptr(&raw mut (*thread).current).store(0, Ordering::Relaxed);
        AtomicU32::from_ptr(&raw mut (*thread).state).store(thread_state::ENDED, Ordering::Release);
    }
}

/// In the child of a fork, which has a copy of the record and one thread.
unsafe extern "C" fn forked() {
    let header = header();
    if header.is_null() {
        return;
    }
    // SAFETY: the copy is the child's own.
    unsafe {
        (*header).forked_from = (*header).pid;
        (*header).pid = libc::getpid() as u32;
        let own = (*arch::local()).thread;
        for place in 0..THREADS {
            let thread = tables().threads.add(place);
            if thread == own {
                (*thread).id = libc::syscall(libc::SYS_gettid) as u32;
            } else if (*thread).state == thread_state::LIVE {
                (*thread).state = thread_state::ENDED;
            }
        }
    }
}
