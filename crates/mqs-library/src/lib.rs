//! `libmpi_queues_mqs.so`: our reader as the message-queue library of other debuggers.
//!
//! TotalView, DDT, padb and our own host load it as they load the library of an MPI (the mqs interface, Message Queue Dumping of the
//! MPI Forum). It reads by the built-in readers, through the debugger's own callbacks: no file is opened, no process is looked for, no
//! thread is started, nothing is printed. A panic ends at the boundary, and what a reading may cost is bounded as everywhere
//! ([`target::Limits`]): the debugger has the only hung job.
//!
//! The functions are here, those for handles (the draft MPIDBG) in `mpidbg`; `state` keeps what hangs on the debugger's objects, `debugged` is a process behind callbacks, `loaded` finds
//! what it has loaded, `process` reads and iterates, `answers` fills in structures.
#![allow(unsafe_code)]
// `mqs_taddr_t` and `mqs_tword_t` are as wide as the machine.
#![allow(clippy::unnecessary_cast)]

mod answers;
mod debugged;
mod debugger;
mod error;
mod handles;
mod loaded;
mod memory;
pub mod mpidbg;
mod preload;
mod process;
mod state;

use std::ffi::{c_char, c_int, c_void};

use mqs_interface::{
    BasicCallbacks, COMPATIBILITY_MPI1, COMPATIBILITY_MPI2, Communicator, END_OF_LIST, Image, ImageCallbacks, Job,
    JobCallbacks, NO_INFORMATION, OK, PendingOperation, Process, ProcessCallbacks, ProcessLocation, TADDR_WIDTH,
};

use debugger::{Debugger, ImageTable, ProcessTable};
use error::{Code, Error, Text};
use state::with;

/// The variable by which a debugger's user says that it speaks MPI-2.
const MPI2: &str = "MPI_QUEUES_MQS_MPI2";

/// What `mqs_process_has_queues` says.
static MESSAGE: Text = Text::new();

/// Whether a variable of the debugger's environment asks for something.
fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|value| !value.is_empty() && value != "0")
}

/// Puts a value where the debugger wants it, unless that is nowhere.
///
/// # Safety
/// `place` is NULL, or there is room for a value.
unsafe fn put<T>(place: *mut T, value: T) {
    if !place.is_null() {
        // SAFETY: there is room, the caller says. It need not be aligned.
        unsafe { place.write_unaligned(value) };
    }
}

/// Marks the library for our own host.
#[unsafe(no_mangle)]
pub extern "C" fn mpi_queues_mqs_library() -> c_int {
    1
}

/// What it is, for people.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_version_string() -> *mut c_char {
    const TEXT: &str = concat!("mpi-queues ", env!("CARGO_PKG_VERSION"), ": reads stripped MPI libraries, too\0");
    TEXT.as_ptr().cast_mut().cast()
}

/// Which version of the interface it speaks. It has the functions for MPI-2 whatever it says; most debuggers take 2 only.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_version_compatibility() -> c_int {
    if is_set(MPI2) { COMPATIBILITY_MPI2 } else { COMPATIBILITY_MPI1 }
}

/// Bytes of an address.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_dll_taddr_width() -> c_int {
    TADDR_WIDTH as c_int
}

/// What a code means.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_dll_error_string(code: c_int) -> *mut c_char {
    let mut text = std::ptr::null_mut();
    with(|_| {
        text = error::text_of(code);
        Ok(OK)
    });
    if text.is_null() { c"it is at work already".as_ptr().cast_mut() } else { text }
}

/// The debugger hands over its callbacks.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_setup_basic_callbacks(callbacks: *const BasicCallbacks) {
    with(|state| {
        state.set_debugger(Debugger::new(callbacks));
        Ok(OK)
    });
}

/// The debugger tells of an image.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_setup_image(image: *mut Image, callbacks: *const ImageCallbacks) -> c_int {
    with(|state| state.add_image(image, ImageTable::new(callbacks)).map(|()| OK))
}

/// Whether an image has queues. What it loads later may, so only a process tells.
///
/// # Safety
/// `message` is NULL, or there is room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_image_has_queues(image: *mut Image, message: *mut *mut c_char) -> c_int {
    // SAFETY: as the caller says.
    unsafe { put(message, std::ptr::null_mut()) };
    with(|state| if state.has_image(image) { Ok(OK) } else { Err(Code::BadArgument.into()) })
}

/// The debugger gives up an image.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_destroy_image_info(info: *mut c_void) -> c_int {
    with(|state| {
        state.remove_image(info as usize);
        Ok(OK)
    })
}

/// The debugger tells of a process.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_setup_process(process: *mut Process, callbacks: *const ProcessCallbacks) -> c_int {
    with(|state| state.add_process(process, ProcessTable::new(callbacks)).map(|()| OK))
}

/// Whether a process has queues: an MPI that can be read, or could once it is initialised.
///
/// # Safety
/// `message` is NULL, or there is room for a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_process_has_queues(process: *mut Process, message: *mut *mut c_char) -> c_int {
    let mut text = std::ptr::null_mut();
    let code = with(|state| {
        let checked = state.process(process).and_then(|known| known.check());
        if let Err(error) = &checked {
            // A format of printf: what is no format has each % twice.
            MESSAGE.set(&error.text.replace('%', "%%"));
            text = MESSAGE.pointer();
        }
        checked.map(|()| OK)
    });
    // SAFETY: as the caller says.
    unsafe { put(message, text) };
    code
}

/// The debugger gives up a process.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_destroy_process_info(info: *mut c_void) -> c_int {
    with(|state| {
        state.remove_process(info as usize);
        Ok(OK)
    })
}

/// Reads the process anew.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_update_communicator_list(process: *mut Process) -> c_int {
    with(|state| state.process(process)?.update().map(|()| OK))
}

/// Goes to the first communicator.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_setup_communicator_iterator(process: *mut Process) -> c_int {
    with(|state| state.process(process)?.first())
}

/// The communicator at hand.
///
/// # Safety
/// `communicator` is NULL, or there is room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_get_communicator(process: *mut Process, communicator: *mut Communicator) -> c_int {
    with(|state| {
        let Some(found) = state.process(process)?.at_hand(answers::communicator)? else { return Ok(END_OF_LIST) };
        // SAFETY: as the caller says.
        unsafe { put(communicator, found) };
        Ok(OK)
    })
}

/// The members of the communicator at hand.
///
/// # Safety
/// `ranks` is NULL, or there is room for as many as the communicator has members.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_get_comm_group(process: *mut Process, ranks: *mut c_int) -> c_int {
    with(|state| {
        let universe = state.universe(process)?;
        let group = state.process(process)?.group(&|rank| universe.name(rank))?;
        let Some(group) = group else { return Ok(NO_INFORMATION) };
        if !ranks.is_null() {
            // SAFETY: as the caller says: `group` has as many members as `mqs_get_communicator` tells.
            unsafe { std::ptr::copy_nonoverlapping(group.as_ptr(), ranks, group.len()) };
        }
        Ok(OK)
    })
}

/// Goes to the next communicator.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_next_communicator(process: *mut Process) -> c_int {
    with(|state| state.process(process)?.next())
}

/// Goes to the beginning of a queue.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_setup_operation_iterator(process: *mut Process, class: c_int) -> c_int {
    with(|state| state.process(process)?.queue(class))
}

/// The next operation.
///
/// # Safety
/// `operation` is NULL, or there is room for one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mqs_next_operation(process: *mut Process, operation: *mut PendingOperation) -> c_int {
    with(|state| {
        let universe = state.universe(process)?;
        let found = state.process(process)?.operation(&|rank| universe.name(rank))?;
        let Some(found) = found else { return Ok(END_OF_LIST) };
        // SAFETY: as the caller says.
        unsafe { put(operation, found) };
        Ok(OK)
    })
}

/// A debugger that speaks MPI-2 tells of a job.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_setup_job(job: *mut Job, _callbacks: *const JobCallbacks) -> c_int {
    with(|state| state.add_job(job).map(|()| OK))
}

/// It gives up a job.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_destroy_job_info(info: *mut c_void) -> c_int {
    with(|state| {
        state.remove_job(info as usize);
        Ok(OK)
    })
}

/// It says what it calls a process among those of the job.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_set_process_identity(process: *mut Process, identity: c_int) -> c_int {
    with(|state| {
        let identity = u32::try_from(identity).map_err(|_| Error::from(Code::BadArgument))?;
        state.process(process)?.identity = Some(identity.into());
        Ok(OK)
    })
}

/// Whether a process has spawned others, or connected to them. Where they run no MPI keeps in memory that could be read.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_setup_new_process_iterator(process: *mut Process) -> c_int {
    with(|state| Ok(if state.process(process)?.knows_other_worlds()? { NO_INFORMATION } else { END_OF_LIST }))
}

/// The next of them.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_next_new_process(_process: *mut Process, _location: *mut ProcessLocation) -> c_int {
    END_OF_LIST
}

/// The same, by the name that the document has.
#[unsafe(no_mangle)]
pub extern "C" fn next_new_process(process: *mut Process, location: *mut ProcessLocation) -> c_int {
    mqs_next_new_process(process, location)
}

/// In which function a debugger is to stop to see new processes: in none, since they cannot be told.
#[unsafe(no_mangle)]
pub extern "C" fn mqs_spawn_breakpoint_name(_process: *mut Process, _name: *mut c_char, _room: c_int) -> c_int {
    NO_INFORMATION
}
