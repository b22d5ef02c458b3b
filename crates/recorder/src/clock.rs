//! Times, by the clocks of the system.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use record_format::{Calibration, TO_THE_SECOND};

use crate::real;

/// Now, by both clocks.
pub fn now() -> Calibration {
    Calibration { monotonic: read(libc::CLOCK_MONOTONIC), realtime: read(libc::CLOCK_REALTIME) }
}

/// The kernel's own function in the vDSO, or the C library's, which asks that.
static READ: AtomicPtr<c_void> = AtomicPtr::new(libc::clock_gettime as *mut c_void);

/// The same for the second of the world's clock. It costs a quarter of that, on x86-64: the vDSO of AArch64 has none.
pub static SECOND: AtomicPtr<c_void> = AtomicPtr::new(libc::time as *mut c_void);

/// Of a second.
const NANOSECONDS: u64 = 1_000_000_000;

/// Finds the functions that are called for each time (vdso(7): their names).
pub fn prepare() {
    let name: &[u8] =
        if cfg!(target_arch = "x86_64") { b"__vdso_clock_gettime\0" } else { b"__kernel_clock_gettime\0" };
    real::for_each(|object| {
        if let Some(address) = object.symbol(name) {
            READ.store(address as *mut c_void, Ordering::Relaxed);
        }
        if let Some(address) = object.symbol(b"__vdso_time\0") {
            SECOND.store(address as *mut c_void, Ordering::Relaxed);
        }
    });
}

/// Now, as of the system's last tick, into a place.
#[inline(always)]
pub fn coarse(time: *mut libc::timespec) {
    // SAFETY: a function of that type, which writes one structure: this clock is there (Linux 2.6.32).
    unsafe {
        let read: extern "C" fn(libc::clockid_t, *mut libc::timespec) -> c_int =
            std::mem::transmute(READ.load(Ordering::Relaxed));
        read(libc::CLOCK_MONOTONIC_COARSE, time);
    }
}

#[inline(always)]
fn current_second() -> libc::time_t {
    // SAFETY: a function of that type, which writes nothing where it is given no place.
    unsafe {
        let read: extern "C" fn(*mut libc::time_t) -> libc::time_t =
            std::mem::transmute(SECOND.load(Ordering::Relaxed));
        read(std::ptr::null_mut())
    }
}

/// What has begun then is over now. Where only the second was taken, so much later than that it began as it took less than whole
/// seconds; most take a small part of a microsecond. `earlier` is a time before it began (ns).
#[inline(always)]
pub fn make_exact(time: &mut libc::timespec, earlier: u64) {
    if time.tv_nsec != TO_THE_SECOND as i64 {
        return;
    }
    let second = time.tv_sec;
    coarse(time);
    if nanoseconds(time).wrapping_sub(earlier) >= NANOSECONDS {
        take_whole_seconds(time, second);
    }
}

#[cold]
fn take_whole_seconds(time: &mut libc::timespec, second: libc::time_t) {
    // Whoever sets the clock of the world back meanwhile makes this less than nothing.
    let lasted = (current_second() - second).max(0);
    time.tv_sec = (time.tv_sec - lasted).max(0);
}

/// In nanoseconds.
#[inline(always)]
pub fn nanoseconds(time: &libc::timespec) -> u64 {
    (time.tv_sec as u64).wrapping_mul(NANOSECONDS).wrapping_add(time.tv_nsec as u64)
}

/// By how much that may be behind (ns).
pub fn resolution() -> u32 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes one structure.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &mut time) };
    u32::try_from(time.tv_nsec).unwrap_or(u32::MAX)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes one structure.
    unsafe { libc::clock_gettime(clock, &mut time) };
    nanoseconds(&time)
}
