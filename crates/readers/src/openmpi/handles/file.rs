//! Files (`ompi_file_t`, ompi/file/file.h, v4.1.4 and v5.0.7).

use super::{Depth, HandleReader, hints, ompio};
use crate::ReaderError;
use crate::record::{Record, shape};
use model::{Handle, HandleKind, HandleState};
use target::address::TargetAddr;
use target::printable;

shape!(
    /// Files.
    File = ["ompi_file_t"] {
        name: "f_filename",
        amode: "f_amode",
        flags: "f_flags",
        comm: "f_comm",
        errhandler: "error_handler",
        version: "f_io_version",
        component: "f_io_selected_component.v2_0_0.io_version.mca_component_name"
            | "f_io_selected_component.v3_0_0.io_version.mca_component_name",
        data: "f_io_selected_data",
        info: "super.s_info",
    }
);

/// Longest file name that is read, in bytes (PATH_MAX).
const MAX_NAME: usize = 4096;

/// A summary shows at most this many characters of a file's name: its end, which tells files apart.
const SHOWN: usize = 40;

/// A summary shows at most this many modes.
const SHOWN_MODES: usize = 2;

/// Modes of MPI_File_open, in the order in which the standard lists them (MPI-3.1, 13.2.1).
const MODES: &[&str] = &[
    "MPI_MODE_RDONLY",
    "MPI_MODE_RDWR",
    "MPI_MODE_WRONLY",
    "MPI_MODE_CREATE",
    "MPI_MODE_EXCL",
    "MPI_MODE_DELETE_ON_CLOSE",
    "MPI_MODE_UNIQUE_OPEN",
    "MPI_MODE_SEQUENTIAL",
    "MPI_MODE_APPEND",
];

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, addr: TargetAddr, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let shape = File::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, addr, shape.size, &mut buffer)?;
    let closed = record.uint(shape.flags) & reader.flag("OMPI_FILE_ISCLOSED") != 0;
    handle.freed = Some(closed);
    let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
    let amode = record.uint(shape.amode);
    let modes = modes(reader, amode);
    if closed {
        // The object is still there where somebody holds it, such as with the parameter mpi_no_free_handles
        // (`file_constructor`, ompi/file/file.c, v4.1.4).
        let detail = format!("\"{}\" has been closed (MPI_File_close)", tail(&name));
        handle.state = HandleState::Freed;
        handle.summary = format!("freed MPI_File: {detail}");
        handle.name = Some(name);
        handle.detail = Some(detail);
        return Ok(());
    }
    // The first mode is how the file is accessed.
    let more = if modes.len() > SHOWN_MODES { "|…" } else { "" };
    handle.summary = format!("\"{}\", {}{more}", tail(&name), modes[..modes.len().min(SHOWN_MODES)].join("|"));
    handle.fact("filename", name.clone());
    handle.name = Some(name);
    handle.fact("amode", amode);
    handle.fact("amode_names", modes);
    if depth == Depth::Short {
        return Ok(());
    }
    handle.fact("communicator", reader.reference(HandleKind::Comm, record.pointer(shape.comm)));
    hints::add(reader, record.pointer(shape.info), handle);
    let component = printable(&record.text(shape.component, MAX_NAME, reader.target)?);
    if record.uint(shape.version) == 0 || component.is_empty() {
        // The file is being opened (`mca_io_base_file_select`, ompi/mca/io/base/io_base_file_select.c, v4.1.4).
        for fact in ["component", "view", "requests"] {
            handle.unknown(fact, "no component of the library has taken the file yet");
        }
    } else {
        handle.fact("component", component.clone());
        if component == ompio::NAME {
            ompio::read(reader, addr, record.pointer(shape.data), handle);
        } else {
            handle.unknown("view", format!("{component} keeps it in a form of its own"));
            handle.unknown("requests", format!("{component} keeps its requests in a form of its own"));
        }
    }
    handle.fact("errhandler", reader.reference(HandleKind::Errhandler, record.pointer(shape.errhandler)));
    Ok(())
}

/// The communicator that the file's component has for its own use; null where it has none, or that is not known.
///
/// # Errors
/// Where it cannot be read.
pub fn duplicate(reader: &HandleReader<'_>, addr: TargetAddr) -> Result<TargetAddr, ReaderError> {
    let shape = File::resolve(reader.layouts)?;
    let mut buffer = Vec::new();
    let record = Record::read(reader.target, addr, shape.size, &mut buffer)?;
    let component = printable(&record.text(shape.component, MAX_NAME, reader.target)?);
    if record.uint(shape.version) == 0 || component != ompio::NAME {
        return Ok(TargetAddr::NULL);
    }
    let found = ompio::communicator(reader, addr, record.pointer(shape.data))?;
    Ok(if found == record.pointer(shape.comm) { TargetAddr::NULL } else { found })
}

/// Names of the bits of `amode`; what has no name as a number.
fn modes(reader: &HandleReader<'_>, amode: u64) -> Vec<String> {
    let mut left = amode;
    let mut names = Vec::new();
    for name in MODES {
        let bit = reader.flag(name);
        if bit != 0 && left & bit == bit {
            left &= !bit;
            names.push((*name).to_owned());
        }
    }
    if left != 0 || names.is_empty() {
        names.push(format!("{left:#x}"));
    }
    names
}

fn tail(name: &str) -> String {
    let skipped = name.chars().count().saturating_sub(SHOWN);
    if skipped == 0 { name.to_owned() } else { format!("…{}", name.chars().skip(skipped).collect::<String>()) }
}
