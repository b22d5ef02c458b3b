//! Files (`ompi_file_t`, ompi/file/file.h, v4.1.4 and v5.0.7).

use super::{Depth, HandleReader, hints, ompio};
use crate::ReaderError;
use crate::record::{Record, shapes};
use model::handle::{self, FileDetails, Shown};
use model::{Handle, HandleKind, HandleState};
use target::address::TargetAddr;
use target::{Reason, printable};

shapes! {
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
    };
}

/// Longest file name that is read, in bytes (PATH_MAX).
const MAX_NAME: usize = 4096;

/// How much a summary shows.
const SHOWN: Shown = Shown { characters: 40, modes: 2 };

/// Adds what the object at `addr` holds.
///
/// # Errors
/// Where it cannot be read.
pub fn read(reader: &HandleReader<'_>, addr: TargetAddr, depth: Depth, handle: &mut Handle) -> Result<(), ReaderError> {
    let shape = File::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, addr, shape.size)?;
    let closed = record.uint(shape.flags) & reader.flag("OMPI_FILE_ISCLOSED") != 0;
    handle.freed = Some(closed);
    let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
    let amode = record.uint(shape.amode);
    if closed {
        // The object is still there where somebody holds it, such as with the parameter mpi_no_free_handles
        // (`file_constructor`, ompi/file/file.c, v4.1.4).
        handle.fail(HandleState::Freed, format!("\"{}\" has been closed (MPI_File_close)", SHOWN.tail(&name)));
        handle.name = Some(name);
        return Ok(());
    }
    handle::File::new(name, amode, |mode| reader.flag(mode)).describe(SHOWN, handle);
    if depth == Depth::Short {
        return Ok(());
    }
    let name = printable(&record.text(shape.component, MAX_NAME, reader.target)?);
    let (component, (view, requests)) = if record.uint(shape.version) == 0 || name.is_empty() {
        // The file is being opened (`mca_io_base_file_select`, ompi/mca/io/base/io_base_file_select.c, v4.1.4).
        let reason = Reason::new("no component of the library has taken the file yet");
        (Err(reason.clone()), (Err(reason.clone()), Err(reason)))
    } else if name == ompio::NAME {
        (Ok(name), ompio::read(reader, addr, record.pointer(shape.data), &mut handle.problems))
    } else {
        let kept = |what: &str| format!("{name} keeps {what} in a form of its own").into();
        (Ok(name.clone()), (Err(kept("it")), Err(kept("its requests"))))
    };
    let details = FileDetails {
        communicator: Ok(reader.reference(HandleKind::Comm, record.pointer(shape.comm))),
        info: hints::read(reader, record.pointer(shape.info), &mut handle.problems),
        component,
        view,
        requests,
        errhandler: Ok(reader.reference(HandleKind::Errhandler, record.pointer(shape.errhandler))),
    };
    details.tell(handle);
    Ok(())
}

/// The communicator that the file's component has for its own use; null where it has none, or that is not known.
///
/// # Errors
/// Where it cannot be read.
pub fn duplicate(reader: &HandleReader<'_>, addr: TargetAddr) -> Result<TargetAddr, ReaderError> {
    let shape = File::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, addr, shape.size)?;
    let component = printable(&record.text(shape.component, MAX_NAME, reader.target)?);
    if record.uint(shape.version) == 0 || component != ompio::NAME {
        return Ok(TargetAddr::NULL);
    }
    let found = ompio::communicator(reader, addr, record.pointer(shape.data))?;
    Ok(if found == record.pointer(shape.comm) { TargetAddr::NULL } else { found })
}

/// A file as the lines of its requests name it.
pub fn label(file: &Handle) -> String {
    match (&file.name, file.state) {
        (Some(name), HandleState::Live) => format!("\"{}\"", SHOWN.tail(name)),
        _ => file.summary.clone(),
    }
}
