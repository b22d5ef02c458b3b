//! Memory of this program: how much there is, and what happens where there is no more.
//!
//! Rust ends a program whose allocation fails. That program may be the debugger which holds the only hung job. So some memory
//! is kept aside; where an allocation fails it is served from that, and everything that looks at its budget ends with an error.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// So many bytes are kept aside: what is allocated between two looks at a budget is less.
const KEPT_ASIDE: usize = 32 << 20;

static ASIDE: AtomicPtr<libc::c_void> = AtomicPtr::new(std::ptr::null_mut());
static SHORT: AtomicBool = AtomicBool::new(false);

/// An allocator that has memory kept aside (`refill`) for when there is no more.
pub struct WithReserve<A>(pub A);

// SAFETY: each call is handed on to the other allocator as it came, and again after memory was given back.
unsafe impl<A: GlobalAlloc> GlobalAlloc for WithReserve<A> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let got = unsafe { self.0.alloc(layout) };
        // SAFETY: the same.
        if got.is_null() && give_up_reserve() { unsafe { self.0.alloc(layout) } } else { got }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { self.0.dealloc(ptr, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise.
        let got = unsafe { self.0.alloc_zeroed(layout) };
        // SAFETY: the same.
        if got.is_null() && give_up_reserve() { unsafe { self.0.alloc_zeroed(layout) } } else { got }
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // SAFETY: the caller's promise.
        let got = unsafe { self.0.realloc(ptr, layout, new_size) };
        // SAFETY: the same; a realloc that failed has left the memory as it was.
        if got.is_null() && give_up_reserve() { unsafe { self.0.realloc(ptr, layout, new_size) } } else { got }
    }
}

/// Gives back what was kept aside; whether there was any.
fn give_up_reserve() -> bool {
    SHORT.store(true, Ordering::Relaxed);
    let aside = ASIDE.swap(std::ptr::null_mut(), Ordering::AcqRel);
    if aside.is_null() {
        return false;
    }
    // SAFETY: it was mapped with this length, and nobody else has it any more.
    unsafe { libc::munmap(aside, KEPT_ASIDE) == 0 }
}

/// Whether an allocation failed: whatever is read ends as soon as that can be.
pub fn is_short() -> bool {
    SHORT.load(Ordering::Relaxed)
}

/// Keeps memory aside again, where there is enough.
pub fn refill() {
    if ASIDE.load(Ordering::Relaxed).is_null() {
        // SAFETY: a mapping of its own, of no file, anywhere; it is not touched, so it is only promised.
        let mapped = unsafe {
            let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            libc::mmap(std::ptr::null_mut(), KEPT_ASIDE, access, kind | libc::MAP_NORESERVE, -1, 0)
        };
        if mapped == libc::MAP_FAILED {
            return;
        }
        if ASIDE.compare_exchange(std::ptr::null_mut(), mapped, Ordering::AcqRel, Ordering::Relaxed).is_err() {
            // SAFETY: it was mapped just now with this length, and nobody else knows it.
            unsafe { libc::munmap(mapped, KEPT_ASIDE) };
        }
    }
    SHORT.store(false, Ordering::Relaxed);
}

/// How many bytes this program may still allocate, by the limit on its addresses (RLIMIT_AS), and by what the machine has
/// (proc(5), MemAvailable). `None` where neither is known.
pub fn available() -> Option<u64> {
    let machine = || {
        let text = std::fs::read_to_string("/proc/meminfo").ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
        line.split_whitespace().next()?.parse::<u64>().ok()?.checked_mul(1024)
    };
    [address_space(), machine()].into_iter().flatten().min()
}

/// What is left of the limit on addresses; `None` where there is none.
fn address_space() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is writable.
    if unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } != 0 || limit.rlim_cur == libc::RLIM_INFINITY {
        return None;
    }
    let pages: u64 = std::fs::read_to_string("/proc/self/statm").ok()?.split_whitespace().next()?.parse().ok()?;
    Some(limit.rlim_cur.saturating_sub(pages.saturating_mul(page_size()?)))
}

/// How large a page is, in bytes.
pub(crate) fn page_size() -> Option<u64> {
    // SAFETY: sysconf takes a number.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_aside_is_given_back_once_and_kept_again() {
        refill();
        assert!(!is_short());
        assert!(give_up_reserve());
        assert!(is_short());
        assert!(!give_up_reserve());
        refill();
        assert!(!is_short());
        assert!(available().is_some_and(|bytes| bytes > 1 << 20));
    }
}
