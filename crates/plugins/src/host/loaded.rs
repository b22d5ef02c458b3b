//! The helper process with a plug-in in it: loads it, lets a driver call its functions, and tells the host.

use std::ffi::c_int;
use std::os::fd::RawFd;
use std::path::Path;

use super::callbacks;
use super::child::{Child, Facts, Link};
use super::message::{Message, Told};
use super::shared::{LOADING, NOWHERE, Shared};
use super::wire::Failure;
use crate::c_library::{FfiError, Library};

/// A step of a plug-in's life cycle failed and was told to the host.
pub struct Stop;
/// The result of a step.
pub type Step<T> = Result<T, Stop>;

impl Child<'_> {
    /// Tells the host something.
    pub fn tell(&self, message: &impl Message) {
        self.link.borrow_mut().tell(message);
    }

    /// Tells that a step failed, in which function (by its number), and its error code and text.
    ///
    /// # Errors
    /// Always: nothing comes after it.
    pub fn stop<T>(&self, failure: Failure, function: u32, code: c_int, text: &[u8]) -> Step<T> {
        let mut link = self.link.borrow_mut();
        link.tell(&Told::Failed { failure, function, code, text });
        // The host need not wait for the shutdown of a plug-in that has failed.
        link.flush();
        Err(Stop)
    }
}

/// Loads the plug-in and has `drive` call its functions. Returns when the host has been told.
pub fn in_helper(
    socket: RawFd,
    shared: &Shared,
    path: &Path,
    facts: Facts,
    drive: impl FnOnce(&'static Child<'static>, &'static Library) -> Step<()>,
) {
    // SAFETY: `shared` lives in the frame of the helper's first function, which ends the process instead of returning.
    let shared: &'static Shared = unsafe { &*std::ptr::from_ref(shared) };
    let mut link = Link::new(socket, shared);
    shared.set_place(LOADING);
    // SAFETY: this process exists to be crashed.
    let library = match unsafe { Library::open_forever(path) } {
        Ok(library) => library,
        Err(error) => {
            let FfiError::Open { reason, .. } = error;
            let (failure, function) = (Failure::Load, u32::MAX);
            link.tell(&Told::Failed { failure, function, code: 0, text: reason.as_bytes() });
            link.flush();
            wait_for_end(socket);
            return;
        }
    };
    shared.set_place(NOWHERE);
    let child: &'static Child<'static> = Box::leak(Box::new(Child::new(link, facts)));
    callbacks::install(child);
    let driven = drive(child, library);
    let mut link = child.link.borrow_mut();
    if driven.is_ok() {
        link.tell(&Told::Done {});
    }
    link.flush();
    wait_for_end(socket);
}

/// Stays alive until the host has heard everything: it kills this process's group while the leader still lives.
fn wait_for_end(socket: RawFd) {
    let mut byte = 0_u8;
    // SAFETY: reads at most one byte into a local.
    while unsafe { libc::read(socket, (&raw mut byte).cast(), 1) } > 0 {}
}
