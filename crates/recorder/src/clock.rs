//! Times, by the clocks of the system.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use record_format::Calibration;

use crate::real;

/// Now, by both clocks.
pub fn now() -> Calibration {
    Calibration { monotonic: read(libc::CLOCK_MONOTONIC), realtime: read(libc::CLOCK_REALTIME) }
}

/// The kernel's own function in the vDSO, or the C library's, which asks that.
static READ: AtomicPtr<c_void> = AtomicPtr::new(libc::clock_gettime as *mut c_void);

/// Finds the function that is called for each time (vdso(7): its names).
pub fn prepare() {
    let name: &[u8] =
        if cfg!(target_arch = "x86_64") { b"__vdso_clock_gettime\0" } else { b"__kernel_clock_gettime\0" };
    real::for_each(|object| {
        if let Some(address) = object.symbol(name) {
            READ.store(address as *mut c_void, Ordering::Relaxed);
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

/// In nanoseconds.
#[inline(always)]
pub fn nanoseconds(time: &libc::timespec) -> u64 {
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
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
