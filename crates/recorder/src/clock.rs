//! Times, by the clocks of the system.

use record_format::Calibration;

/// Now, by both clocks.
pub fn now() -> Calibration {
    Calibration { monotonic: read(libc::CLOCK_MONOTONIC), realtime: read(libc::CLOCK_REALTIME) }
}

/// Now, as of the system's last tick.
#[inline(always)]
pub fn coarse() -> u64 {
    read(libc::CLOCK_MONOTONIC_COARSE)
}

/// By how much that may be behind (ns).
pub fn resolution() -> u32 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes one structure.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &mut time) };
    u32::try_from(time.tv_nsec).unwrap_or(u32::MAX)
}

#[inline(always)]
fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes one structure.
    unsafe { libc::clock_gettime(clock, &mut time) };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}
