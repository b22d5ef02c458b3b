//! `libmpi_queues_recorder.so`: stands before an MPI and keeps, in the memory of its process, the latest calls of each thread,
//! the requests that are open, and what was done on each communicator. How that lies in memory says `record_format`.
//!
//! A call goes through a wrapper of its name (`stubs`), one way for all (`arch`): [`calls::enter`] writes it down, the
//! function itself is called, [`calls::leave`] writes down what it returned. There are no locks on that way, nothing is
//! allocated, and MPI is asked only where a communicator is made.
#![allow(unsafe_code)]

mod arch;
mod calls;
mod clock;
mod communicators;
mod frames;
mod keys;
mod origins;
mod presence;
mod real;
mod record;
mod requests;
mod stubs;
mod threads;
mod words;
mod wrapper;
