//! Times: the processor's counter, and now and then the clocks of the system.

use record_format::Calibration;

use crate::arch::ticks;

/// Now, by all clocks.
pub fn now() -> Calibration {
    let before = ticks();
    let monotonic = read(libc::CLOCK_MONOTONIC);
    let after = ticks();
    // The middle: reading the clock takes some tens of nanoseconds.
    Calibration { ticks: before + after.wrapping_sub(before) / 2, monotonic, realtime: read(libc::CLOCK_REALTIME) }
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes one structure.
    unsafe { libc::clock_gettime(clock, &mut time) };
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}
