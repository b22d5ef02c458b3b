//! The functions of the draft MPIDBG, which tells what handles mean.
#![allow(unsafe_code, non_upper_case_globals)]

use std::ffi::{c_char, c_int, c_void};

use model::HandleKind;
use mqs_interface::mpidbg::{
    HANDLE_TYPES, HandleTypes, INTERFACE_VERSION, NOT_FOUND, NOT_SUPPORTED, SUCCESS, UNAVAILABLE,
};
use mqs_interface::{BasicCallbacks, Image, ImageCallbacks, Process, ProcessCallbacks, TAddr};
use session::Designator;

use crate::debugger::{Debugger, ImageTable, ProcessTable};
use crate::error::Code;
use crate::handles::{self, OF_COMMUNICATORS, OF_ERRHANDLERS};
use crate::state::{State, with};
use crate::{mqs_dll_taddr_width, mqs_version_string, put};

/// What a debugger looks at before it calls anything: the machine that the library is for.
#[unsafe(no_mangle)]
pub static mpidbg_dll_is_big_endian: c_char = cfg!(target_endian = "big") as c_char;
/// Bits of a pointer.
#[unsafe(no_mangle)]
pub static mpidbg_dll_bitness: c_char = usize::BITS as c_char;
/// What can be told of communicators.
#[unsafe(no_mangle)]
pub static mpidbg_comm_capabilities: u32 = OF_COMMUNICATORS;
/// What can be told of error handlers.
#[unsafe(no_mangle)]
pub static mpidbg_errhandler_capabilities: u32 = OF_ERRHANDLERS;
/// What can be told of requests.
#[unsafe(no_mangle)]
pub static mpidbg_request_capabilities: u32 = handles::BASIC;
/// What can be told of statuses.
#[unsafe(no_mangle)]
pub static mpidbg_status_capabilities: u32 = handles::BASIC;

/// The code of this interface for what happened: one of ours has no meaning in it.
fn answered(body: impl FnOnce(&mut State) -> c_int) -> c_int {
    let code = with(|state| Ok(body(state)));
    if code < Code::NotMpi as c_int { code } else { UNAVAILABLE }
}

/// The debugger hands over its callbacks.
#[unsafe(no_mangle)]
pub extern "C" fn mpidbg_init_once(callbacks: *const BasicCallbacks) -> c_int {
    answered(|state| {
        state.set_debugger(Debugger::new(callbacks));
        SUCCESS
    })
}

/// Which version of the interface it speaks.
#[unsafe(no_mangle)]
pub extern "C" fn mpidbg_interface_version_compatibility() -> c_int {
    INTERFACE_VERSION
}

/// What it is, for people.
#[unsafe(no_mangle)]
pub extern "C" fn mpidbg_version_string() -> *mut c_char {
    mqs_version_string()
}

/// Bytes of an address.
#[unsafe(no_mangle)]
pub extern "C" fn mpidbg_dll_taddr_width() -> c_int {
    mqs_dll_taddr_width()
}

/// The debugger tells of an image, and is told its types of handles as far as it knows them itself.
///
/// # Safety
/// `types` is NULL, or there is room for a table.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mpidbg_init_per_image(
    image: *mut Image,
    callbacks: *const ImageCallbacks,
    types: *mut HandleTypes,
) -> c_int {
    answered(|state| {
        let Some(table) = ImageTable::new(callbacks) else { return UNAVAILABLE };
        // SAFETY: as the caller says.
        unsafe { put(types, HANDLE_TYPES.map(|name| table.find_type(image, name))) };
        if state.has_image(image) || state.add_image(image, Some(table)).is_ok() { SUCCESS } else { UNAVAILABLE }
    })
}

/// The debugger gives up an image.
#[unsafe(no_mangle)]
pub extern "C" fn mpidbg_finalize_per_image(_image: *mut Image, info: *mut c_void) {
    answered(|state| {
        state.remove_image(info as usize);
        SUCCESS
    });
}

/// The debugger tells of a process; types of handles are those of its image.
#[unsafe(no_mangle)]
pub extern "C" fn mpidbg_init_per_process(
    process: *mut Process,
    callbacks: *const ProcessCallbacks,
    _types: *mut HandleTypes,
) -> c_int {
    answered(|state| {
        if state.process(process).is_err() && state.add_process(process, ProcessTable::new(callbacks)).is_err() {
            return UNAVAILABLE;
        }
        match state.process(process).and_then(|known| known.check()) {
            Ok(()) => SUCCESS,
            Err(error) if error.code == Code::NotMpi => NOT_SUPPORTED,
            Err(_) => UNAVAILABLE,
        }
    })
}

/// The debugger gives up a process.
#[unsafe(no_mangle)]
pub extern "C" fn mpidbg_finalize_per_process(_process: *mut Process, info: *mut c_void) {
    answered(|state| {
        state.remove_process(info as usize);
        SUCCESS
    });
}

fn query(process: *mut Process, kind: HandleKind, value: TAddr, result: *mut usize) -> c_int {
    answered(|state| {
        let Some(debugger) = state.debugger() else { return UNAVAILABLE };
        let asked = state.process(process).and_then(|known| known.handle(kind, &Designator::Handle(value as u64)));
        match asked.map_err(|_| UNAVAILABLE).and_then(|handle| handles::answer(debugger, &handle, value)) {
            Ok(at) => {
                // SAFETY: the exported functions pass on what their callers say.
                unsafe { put(result, at) };
                SUCCESS
            }
            Err(code) => code,
        }
    })
}

fn from_fortran(process: *mut Process, kind: HandleKind, index: TAddr, result: *mut TAddr) -> c_int {
    answered(|state| {
        // An INTEGER, padded with zeros.
        let designator = Designator::Fortran(i64::from(index as u32 as i32));
        let asked = state.process(process).and_then(|known| known.handle(kind, &designator));
        let Ok(handle) = asked else { return UNAVAILABLE };
        let value = handle.handle.as_deref().and_then(|text| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok());
        let Some(value) = value else { return NOT_FOUND };
        // SAFETY: the exported functions pass on what their callers say.
        unsafe { put(result, value as TAddr) };
        SUCCESS
    })
}

macro_rules! kinds {
    ($($kind:ident $query:ident $from_fortran:ident;)*) => { $(
        /// What a handle means.
        ///
        /// # Safety
        /// `result` is NULL, or there is room for a pointer.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $query(
            _image: *mut Image,
            _image_info: *mut c_void,
            process: *mut Process,
            _process_info: *mut c_void,
            value: TAddr,
            result: *mut usize,
        ) -> c_int {
            query(process, HandleKind::$kind, value, result)
        }

        /// The handle of an INTEGER of Fortran.
        ///
        /// # Safety
        /// `result` is NULL, or there is room for a handle.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $from_fortran(
            _image: *mut Image,
            _image_info: *mut c_void,
            process: *mut Process,
            _process_info: *mut c_void,
            index: TAddr,
            result: *mut TAddr,
        ) -> c_int {
            from_fortran(process, HandleKind::$kind, index, result)
        }
    )* };
}

kinds! {
    Comm mpidbg_comm_query mpidbg_comm_f2c;
    Errhandler mpidbg_errhandler_query mpidbg_errhandler_f2c;
    Request mpidbg_request_query mpidbg_request_f2c;
    Status mpidbg_status_query mpidbg_status_f2c;
}
