//! What the component ompio keeps of an open file: its view and its requests.
//!
//! The structures have no class that states their size, so they are believed only where they point back to the file.

use super::HandleReader;
use crate::record::{Record, Slot, shapes};
use crate::references::Refers;
use crate::walk::{Walk, circular_list};
use crate::{ReaderError, add_problem};
use model::handle::{References, View};
use model::{HandleKind, Known};
use target::address::TargetAddr;
use target::{Reason, printable};

/// The component's name.
pub const NAME: &str = "ompio";

shapes! {
    /// An open file (`mca_common_ompio_data_t`, ompi/mca/common/ompio/common_ompio.h, v4.1.4 and v5.0.7). The view is what
    /// `mca_io_ompio_file_get_view` returns (ompi/mca/io/ompio/io_ompio_file_set_view.c).
    Data = ["mca_common_ompio_data_t"] {
        file: "ompio_fh.f_fh",
        comm: "ompio_fh.f_comm",
        displacement: "ompio_fh.f_disp" | "ompio_fh.f_fview.f_disp",
        etype: "ompio_fh.f_etype",
        filetype: "ompio_fh.f_orig_filetype",
        representation: "ompio_fh.f_datarep",
    };
    /// A request (ompi/mca/common/ompio/common_ompio_request.h, v4.1.4 and v5.0.7).
    Request = ["mca_ompio_request_t"] { link: "req_item", data: "req_data" };
    /// What posix keeps of one (ompi/mca/fbtl/posix/fbtl_posix.h, v4.1.4, v5.0.7 and branch v6.0.x).
    Posix = ["mca_fbtl_posix_request_data_t"] { file: "aio_fh" | "prd_fh" };
}

/// The list of all requests (ompi/mca/common/ompio/common_ompio_request.c, v4.1.4 and v5.0.7).
const REQUESTS: &str = "mca_common_ompio_pending_requests";

/// At most this many requests are followed.
const MAX_REQUESTS: usize = 100_000;

/// Longest name of a data representation, in bytes (MPI_MAX_DATAREP_STRING is 128).
const MAX_REPRESENTATION: usize = 128;

/// The view and the requests of the file at `file`, whose data lie at `data`.
pub fn read(
    reader: &HandleReader<'_>,
    file: TargetAddr,
    data: TargetAddr,
    problems: &mut Vec<String>,
) -> (Known<View>, Known<References>) {
    (view(reader, file, data).map_err(Reason::of), references(reader, file, problems))
}

fn references(reader: &HandleReader<'_>, file: TargetAddr, problems: &mut Vec<String>) -> Known<References> {
    let found = requests(reader, file)?;
    let (ours, nobodys) = found.ok_or_else(|| format!("the library has no symbol {REQUESTS}"))?;
    if nobodys > 0 {
        add_problem(problems, format!("{nobodys} requests of {NAME} do not say which file they belong to"));
    }
    let ours: Vec<_> = ours.into_iter().map(|request| (HandleKind::Request, request)).collect();
    Ok(reader.references(&ours))
}

fn view(reader: &HandleReader<'_>, file: TargetAddr, data: TargetAddr) -> Result<View, ReaderError> {
    let shape = Data::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, data, shape.size)?;
    if record.pointer(shape.file) != file {
        return Err(ReaderError::Damaged(format!("what {NAME} holds at {data} does not point back to the file")));
    }
    let representation = record.text(shape.representation, MAX_REPRESENTATION, reader.target)?;
    Ok(View {
        displacement: record.int(shape.displacement),
        etype: reader.reference(HandleKind::Datatype, record.pointer(shape.etype)),
        filetype: reader.reference(HandleKind::Datatype, record.pointer(shape.filetype)),
        representation: printable(&representation),
    })
}

/// The communicator that ompio uses for the file at `file`, whose data lie at `data`: a duplicate, or the file's own
/// (`mca_common_ompio_file_open`, ompi/mca/common/ompio/common_ompio_file_open.c, v4.1.4 and v5.0.7).
///
/// # Errors
/// Where it cannot be read, or does not belong to the file.
pub fn communicator(reader: &HandleReader<'_>, file: TargetAddr, data: TargetAddr) -> Result<TargetAddr, ReaderError> {
    let shape = Data::resolve(reader.layouts)?;
    let record = Record::owned(reader.target, data, shape.size)?;
    if record.pointer(shape.file) != file {
        return Err(ReaderError::Damaged(format!("what {NAME} holds at {data} does not point back to the file")));
    }
    Ok(record.pointer(shape.comm))
}

/// All requests of ompio; `None` where the library has no list of them.
///
/// # Errors
/// Where the list cannot be found.
pub fn all_requests(reader: &HandleReader<'_>) -> Result<Option<Walk>, ReaderError> {
    let Some(list) = reader.symbol(REQUESTS)? else { return Ok(None) };
    let link = Request::resolve(reader.layouts)?.link.offset as u64;
    let sentinel = reader.shapes.list.sentinel.address_in(list);
    let next = reader.shapes.list_item.next.offset as u64;
    if reader.target.read_pointer(sentinel.wrapping_add(next))?.is_null() {
        // The list is made when the component is first used (`mca_common_ompio_request_init`).
        return Ok(Some(Walk { elements: Vec::new(), stopped: None }));
    }
    let mut walk = circular_list(reader.target, sentinel, next, MAX_REQUESTS);
    for element in &mut walk.elements {
        *element = TargetAddr::new(element.get().wrapping_sub(link));
    }
    Ok(Some(walk))
}

/// The requests of the file at `file`, and how many of all do not say whose they are.
fn requests(reader: &HandleReader<'_>, file: TargetAddr) -> Result<Option<(Vec<TargetAddr>, usize)>, ReaderError> {
    let Some(all) = all_requests(reader)? else { return Ok(None) };
    if let Some(stop) = all.stopped {
        return Err(ReaderError::Damaged(stop.to_string()));
    }
    let mut nobodys = 0;
    let mut ours = Vec::new();
    for request in all.elements {
        match file_of(reader, request)? {
            Some(found) if found == file => ours.push(request),
            Some(_) => {}
            None => nobodys += 1,
        }
    }
    Ok(Some((ours, nobodys)))
}

/// The file that a request of ompio belongs to, where it says so and the file agrees.
///
/// # Errors
/// Where it cannot be read.
pub fn file_of(reader: &HandleReader<'_>, request: TargetAddr) -> Result<Option<TargetAddr>, ReaderError> {
    let Some(data) = data_of(reader, request)? else { return Ok(None) };
    let file = Slot::resolve(reader.layouts, "mca_common_ompio_data_t", "ompio_fh.f_fh")?;
    let file = file.read_pointer(reader.target, data)?;
    let back = Slot::resolve(reader.layouts, "ompi_file_t", "f_io_selected_data")?;
    let back = back.read_pointer(reader.target, file)?;
    Ok((back == data).then_some(file))
}

/// Where the data of a request's file lie. Only those that posix moves and that are not complete since say it.
fn data_of(reader: &HandleReader<'_>, request: TargetAddr) -> Result<Option<TargetAddr>, ReaderError> {
    let data = Request::resolve(reader.layouts)?.data;
    let data = data.read_pointer(reader.target, request)?;
    if data.is_null() {
        return Ok(None);
    }
    let file = Posix::resolve(reader.layouts)?.file;
    Ok(Some(file.read_pointer(reader.target, data)?).filter(|file| !file.is_null()))
}
