//! Files, which are ROMIO's: pointers to objects on the heap that begin with a number of their own (pmodels/mpich,
//! src/mpi/romio/adio/include/adio.h, v3.4 to v5.0).

use super::value::{ABI_PREDEFINED, Meaning, meaning};
use super::{Depth, HandleReader, info, predefined};
use crate::record::{Record, shapes};
use crate::{ReaderError, beginning, unreadable};
use model::handle::{self, Fact, FileDetails, Shown, View};
use model::{Handle, HandleKind, HandleList, HandleState};
use target::address::TargetAddr;
use target::printable;

shapes! {
    /// A file.
    File = ["ADIOI_FileD"] {
        cookie: "cookie",
        comm: "comm",
        name: "filename",
        amode: "access_mode",
        displacement: "disp",
        etype: "etype",
        filetype: "filetype",
        info: "info",
        errhandler: "err_handler",
        fortran: "fortran_handle",
    } optional {
        given_amode: "orig_access_mode",
        external32: "is_external32",
    };
}

/// With what every open file begins, and what a closed one leaves nothing of (`ADIOI_FILE_COOKIE`).
const COOKIE: i64 = 2_487_376;

/// Longest path that is read, in bytes.
const MAX_NAME: usize = 4096;

/// How much a summary shows.
const SHOWN: Shown = Shown { characters: 60, modes: 4 };

/// Why no file can be found but by its handle.
pub const NO_LIST: &str =
    "files are objects of ROMIO on the heap, of which the library has no list: name one by its handle";

/// Why there is no file at all.
const NO_FILES: &str = "this MPI was built without files (--disable-romio)";

/// What the handle of a file means.
pub fn describe(reader: &HandleReader<'_>, value: u64, depth: Depth) -> Handle {
    let mut handle = Handle { kind: HandleKind::File, handle: Some(format!("{value:#x}")), ..Handle::default() };
    let null = predefined::by_name("MPI_FILE_NULL");
    let null = null.filter(|null| value == u64::from(if reader.process.abi { null.abi } else { null.value }));
    if let Some(null) = null {
        handle.state = HandleState::Null;
        handle.name = Some(null.name.to_owned());
        handle.predefined = Some(true);
        handle.fortran = Some(i64::try_from(value).unwrap_or(0));
        null.name.clone_into(&mut handle.summary);
        return handle;
    }
    let at = TargetAddr::new(value);
    if !exist(reader) {
        handle.fail(HandleState::Invalid, NO_FILES);
        return handle;
    }
    if value < ABI_PREDEFINED {
        handle.fail(HandleState::Invalid, format!("{value:#x} is not an address"));
        return handle;
    }
    match read(reader, at, depth, &mut handle) {
        Ok(true) => {
            handle.state = HandleState::Live;
            handle.predefined = Some(false);
            handle.freed = Some(false);
        }
        Ok(false) => {
            let detail = format!("no open file of ROMIO is at {at} (never set, or closed)");
            handle.fail(HandleState::Invalid, detail);
        }
        Err(ReaderError::Target(error)) if !error.is_left_out() => {
            handle.fail(HandleState::Invalid, format!("no open file of ROMIO is at {at} ({error})"));
        }
        Err(error) => unreadable(&mut handle, &error),
    }
    handle
}

/// What the Fortran integer of a file means: ROMIO numbers files when Fortran asks for them.
pub fn describe_fortran(reader: &HandleReader<'_>, index: i64) -> Handle {
    if index == 0 {
        let null = predefined::by_name("MPI_FILE_NULL").map_or(0, |null| if reader.process.abi { null.abi } else { 0 });
        return Handle { fortran: Some(index), ..describe(reader, u64::from(null), Depth::Short) };
    }
    let detail = "ROMIO's table of Fortran's files is not read; name the file by its C handle";
    Handle {
        kind: HandleKind::File,
        fortran: Some(index),
        state: HandleState::Unknown,
        summary: format!("unknown MPI_File: {}", beginning(detail)),
        detail: Some(detail.to_owned()),
        ..Handle::default()
    }
}

/// No file can be listed.
pub fn list(reader: &HandleReader<'_>) -> HandleList {
    if !exist(reader) {
        let detail = Some(NO_FILES.to_owned());
        return HandleList { kind: HandleKind::File, complete: true, detail, handles: Vec::new() };
    }
    HandleList { kind: HandleKind::File, complete: false, detail: Some(NO_LIST.to_owned()), handles: Vec::new() }
}

/// Whether the MPI has files at all: `--disable-romio` leaves their functions out (configure.ac, v4.0.2).
pub fn exist(reader: &HandleReader<'_>) -> bool {
    let there = |name| reader.target.symbol(name).is_ok_and(|found| found.is_some());
    // A stripped program with the library in it has no names at all, which says nothing.
    there("MPI_File_open") || !there("MPI_Init")
}

/// Adds what the file at `at` holds; whether there is one.
fn read(reader: &HandleReader<'_>, at: TargetAddr, depth: Depth, handle: &mut Handle) -> Result<bool, ReaderError> {
    let shape = File::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, at, shape.size)?;
    if record.int(shape.cookie) != COOKIE {
        return Ok(false);
    }
    // What was closed may still begin so: its duplicate of the communicator was freed. ROMIO has handles as a program has.
    if !matches!(meaning(reader, HandleKind::Comm, record.uint(shape.comm)), Ok(Meaning::Live(_))) {
        return Ok(false);
    }
    let fortran = record.int(shape.fortran);
    // Since 5.0 they begin behind the numbers of the ABI (`ROMIO_HANDLE_OFFSET`, src/mpi/romio/mpi-io/mpioimpl.h, v5.0.0).
    let first = if reader.process.library.series().is_some_and(|series| series >= (5, 0)) { 0x1000 } else { 0 };
    handle.fortran = (fortran > 0).then_some(first + fortran);
    let name = printable(&record.text(shape.name, MAX_NAME, reader.target)?);
    let amode = record.uint(shape.given_amode.unwrap_or(shape.amode));
    let bit = |mode: &str| reader.layouts.constant(mode).map_or(0, |value| value as u64);
    handle::File::new(name, amode, bit).describe(SHOWN, handle);
    if depth == Depth::Short {
        return Ok(true);
    }
    let external32 = shape.external32.is_some_and(|slot| record.uint(slot) != 0);
    let errhandler = record.uint(shape.errhandler);
    let own = matches!(meaning(reader, HandleKind::Errhandler, errhandler), Ok(Meaning::Live(_)));
    let own = own.then(|| Some(reader.reference_of(HandleKind::Errhandler, errhandler)));
    let details = FileDetails {
        communicator: Err("ROMIO keeps a duplicate of it, but not which communicator that duplicates: see \
            duplicate"
            .into()),
        info: info::hints(reader, record.uint(shape.info)),
        component: Ok("romio".to_owned()),
        view: Ok(View {
            displacement: record.int(shape.displacement),
            etype: Some(reader.reference_of(HandleKind::Datatype, record.uint(shape.etype))),
            filetype: Some(reader.reference_of(HandleKind::Datatype, record.uint(shape.filetype))),
            representation: if external32 { "external32" } else { "native" }.to_owned(),
        }),
        requests: Err("requests of files do not say which file they belong to".into()),
        errhandler: own.ok_or_else(|| "the file has none of its own: that of MPI_FILE_NULL holds".into()),
    };
    details.tell(handle);
    reader.reference_of(HandleKind::Comm, record.uint(shape.comm)).tell("duplicate", handle);
    Ok(true)
}
