//! From whom a message is that was received from anybody: what the status says that MPI returns. Where the program wants
//! none, the function is given one of the recorder's own.

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use record_format::{Call, Request, Thread, request_flags};

use crate::communicators;
use crate::frames::{Frame, Kept};
use crate::messages;
use crate::real;
use crate::record::tables;
use crate::words;
use crate::wrapper::{Completion, Messages, NO, Wrapper};

/// Room for a status, whatever the MPI: that of the ABI of MPI 5 has as much, others less (bytes).
const ROOM: usize = 32;

/// What Fortran's programs give where they want no status: the standard's variables of C that hold the addresses of these.
const IGNORED_BY_FORTRAN: [&std::ffi::CStr; 4] =
    [c"MPI_F_STATUS_IGNORE", c"MPI_F_STATUSES_IGNORE", c"MPI_F08_STATUS_IGNORE", c"MPI_F08_STATUSES_IGNORE"];

/// What the program wants with the status.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// It is written there.
    Yes,
    /// Nothing.
    No,
    /// It is not known whether that is a place for one.
    Unknown,
}

/// Before a call that receives a message from anybody, or may complete such receives; `count` is how many statuses it
/// returns. Gives it places for them where the program has none.
#[cold]
pub fn before(frame: &mut Frame, wrapper: &Wrapper, thread: &mut Thread, count: usize) {
    if wrapper.status == NO || wanted(frame.argument(wrapper.status), wrapper.fortran) != Wanted::No {
        return;
    }
    let room = (count * ROOM).div_ceil(size_of::<Kept>()) as u64;
    let (first, most) = tables().waited_of(thread);
    if thread.waited_used.saturating_add(room) > most {
        return;
    }
    frame.given_back = thread.waited_used as u32 + 1;
    // SAFETY: the room is this thread's.
    let place = unsafe { first.add(thread.waited_used as usize) };
    thread.waited_used += room;
    frame.set_argument(wrapper.status, place as u64);
}

/// Gives back what the call used of the thread's room; where it also keeps requests there, that is done with these.
pub fn give_back(frame: &Frame, wrapper: &Wrapper, thread: &mut Thread) {
    if frame.given_back != 0 && !wrapper.is_array {
        thread.waited_used = u64::from(frame.given_back - 1);
    }
}

/// A blocking receive, or a probe that takes the message, has returned.
#[cold]
pub fn received(frame: &Frame, wrapper: &Wrapper, thread: &mut Thread, call: &Call) {
    let (peer, tag) = messages::received(frame, wrapper, call);
    if wrapper.messages != Messages::Probe && !words::is_from_any(peer, tag) {
        return;
    }
    let found = wrapper.flag == NO || words::returned(frame, wrapper.flag).is_some_and(|flag| flag != 0);
    if !found || peer < 0 && !words::is_from_any(peer, 0) {
        return;
    }
    if words::is_from_any(peer, tag) {
        let object = words::handle_of(frame, wrapper, wrapper.object);
        // Entered by the handle that the function was given, not by one of the record.
        let _ = communicators::place(thread, object);
        tell(frame, wrapper, thread, object, 0);
    } else if wrapper.messages == Messages::Probe {
        messages::count(thread, words::handle_of(frame, wrapper, wrapper.object), peer, tag, true);
    }
}

/// A request is complete; `place` is that of its status among those that the call returns.
pub fn completed(frame: &Frame, wrapper: &Wrapper, thread: &mut Thread, request: &Request, place: usize) {
    if request.flags & request_flags::ANY == 0 {
        return;
    }
    if wrapper.completion == Completion::Free {
        communicators::untold(thread, request.object);
    } else {
        tell(frame, wrapper, thread, request.object, place);
    }
}

#[cold]
fn tell(frame: &Frame, wrapper: &Wrapper, thread: &mut Thread, communicator: u64, place: usize) {
    let address = if wrapper.status == NO { 0 } else { frame.argument(wrapper.status) };
    let (source, tag, bytes) = words::status();
    if wanted(address, wrapper.fortran) != Wanted::Yes {
        return communicators::untold(thread, communicator);
    }
    let number = |member: usize| {
        // SAFETY: the function has written that status.
        unsafe { ((address as usize + place * bytes + member) as *const i32).read_unaligned() }
    };
    let (source, tag) = (number(source), number(tag));
    if source < 0 || tag < 0 {
        // Not of a message: the request was cancelled, or has failed.
        return communicators::untold(thread, communicator);
    }
    messages::count_recorded(thread, communicator, source, tag, true);
}

fn wanted(address: u64, fortran: bool) -> Wanted {
    if !fortran {
        // MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE: 0 in Open MPI (ompi/include/mpi.h.in of v4.1.4) and in the ABI, 1 in MPICH
        // (src/include/mpi.h.in of v4.0.2).
        return if address <= 1 { Wanted::No } else { Wanted::Yes };
    }
    static FOUND: [AtomicU64; IGNORED_BY_FORTRAN.len()] = [const { AtomicU64::new(0) }; IGNORED_BY_FORTRAN.len()];
    static LOOKED: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());
    if LOOKED.load(Ordering::Acquire).is_null() {
        for (name, place) in IGNORED_BY_FORTRAN.iter().zip(&FOUND) {
            let variable = real::variable(name).cast::<u64>();
            // SAFETY: MPI's variable, which has its value since MPI_Init.
            place.store(if variable.is_null() { 0 } else { unsafe { *variable } }, Ordering::Relaxed);
        }
        LOOKED.store(std::ptr::dangling_mut(), Ordering::Release);
    }
    let known = || FOUND.iter().map(|place| place.load(Ordering::Relaxed)).filter(|known| *known != 0);
    match (address, known().any(|known| known == address)) {
        (0, _) | (_, true) => Wanted::No,
        _ if known().next().is_some() => Wanted::Yes,
        _ => Wanted::Unknown,
    }
}
