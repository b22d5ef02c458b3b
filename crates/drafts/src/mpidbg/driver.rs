//! Drives a plug-in for handles through its life cycle. Runs in the helper process.
//!
//! The order of calls is that of the header: `mpidbg_init_once` before any other function, versions, image, process, then
//! queries, and the image and the process are finalised where their initialisation succeeded. The first error ends it.

use std::ffi::{c_int, c_void};
use std::os::fd::RawFd;
use std::path::Path;

use super::abi::{self, Function, Functions, HANDLE_TYPES, HandleTypes, NameMap, Plain};
use super::protocol::Event;
use super::{Limits, Query};
use plugins::c_library::Library;
use plugins::call;
use plugins::host::callbacks::{self, image_handle, process_handle};
use plugins::host::child::{Child, Facts};
use plugins::host::foreign;
use plugins::host::loaded::{Step, Stop, in_helper};
use plugins::host::shared::Shared;
use plugins::host::wire::Failure;

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
    /// Bounds; the host has its own.
    pub limits: Limits,
}

/// Runs the task and tells the host everything over `socket`. Returns when the host has been told.
pub fn run(socket: RawFd, shared: &Shared, task: &Task<'_>) {
    in_helper(socket, shared, task.path, task.facts, |child, library| {
        // SAFETY: the addresses are those that the library exports under the interface's names.
        let functions = unsafe { Functions::look_up(|function| library.function(function.name())) };
        Driver { child, library, functions, task }.everything()
    });
}

/// Calls the functions of a plug-in.
pub struct Driver<'a> {
    /// What the callbacks use.
    pub child: &'static Child<'static>,
    library: &'static Library,
    /// The functions.
    pub functions: Functions,
    /// What to do.
    pub task: &'a Task<'a>,
}

impl Driver<'_> {
    fn stop<T>(&self, failure: Failure, function: Function, code: c_int) -> Step<T> {
        self.child.stop(failure, function as u32, code, b"")
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
        let big = self.byte("mpidbg_dll_is_big_endian").map(|big| big != 0);
        let found = match (big, self.byte("mpidbg_dll_bitness")) {
            (Some(big), _) if big != cfg!(target_endian = "big") => byte_order(big).to_owned(),
            (_, Some(bits)) if usize::from(bits) != usize::BITS as usize => format!("of {bits} bits"),
            _ => return Ok(()),
        };
        self.child.tell(&Event::OtherMachine { found: format!("one that says it is {found}").as_bytes() });
        Err(Stop)
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
        self.child.tell(&Event::Versions { interface: version, width, words: &text });
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
        for (number, (_, capabilities, names)) in (0..).zip(abi::VARIABLES) {
            let flags = self.library.variable(capabilities).and_then(|addr| foreign::bytes(addr, size_of::<u32>()));
            let flags: Option<[u8; 4]> = flags.and_then(|bytes| bytes.try_into().ok());
            if let Some(flags) = flags.map(u32::from_ne_bytes) {
                self.child.tell(&Event::Capabilities { number, flags });
            }
            self.tell_names(number, names);
        }
        for query in self.task.queries {
            self.query(query);
        }
        call!(self, FinalizePerProcess, finalize_per_process, process, self.info(1));
        Ok(())
    }

    /// The names under which the plug-in had looked up what it put into the table, where that is a type of ours.
    fn tell_types(&self, types: &HandleTypes) {
        self.child.tell(&Event::Ready {});
        for (number, handle) in (0..).zip(types) {
            let known = self.child.types.borrow();
            if let Some(found) = known.iter().find(|known| std::ptr::from_ref(&***known) as usize == *handle) {
                self.child.tell(&Event::HandleType { number, name: &found.name });
            }
        }
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
            self.child.tell(&Event::NamedHandle { number, handle: entry.handle as u64, name: &name });
        }
    }
}

/// In words.
pub fn byte_order(big: bool) -> &'static str {
    if big { "big-endian" } else { "little-endian" }
}
