//! `libmpi_queues_recorder.so`: stands before an MPI and keeps, in the memory of its process, the latest calls of each thread,
//! the requests that are open, and what was done on each communicator. How that lies in memory says `record_format`.
//!
//! A call goes through a wrapper of its name (`stubs`), one way for all (`arch`): [`calls::enter`] writes it down, the
//! function itself is called, [`calls::leave`] writes down what it returned. Of a call that sends that writes both (`sends`), and
//! short messages have a shorter way.
//! There are no locks on that way, nothing is allocated, and MPI is asked only where a communicator is made.
//!
//! As it is shipped it has nothing of the standard library, whose own start-up code would be in every process. Tools that
//! look at the code build it otherwise.
#![allow(unsafe_code)]
#![cfg_attr(panic = "abort", no_std)]

#[cfg(panic = "abort")]
extern crate core as std;

mod arch;
mod callers;
mod calls;
mod clock;
mod communicators;
mod frames;
mod keys;
mod messages;
mod origins;
mod presence;
mod real;
mod record;
mod requests;
mod sends;
mod statuses;
mod stubs;
mod threads;
mod words;
mod wrapper;

#[cfg(panic = "abort")]
#[panic_handler]
fn panicked(_: &std::panic::PanicInfo<'_>) -> ! {
    real::say(&[b"internal error"]);
    // SAFETY: it ends the process.
    unsafe { libc::abort() }
}
