//! Names, source places and debug sections of the files that a process runs, without a debugger.
//!
//! What a debugger says of a frame and what this crate says are compared in its tests. A file is opened once and shared; what is
//! asked of it is read at the first question. All that reads DWARF asks for its units and entries here.

mod call_entries;
mod calls;
mod debug_entry;
mod debug_file;
mod debug_section;
mod demangle;
mod entries;
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
mod source;
mod split;
mod unit_addresses;
mod unit_reader;
mod units;

pub use call_entries::{CallEntry, ParameterEntry, has_all_calls};
pub use calls::{Call, Target};
pub use debug_entry::DebugEntry;
pub use debug_section::DebugSection;
pub use demangle::demangled;
pub use entries::{Entry, Value, Walk, each_inside, first_of, has_code, is_set};
pub use error::ObjectError;
pub use frames::{Language, SourceFrame};
pub use information::Information;
pub use msymbols::Function;
pub use names::without_parameters;
pub use object_file::{How, ObjectFile, Segment};
pub use places::DebugPlaces;
pub use target::files::Reader;
pub use unit_reader::UnitReader;
pub use units::{DebugUnit, UnitStart, Units};

/// All bytes of a section, shared.
pub type Section = gimli::EndianArcSlice<gimli::RunTimeEndian>;
