//! The requests that the library's pools and lists have, with the objects that they use.
//!
//! Requests of messages come from two pools, those of nonblocking collectives from one of their own, those of partitioned
//! communication from two more (ompi/mca/pml/base/pml_base_open.c, ompi/mca/coll/libnbc/coll_libnbc_component.c,
//! ompi/mca/part/base/part_base_frame.c, v5.0.7); ompio has a list of those that go on
//! (ompi/mca/common/ompio/common_ompio_request.c). Others are made one by one and are in no list.

use std::cell::OnceCell;
use std::collections::{BTreeSet, HashSet};

use super::{HandleReader, collective, ompio};
use crate::openmpi::cm::shapes::CmShapes;
use crate::openmpi::ob1::shapes::Ob1Shapes;
use crate::openmpi::pml::Pml;
use crate::openmpi::pool;
use crate::openmpi::requests::RequestConstants;
use crate::openmpi::shapes::PoolShapes;
use crate::record::{Slot, shapes, size_of};
use crate::references::Refers;
use layouts::LayoutError;
use model::handle::References;
use model::{HandleKind, Known};
use target::Reason;
use target::address::TargetAddr;

shapes! {
    /// What all requests share.
    Common = ["ompi_request_t"] { state: "req_state", object: "req_mpi_object.comm" };
}

/// With what requests of collectives begin.
const HELD: &str = "ompi_coll_base_nbc_request_t";

/// No more requests than this are kept in mind.
const MAX_REQUESTS: usize = 1 << 20;

/// A request of the library, and what it uses. Null addresses: nothing, or not known.
#[derive(Debug, Clone, Copy, Default)]
pub struct InUse {
    /// The request.
    pub request: TargetAddr,
    /// Its communicator.
    pub communicator: TargetAddr,
    /// Datatypes and operators that it holds.
    pub objects: [TargetAddr; 2],
    /// Whether it is a collective of libnbc.
    pub collective: bool,
}

/// The requests that were found, and why these are not all.
#[derive(Debug, Default)]
pub struct AllInUse {
    /// The requests, persistent ones included that are not active.
    pub requests: Vec<InUse>,
    /// What may be missing, in sentences.
    pub reasons: Vec<String>,
    /// Why those of messages are not known, if they are not.
    pub no_messages: Option<String>,
    /// The operators of collectives, with the request that uses each; found when somebody asks.
    operators: OnceCell<Vec<(TargetAddr, TargetAddr)>>,
}

impl HandleReader<'_> {
    /// The requests that the library's pools and lists have; found once.
    pub(super) fn requests_in_use(&self) -> &AllInUse {
        self.in_use.get_or_init(|| find(self))
    }

    /// References to those that `uses` picks.
    pub(super) fn requests(&self, uses: impl Fn(&InUse) -> bool) -> Known<References> {
        let all = self.requests_in_use();
        if let Some(reason) = &all.no_messages {
            return Err(Reason::of(reason));
        }
        let using = all.requests.iter().filter(|one| uses(one)).map(|one| (HandleKind::Request, one.request));
        Ok(self.references(&using.collect::<Vec<_>>()))
    }

    /// References to the nonblocking collectives that hold the operator at `addr`, in their schedules or otherwise.
    pub(super) fn users_of_operator(&self, addr: TargetAddr) -> References {
        let all = self.requests_in_use();
        let users = all.operators.get_or_init(|| {
            let of = |one: &InUse| {
                // A schedule that cannot be read is told of where the request is.
                let operators = collective::operators(self, one.request).unwrap_or_default();
                operators.into_iter().map(|operator| (operator, one.request)).collect::<Vec<_>>()
            };
            all.requests.iter().filter(|one| one.collective).flat_map(of).collect()
        });
        let scheduled = users.iter().filter(|(operator, _)| *operator == addr).map(|(_, request)| *request);
        let holding = all.requests.iter().filter(|one| one.objects.contains(&addr)).map(|one| one.request);
        let users: BTreeSet<TargetAddr> = scheduled.chain(holding).collect();
        let users: Vec<_> = users.into_iter().map(|request| (HandleKind::Request, request)).collect();
        self.references(&users)
    }
}

/// Finds them.
fn find(reader: &HandleReader<'_>) -> AllInUse {
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
        pools: PoolShapes::resolve(reader.layouts)?,
        constants: RequestConstants::resolve(reader.layouts)?,
    };
    match reader.pml {
        Pml::Ob1 => {
            let ob1 = Ob1Shapes::resolve(reader.layouts)?;
            let objects = [Some(ob1.request.datatype), None];
            finder.pool("mca_pml_base_send_requests", 0, ob1.send.size, objects, all);
            finder.pool("mca_pml_base_recv_requests", 0, ob1.receive.size, objects, all);
        }
        Pml::Cm => {
            // Its requests of other classes come from the same pools (ompi/mca/pml/cm/pml_cm_component.c, v4.1.4).
            let cm = CmShapes::resolve(reader.layouts).ok();
            let size = |of: fn(&CmShapes) -> usize| cm.as_ref().map_or(finder.common.size, of);
            let objects = [cm.as_ref().map(|cm| cm.request.datatype), None];
            finder.pool("mca_pml_base_send_requests", 0, size(|cm| cm.heavy_send.size), objects, all);
            finder.pool("mca_pml_base_recv_requests", 0, size(|cm| cm.heavy_receive.size), objects, all);
        }
        Pml::Ucx => match ucx(reader) {
            Ok((requests, problems)) => {
                all.requests.extend(requests);
                all.reasons.extend(problems);
            }
            Err(reason) => {
                let reason = format!("the requests of the pml ucx could not be read: {reason}");
                all.reasons.push(reason.clone());
                all.no_messages = Some(reason);
            }
        },
        other => {
            let reason = format!("{other} keeps its requests where they cannot be found");
            all.reasons.push(reason.clone());
            all.no_messages = Some(reason);
        }
    }
    if let Ok(requests) = reader.layouts.field("ompi_coll_libnbc_component_t", "requests") {
        let size = size_of(reader.layouts, "ompi_coll_libnbc_request_t")?;
        // Until it is complete, a collective keeps alive what the application has made of operators and datatypes
        // (`ompi_coll_base_retain_op`, ompi/mca/coll/base/coll_base_util.c, v4.1.4 and v5.0.7).
        let held = |name: &str| {
            let probe = |prefix: &str| Slot::probe(reader.layouts, HELD, &format!("{prefix}{name}")).ok().flatten();
            probe("data.op.").or_else(|| probe("data.refcounted.op."))
        };
        finder.pool("mca_coll_libnbc_component", requests.offset, size, [held("op"), held("datatype")], all);
    }
    for symbol in ["mca_part_base_psend_requests", "mca_part_base_precv_requests"] {
        finder.pool(symbol, 0, finder.common.size, [None; 2], all);
    }
    finder.files(all);
    Ok(())
}

/// Those of the pml ucx: UCX has them.
fn ucx(reader: &HandleReader<'_>) -> Known<(Vec<InUse>, Vec<String>)> {
    let (opened, communicators) = reader.ucx().as_ref().map_err(Clone::clone)?;
    let groups = reader.groups(&mut Vec::new());
    let found = opened.in_use(reader.target, reader.shapes, groups, communicators, MAX_REQUESTS);
    let (requests, problems) = found?;
    let in_use = |[request, communicator, datatype]: [TargetAddr; 3]| {
        let objects = [datatype, TargetAddr::NULL];
        InUse { request, communicator, objects, collective: false }
    };
    Ok((requests.into_iter().map(in_use).collect(), problems))
}

struct Finder<'f, 'a> {
    reader: &'f HandleReader<'a>,
    common: Common,
    pools: PoolShapes,
    constants: RequestConstants,
}

impl Finder<'_, '_> {
    /// Adds the requests in use of the pool `offset` bytes behind a symbol, where the library has it.
    fn pool(&self, symbol: &str, offset: u64, item_size: usize, objects: [Option<Slot>; 2], all: &mut AllInUse) {
        let reader = self.reader;
        let at = match reader.symbol(symbol) {
            Ok(Some(at)) => at.wrapping_add(offset),
            Ok(None) => return,
            Err(error) => return all.reasons.push(format!("{symbol} could not be found: {error}")),
        };
        // A pool that was never used describes nothing yet.
        let allocated = self.pools.free_list.allocated.read_uint(reader.target, at);
        if allocated == Ok(0) {
            return;
        }
        let collective = symbol == "mca_coll_libnbc_component";
        let found = &mut all.requests;
        let walked = pool::walk(reader.target, reader.shapes, &self.pools, at, item_size, |record| {
            if record.uint(self.common.state) != self.constants.state_invalid {
                found.push(InUse {
                    request: record.addr,
                    communicator: record.pointer(self.common.object),
                    objects: objects.map(|slot| slot.map(|slot| record.pointer(slot)).unwrap_or_default()),
                    collective,
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

    /// Adds the requests of ompio.
    fn files(&self, all: &mut AllInUse) {
        match ompio::all_requests(self.reader) {
            Ok(Some(walk)) => {
                all.reasons.extend(walk.stopped.map(|stop| format!("ompio's list of requests: {stop}")));
                all.requests.extend(walk.elements.into_iter().map(|request| InUse { request, ..InUse::default() }));
            }
            Ok(None) => {}
            Err(error) => all.reasons.push(format!("ompio's list of requests: {error}")),
        }
    }
}
