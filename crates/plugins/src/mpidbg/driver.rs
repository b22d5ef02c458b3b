//! Drives a plug-in for handles through its life cycle. Runs in the helper process.
//!
//! The order of calls is that of the header: `mpidbg_init_once` before any other function, versions, image, process, then
//! queries, and the image and the process are finalised where their initialisation succeeded. The first error ends it.

use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;
use std::path::Path;

use super::Query;
use super::abi::{self, Function, Functions, HANDLE_TYPES, HandleTypes, NameMap, Need, Plain};
use crate::c_library::Library;
use crate::host::callbacks::{self, image_handle, process_handle};
use crate::host::child::{Child, Facts};
use crate::host::foreign;
use crate::host::functions::call;
use crate::host::loaded::{failed, in_helper};
use crate::host::shared::Shared;
use crate::host::wire::{Failure, Kind, Put};

/// Longest text that is taken from a plug-in.
pub const MAX_TEXT: usize = 4096;
/// Longest list of names that is taken of a kind of handles; the standard has fewer than ten of each.
const MAX_NAMES: usize = 1000;

/// What the helper is to do.
#[derive(Debug, Clone)]
pub struct Task<'a> {
    /// The plug-in, absolute.
    pub path: &'a Path,
    /// Only load it and ask for its version.
    pub only_inspect: bool,
    /// What the callbacks tell.
    pub facts: Facts,
    /// What to ask.
    pub queries: &'a [Query],
    /// The longest list that is taken, in entries.
    pub max_entries: usize,
}

/// A step of the life cycle failed and was told to the host.
pub struct Stop;
/// The result of a step.
pub type Step<T> = Result<T, Stop>;

/// Runs the task and tells the host everything over `socket`. Returns when the host has been told.
pub fn run(socket: RawFd, shared: &Shared, task: &Task<'_>) {
    in_helper(socket, shared, task.path, task.facts, |child, shared, library| {
        // SAFETY: the addresses are those that the library exports under the interface's names.
        let functions = unsafe { Functions::look_up(|function| library.function(function.name())) };
        Driver { child, shared, library, functions, task }.everything().is_ok()
    });
}

/// The functions that a plug-in should have and that `has` does not.
pub fn missing(need: Need, has: impl Fn(&str) -> bool) -> Vec<String> {
    let wanted = Function::ALL.iter().filter(|function| function.need() == need).map(|function| function.name());
    wanted.filter(|name| !has(name)).map(str::to_owned).collect()
}

/// Calls the functions of a plug-in.
pub struct Driver<'a> {
    /// What the callbacks use.
    pub child: &'static Child<'static>,
    /// Where the function that is called is noted.
    pub shared: &'static Shared,
    library: &'static Library,
    /// The functions.
    pub functions: Functions,
    /// What to do.
    pub task: &'a Task<'a>,
}

impl Driver<'_> {
    /// Tells the host something.
    pub fn event(&self, kind: Kind, write: impl FnOnce(&mut Vec<u8>)) {
        self.child.link.borrow_mut().event(kind, write);
    }

    fn stop<T>(&self, failure: Failure, function: Function, code: c_int) -> Step<T> {
        let mut link = self.child.link.borrow_mut();
        failed(&mut link, failure, function as u32, code, b"");
        // The host need not wait for the shutdown of a plug-in that has failed.
        link.flush();
        Err(Stop)
    }

    fn everything(&self) -> Step<()> {
        self.machine()?;
        match call!(self, InitOnce, init_once, &raw const callbacks::BASIC) {
            Some(abi::SUCCESS) => {}
            code => return self.stop(Failure::Call, Function::InitOnce, code.unwrap_or(-1)),
        }
        self.versions()?;
        if self.task.only_inspect {
            return Ok(());
        }
        // Told before anything else: a later crash must not lose the version.
        self.child.link.borrow_mut().flush();
        self.image()
    }

    /// What the plug-in says of the machine that it is for, in variables that are valid at once.
    fn machine(&self) -> Step<()> {
        if let Some(big) = self.byte("mpidbg_dll_is_big_endian")
            && (big != 0) != cfg!(target_endian = "big")
        {
            return self.stop(Failure::ByteOrder, Function::InitOnce, c_int::from(big));
        }
        match self.byte("mpidbg_dll_bitness") {
            Some(bits) if usize::from(bits) != usize::BITS as usize => {
                self.stop(Failure::Bits, Function::InitOnce, c_int::from(bits))
            }
            _ => Ok(()),
        }
    }

    fn byte(&self, name: &str) -> Option<u8> {
        foreign::bytes(self.library.variable(name)?, 1)?.first().copied()
    }

    fn versions(&self) -> Step<()> {
        let version = call!(self, InterfaceVersion, interface_version).unwrap_or(0);
        let width = call!(self, DllTaddrWidth, dll_taddr_width).unwrap_or(0);
        let right = version == abi::INTERFACE_VERSION;
        let text = if right { call!(self, VersionString, version_string) } else { None };
        let text = text.and_then(|text| foreign::text(text, MAX_TEXT)).unwrap_or_default();
        self.event(Kind::Versions, |out| {
            out.i32(version);
            out.i32(width);
            out.text(&text);
        });
        if !right {
            return self.stop(Failure::Version, Function::InterfaceVersion, version);
        }
        if usize::try_from(width) != Ok(abi::TADDR_WIDTH) {
            return self.stop(Failure::Width, Function::DllTaddrWidth, width);
        }
        Ok(())
    }

    /// What the plug-in has hung on the image (0) or the process (1).
    pub fn info(&self, which: usize) -> *mut c_void {
        self.child.infos[which].get()
    }

    fn image(&self) -> Step<()> {
        let image = image_handle(self.child);
        let mut types: HandleTypes = [0; HANDLE_TYPES.len()];
        let code =
            call!(self, InitPerImage, init_per_image, image, &raw const callbacks::IMAGE_CALLBACKS, &raw mut types);
        self.initialised(Failure::Image, Function::InitPerImage, code)?;
        let result = self.process(&mut types);
        call!(self, FinalizePerImage, finalize_per_image, image, self.info(0));
        result
    }

    fn initialised(&self, failure: Failure, function: Function, code: Option<c_int>) -> Step<()> {
        if self.child.blind_offsets.get() > 0 {
            // Whatever the plug-in thinks of it: it would go on with offsets of -1. A type that is not known is no
            // failure: the plug-in looks for the types of all handles, those of C++ too, and most are not there.
            return self.stop(Failure::Layouts, function, 0);
        }
        match code.unwrap_or(-1) {
            abi::SUCCESS => Ok(()),
            abi::NOT_SUPPORTED => self.stop(failure, function, abi::NOT_SUPPORTED),
            code => self.stop(Failure::Call, function, code),
        }
    }

    fn process(&self, types: &mut HandleTypes) -> Step<()> {
        let process = process_handle(self.child);
        let callbacks = &raw const callbacks::PROCESS_CALLBACKS;
        let code = call!(self, InitPerProcess, init_per_process, process, callbacks, std::ptr::from_mut(types));
        self.initialised(Failure::Process, Function::InitPerProcess, code)?;
        self.tell_types(types);
        for (number, (_, capabilities, names)) in abi::VARIABLES.iter().enumerate() {
            let flags = self.library.variable(capabilities).and_then(|addr| foreign::bytes(addr, size_of::<u32>()));
            let flags: Option<[u8; 4]> = flags.and_then(|bytes| bytes.try_into().ok());
            if let Some(flags) = flags.map(u32::from_ne_bytes) {
                self.event(Kind::Capabilities, |out| {
                    out.u8(number as u8);
                    out.u32(flags);
                });
            }
            self.tell_names(number as u8, names);
        }
        for query in self.task.queries {
            self.query(query);
        }
        call!(self, FinalizePerProcess, finalize_per_process, process, self.info(1));
        Ok(())
    }

    /// The names under which the plug-in had looked up what it put into the table; empty: nothing, or no type of ours.
    fn tell_types(&self, types: &HandleTypes) {
        let known = self.child.types.borrow();
        self.event(Kind::HandleTypes, |out| {
            for handle in types {
                let found = known.iter().find(|known| std::ptr::from_ref(&***known) as usize == *handle);
                out.text(found.map_or(b"", |known| &known.name));
            }
        });
    }

    fn tell_names(&self, number: u8, variable: &str) {
        let Some(addr) = self.library.variable(variable) else { return };
        let Some(start) = foreign::bytes(addr, size_of::<usize>()).and_then(|bytes| bytes.try_into().ok()) else {
            return;
        };
        let start = usize::from_ne_bytes(start);
        // Open MPI's draft has no room for the end mark of one of its lists: it ends where its memory does.
        let room = self.child.allocated_at(start).map_or(MAX_NAMES, |bytes| bytes / size_of::<NameMap>());
        for entry in 0..room.min(MAX_NAMES) {
            let Some(addr) = start.checked_add(entry * size_of::<NameMap>()).filter(|_| start != 0) else { return };
            let Some(entry) = foreign::bytes(addr, size_of::<NameMap>()).and_then(|bytes| NameMap::from_bytes(&bytes))
            else {
                return;
            };
            let Some(name) = foreign::text(entry.name as *const _, MAX_TEXT) else { return };
            self.event(Kind::NamedHandle, |out| {
                out.u8(number);
                out.u64(entry.handle as u64);
                out.text(&name);
            });
        }
    }
}
