//! The mapping that holds the record: how large its tables are, and where they lie.

use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use record_format::{
    COLLECTIVES, COMMUNICATOR_NAME, Call, Collective, Communicator, FUNCTION_NAME, FunctionName, Header, MAGIC,
    Request, Section, Thread, VERSION, stage,
};

use crate::clock;
use crate::frames::{self, Kept};
use crate::threads;
use crate::words;
use crate::wrapper::FUNCTIONS;

/// Threads whose calls are recorded.
pub const THREADS: usize = 64;
/// The ring of the first thread (calls), and the most that may be asked for.
const CALLS: usize = 4096;
const MOST_CALLS: usize = 65536;
/// The rings of the others have a sixteenth of that, and at least so many.
const FEWEST_CALLS: usize = 16;
/// Open requests.
pub const REQUESTS: usize = 16384;
/// Communicators.
pub const COMMUNICATORS: usize = 512;
/// Numbers of messages: each for another communicator, peer or tag.
pub const MESSAGES: usize = 16384;
/// Requests that one call waits for: in the first thread, and in others.
const WAITED: usize = 8192;
const WAITED_OF_OTHERS: usize = 512;

/// Where the tables lie. The record is the program's memory as well, which it may write over: what its rows say of places is
/// for readers, and never followed here.
pub struct Tables {
    pub threads: *mut Thread,
    pub calls: *mut Call,
    pub request_keys: *mut AtomicU64,
    pub requests: *mut Request,
    pub communicator_keys: *mut AtomicU64,
    pub communicators: *mut Communicator,
    pub collectives: *mut Collective,
    pub message_keys: *mut AtomicU64,
    pub message_counts: *mut u64,
    pub communicator_names: *mut [u8; COMMUNICATOR_NAME],
    pub waited: *mut Kept,
    /// Rows of the first ring, and of each other one.
    pub ring: [usize; 2],
}

impl Tables {
    /// Where the ring of a thread's row begins, and how many rows it has.
    pub fn ring_of(&self, place: usize) -> (*mut Call, usize) {
        let [first, others] = self.ring;
        let (start, rows) = if place == 0 { (0, first) } else { (first + (place - 1) * others, others) };
        // SAFETY: inside the table.
        (unsafe { self.calls.add(start) }, rows)
    }

    /// What a thread has for requests that a call waits for: where, and how many.
    pub fn waited_of(&self, thread: *const Thread) -> (*mut Kept, u64) {
        let place = (thread as usize).wrapping_sub(self.threads as usize) / size_of::<Thread>();
        let (start, room) = waited(place.min(THREADS - 1));
        // SAFETY: inside the table.
        (unsafe { self.waited.add(start) }, room as u64)
    }
}

/// Where the room of a thread's row begins, and how much it is.
const fn waited(place: usize) -> (usize, usize) {
    if place == 0 { (0, WAITED) } else { (WAITED + (place - 1) * WAITED_OF_OTHERS, WAITED_OF_OTHERS) }
}

struct Shared(UnsafeCell<Tables>);
// SAFETY: it is written once, before `HEADER` tells others of it.
unsafe impl Sync for Shared {}

static TABLES: Shared = Shared(UnsafeCell::new(Tables {
    threads: ptr::null_mut(),
    calls: ptr::null_mut(),
    request_keys: ptr::null_mut(),
    requests: ptr::null_mut(),
    communicator_keys: ptr::null_mut(),
    communicators: ptr::null_mut(),
    collectives: ptr::null_mut(),
    message_keys: ptr::null_mut(),
    message_counts: ptr::null_mut(),
    communicator_names: ptr::null_mut(),
    waited: ptr::null_mut(),
    ring: [0; 2],
}));

/// Where the record lies: what readers look for.
#[unsafe(export_name = "mpi_queues_recorder_header")]
pub static HEADER: AtomicPtr<Header> = AtomicPtr::new(ptr::null_mut());

/// Whether the record is not there, being made, there, or not to be had.
static MADE: AtomicU32 = AtomicU32::new(NOT_YET);
const NOT_YET: u32 = 0;
const AT_IT: u32 = 1;
const DONE: u32 = 2;
const FAILED: u32 = 3;

/// The tables; only where the record is there.
#[inline(always)]
pub fn tables() -> &'static Tables {
    // SAFETY: nobody writes it any more.
    unsafe { &*TABLES.0.get() }
}

/// The header; null before the record is made.
#[inline(always)]
pub fn header() -> *mut Header {
    HEADER.load(Ordering::Acquire)
}

/// Adds one to a counter of the header.
pub fn count(counter: impl Fn(*mut Header) -> *mut u64) {
    let header = header();
    if !header.is_null() {
        // SAFETY: the counters are words of the mapping that only this function writes.
        unsafe { AtomicU64::from_ptr(counter(header)) }.fetch_add(1, Ordering::Relaxed);
    }
}

/// Takes the time by all clocks into the header.
pub fn calibrate() {
    let header = header();
    if !header.is_null() {
        // SAFETY: the mapping stays. Two threads at once write about the same.
        unsafe { (*header).latest = clock::now() };
    }
}

/// Makes the record where there is none; whether there is one. Of threads that come at once one makes it.
#[cold]
pub fn make() -> bool {
    loop {
        match MADE.compare_exchange(NOT_YET, AT_IT, Ordering::Acquire, Ordering::Acquire) {
            Ok(_) => {
                let made = lay_out();
                MADE.store(if made { DONE } else { FAILED }, Ordering::Release);
                return made;
            }
            Err(AT_IT) => {
                // SAFETY: it only lets others run. This is before MPI has begun, for the time of one mapping.
                unsafe { libc::sched_yield() };
            }
            Err(state) => return state == DONE,
        }
    }
}

/// How many calls the first ring has: a power of two.
fn calls() -> usize {
    // SAFETY: nothing here changes the environment.
    let asked = unsafe { libc::getenv(c"MPI_QUEUES_RECORDER_CALLS".as_ptr()) };
    if asked.is_null() {
        return CALLS;
    }
    // SAFETY: a text that ends.
    let asked = unsafe { libc::strtol(asked, ptr::null_mut(), 10) };
    usize::try_from(asked).unwrap_or(0).clamp(FEWEST_CALLS, MOST_CALLS).next_power_of_two()
}

/// Sets tables one after the other.
struct Layout {
    used: usize,
}

impl Layout {
    fn table<T>(&mut self, count: usize) -> Section {
        let offset = self.used.next_multiple_of(128);
        self.used = offset + count * size_of::<T>();
        Section { offset: offset as u64, stride: size_of::<T>() as u32, count: count as u32 }
    }
}

fn lay_out() -> bool {
    let first = calls();
    let others = (first / 16).max(FEWEST_CALLS);
    let mut layout = Layout { used: size_of::<Header>() };
    let functions = layout.table::<FunctionName>(FUNCTIONS.len());
    let threads_ = layout.table::<Thread>(THREADS);
    let communicator_keys = layout.table::<u64>(COMMUNICATORS);
    let communicators = layout.table::<Communicator>(COMMUNICATORS);
    let request_keys = layout.table::<u64>(REQUESTS);
    let requests = layout.table::<Request>(REQUESTS);
    let calls = layout.table::<Call>(first + (THREADS - 1) * others);
    let waited_ = layout.table::<Kept>(WAITED + (THREADS - 1) * WAITED_OF_OTHERS);
    let collectives = layout.table::<Collective>(COMMUNICATORS * COLLECTIVES);
    let message_keys = layout.table::<u64>(MESSAGES);
    let message_counts = layout.table::<u64>(MESSAGES);
    let communicator_names = layout.table::<[u8; COMMUNICATOR_NAME]>(COMMUNICATORS);
    let bytes = layout.used.next_multiple_of(4096);
    // SAFETY: a new mapping. What is never written takes no memory.
    let base = unsafe {
        libc::mmap(
            ptr::null_mut(),
            bytes,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        )
    };
    if base == libc::MAP_FAILED {
        return false;
    }
    name(base, bytes);
    let base = base.cast::<u8>();
    clock::prepare();
    let time = clock::now();
    let header = Header {
        magic: [0; 16],
        version: VERSION,
        header_bytes: size_of::<Header>() as u32,
        total_bytes: bytes as u64,
        address: base as u64,
        // SAFETY: it only tells.
        pid: unsafe { libc::getpid() } as u32,
        forked_from: 0,
        family: words::detect(),
        stage: stage::BEFORE,
        thread_level: 0,
        world_rank: -1,
        world_size: -1,
        resolution: clock::resolution(),
        first: time,
        latest: time,
        functions,
        threads: threads_,
        calls,
        request_keys,
        requests,
        communicator_keys,
        communicators,
        collectives,
        lost_threads: 0,
        lost_calls: 0,
        lost_requests: 0,
        early_requests: 0,
        lost_communicators: 0,
        bypassed: 0,
        message_keys,
        message_counts,
        lost_messages: 0,
        communicator_names,
        frame: frames::LAYOUT,
    };
    // SAFETY: each table is inside the mapping, aligned, and nobody else knows of it yet. Zeros are fine for all of them.
    unsafe {
        let at = |section: Section| base.add(section.offset as usize);
        base.cast::<Header>().write(header);
        for (number, (name, object, collective)) in FUNCTIONS.iter().enumerate() {
            let mut row = FunctionName {
                name: [0; FUNCTION_NAME],
                object: *object,
                collective: u8::from(*collective),
                padding: [0; 6],
            };
            let len = name.len().min(FUNCTION_NAME - 1);
            row.name[..len].copy_from_slice(&name.as_bytes()[..len]);
            at(functions).cast::<FunctionName>().add(number).write(row);
        }
        for number in 0..THREADS {
            let thread = &mut *at(threads_).cast::<Thread>().add(number);
            let is_first = number == 0;
            thread.capacity = if is_first { first } else { others } as u32;
            thread.ring = if is_first { 0 } else { first + (number - 1) * others } as u32;
            let (start, room) = waited(number);
            thread.waited = waited_.offset + (start * size_of::<Kept>()) as u64;
            thread.waited_count = room as u32;
        }
        *TABLES.0.get() = Tables {
            threads: at(threads_).cast(),
            calls: at(calls).cast(),
            request_keys: at(request_keys).cast(),
            requests: at(requests).cast(),
            communicator_keys: at(communicator_keys).cast(),
            communicators: at(communicators).cast(),
            collectives: at(collectives).cast(),
            message_keys: at(message_keys).cast(),
            message_counts: at(message_counts).cast(),
            communicator_names: at(communicator_names).cast(),
            waited: at(waited_).cast(),
            ring: [first, others],
        };
        (*base.cast::<Header>()).magic = MAGIC;
    }
    HEADER.store(base.cast(), Ordering::Release);
    threads::watch();
    true
}

/// In `/proc/PID/maps`, where the kernel has such names (5.17, CONFIG_ANON_VMA_NAME).
fn name(base: *mut libc::c_void, bytes: usize) {
    const PR_SET_VMA: libc::c_int = 0x5356_4d41;
    const PR_SET_VMA_ANON_NAME: libc::c_ulong = 0;
    // SAFETY: the kernel copies the name, and another kernel only says no.
    unsafe { libc::prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, base, bytes, c"mpi-queues recorder".as_ptr()) };
}
