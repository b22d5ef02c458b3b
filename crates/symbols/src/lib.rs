//! Names, source places and debug sections of the files that a process runs, without a debugger.
//!
//! All of it is told as gdb 13 tells it: what a debugger says of a frame and what this crate says are compared in its tests.
//! A file is opened once and shared; what is asked of it is read at the first question.

mod calls;
mod code;
mod debug_file;
mod debug_section;
mod demangle;
mod error;
mod file_names;
mod frames;
mod functions;
mod information;
mod libiberty;
mod lines;
mod msymbols;
mod named;
mod names;
mod object_file;
mod places;
mod plt;
mod references;
mod source;
mod split;
mod unit_addresses;
mod unit_reader;
mod units;

pub use calls::{Call, Target};
pub use code::code_of;
pub use debug_section::DebugSection;
pub use demangle::demangled;
pub use error::ObjectError;
pub use frames::{Language, SourceFrame};
pub use msymbols::Function;
pub use names::without_parameters;
pub use object_file::{How, ObjectFile, Segment};
pub use places::DebugPlaces;
pub use target::files::Reader;
pub use unit_addresses::UnitAddresses;
pub use unit_reader::{OpenUnit, UnitReader, line_header_cost};

/// All bytes of a section, shared.
pub type Section = gimli::EndianArcSlice<gimli::RunTimeEndian>;
