//! The requests that the library's pools and lists have, with the objects that they use.
//!
//! Requests of messages come from two pools, those of nonblocking collectives from one of their own, those of partitioned
//! communication from two more (ompi/mca/pml/base/pml_base_open.c, ompi/mca/coll/libnbc/coll_libnbc_component.c,
//! ompi/mca/part/base/part_base_frame.c, v5.0.7); ompio has a list of those that go on
//! (ompi/mca/common/ompio/common_ompio_request.c). Others are made one by one and are in no list.

use std::collections::HashSet;

use super::HandleReader;
use crate::address::TargetAddr;
use crate::layouts::LayoutError;
use crate::readers::openmpi::pool;
use crate::readers::openmpi::requests::RequestConstants;
use crate::readers::openmpi::shapes::Ob1Shapes;
use crate::readers::record::{Record, Slot, shape, size_of};
use crate::readers::walk::circular_list;

shape!(
    /// What all requests share.
    Common = ["ompi_request_t"] { state: "req_state", object: "req_mpi_object.comm" }
);

/// No more requests than this are kept in mind.
const MAX_REQUESTS: usize = 1 << 20;

/// A request of the library, and what it uses. Null addresses: nothing, or not known.
#[derive(Debug, Clone, Copy, Default)]
pub struct InUse {
    /// The request.
    pub request: TargetAddr,
    /// Its communicator.
    pub communicator: TargetAddr,
    /// Its file.
    pub file: TargetAddr,
    /// Its datatype.
    pub datatype: TargetAddr,
}

/// The requests that were found, and why these are not all.
#[derive(Debug, Default)]
pub struct AllInUse {
    /// The requests, persistent ones included that are not active.
    pub requests: Vec<InUse>,
    /// What may be missing, in sentences.
    pub reasons: Vec<String>,
}

/// Finds them.
pub fn find(reader: &HandleReader<'_>) -> AllInUse {
    let mut all = AllInUse::default();
    if let Err(error) = search(reader, &mut all) {
        all.reasons.push(error.to_string());
    }
    let mut seen = HashSet::new();
    all.requests.retain(|found| seen.insert(found.request));
    all.reasons.push(
        "Open MPI keeps no list of generalized requests, of those of one-sided operations and of those that duplicate \
         communicators"
            .to_owned(),
    );
    all
}

fn search(reader: &HandleReader<'_>, all: &mut AllInUse) -> Result<(), LayoutError> {
    let finder = Finder {
        reader,
        common: Common::resolve(reader.layouts)?,
        ob1: Ob1Shapes::resolve(reader.layouts)?,
        constants: RequestConstants::resolve(reader.layouts)?,
    };
    if reader.pml == "ob1" {
        let (datatype, send, receive) = (finder.ob1.request.datatype, finder.ob1.send.size, finder.ob1.receive.size);
        finder.pool("mca_pml_base_send_requests", 0, send, Some(datatype), all);
        finder.pool("mca_pml_base_recv_requests", 0, receive, Some(datatype), all);
    } else if reader.pml == "cm" {
        // Its requests of other classes come from the same pools (ompi/mca/pml/cm/pml_cm_component.c, v4.1.4).
        finder.pool("mca_pml_base_send_requests", 0, finder.common.size, None, all);
        finder.pool("mca_pml_base_recv_requests", 0, finder.common.size, None, all);
    } else {
        all.reasons.push(format!(
            "the message transport (pml) {:?} keeps its requests where they cannot be found",
            reader.pml
        ));
    }
    if let Ok(requests) = reader.layouts.field("ompi_coll_libnbc_component_t", "requests") {
        let size = size_of(reader.layouts, "ompi_coll_libnbc_request_t")?;
        finder.pool("mca_coll_libnbc_component", requests.offset, size, None, all);
    }
    for symbol in ["mca_part_base_psend_requests", "mca_part_base_precv_requests"] {
        finder.pool(symbol, 0, finder.common.size, None, all);
    }
    finder.files(all)
}

struct Finder<'f, 'a> {
    reader: &'f HandleReader<'a>,
    common: Common,
    ob1: Ob1Shapes,
    constants: RequestConstants,
}

impl Finder<'_, '_> {
    /// Adds the requests in use of the pool `offset` bytes behind a symbol, where the library has it.
    fn pool(&self, symbol: &str, offset: u64, item_size: usize, datatype: Option<Slot>, all: &mut AllInUse) {
        let reader = self.reader;
        let at = match reader.symbol(symbol) {
            Ok(Some(at)) => at.wrapping_add(offset),
            Ok(None) => return,
            Err(error) => return all.reasons.push(format!("{symbol} could not be found: {error}")),
        };
        // A pool that was never used describes nothing yet.
        let allocated = reader.target.read_uint(
            at.wrapping_add(self.ob1.free_list.allocated.offset as u64),
            self.ob1.free_list.allocated.size as u64,
        );
        if allocated == Ok(0) {
            return;
        }
        let found = &mut all.requests;
        let walked = pool::walk(reader.target, reader.shapes, &self.ob1, at, item_size, |record| {
            if record.uint(self.common.state) != self.constants.state_invalid {
                found.push(InUse {
                    request: record.addr,
                    communicator: record.pointer(self.common.object),
                    datatype: datatype.map(|slot| record.pointer(slot)).unwrap_or_default(),
                    ..InUse::default()
                });
            }
            found.len() < MAX_REQUESTS
        });
        match walked {
            Ok(problems) => all.reasons.extend(problems),
            Err(error) => all.reasons.push(format!("the requests in {symbol} could not be read: {error}")),
        }
        if all.requests.len() >= MAX_REQUESTS {
            all.reasons.push(format!("only the first {MAX_REQUESTS} requests were read"));
        }
    }

    /// Adds the requests of files that go on.
    fn files(&self, all: &mut AllInUse) -> Result<(), LayoutError> {
        let reader = self.reader;
        let symbol = "mca_common_ompio_pending_requests";
        let Ok(Some(list)) = reader.symbol(symbol) else { return Ok(()) };
        let link = Slot::resolve(reader.layouts, "mca_ompio_request_t", "req_item")?;
        let sentinel = list.wrapping_add(reader.shapes.list.sentinel.offset as u64);
        // A list that was never used links nothing, not even itself.
        let next = reader.shapes.list_item.next.offset as u64;
        if reader.target.read_pointer(sentinel.wrapping_add(next)).is_ok_and(TargetAddr::is_null) {
            return Ok(());
        }
        let walk = circular_list(reader.target, sentinel, next, MAX_REQUESTS);
        for item in walk.elements {
            let request = item.wrapping_add((link.offset as u64).wrapping_neg());
            let mut buffer = Vec::new();
            match Record::read(reader.target, request, self.common.size, &mut buffer) {
                Ok(record) => {
                    let file = record.pointer(self.common.object);
                    all.requests.push(InUse { request, file, ..InUse::default() });
                }
                Err(error) => all.reasons.push(error.to_string()),
            }
        }
        if let Some(stop) = walk.stopped {
            all.reasons.push(format!("the list {symbol} was not read whole: {stop}"));
        }
        Ok(())
    }
}
