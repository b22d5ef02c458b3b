//! The pml of a process, as far as all that reads it needs it.

use std::cell::OnceCell;
use std::collections::HashSet;

use super::decoder::{Decoded, Decoder};
use super::persistent::{self, One};
use super::places::{Endpoints, Places};
use super::shapes::UcxShapes;
use super::worker;
use crate::ReaderError;
use crate::openmpi::communicators::Communicators;
use crate::openmpi::groups::Groups;
use crate::openmpi::requests::RequestConstants;
use crate::openmpi::shapes::{PoolShapes, Shapes};
use crate::openmpi::tags::InternalTags;
use crate::record::Record;
use crate::ucx::{Arrived, Flags, RequestPool, Workers};
use layouts::Layouts;
use target::address::TargetAddr;
use target::{Reason, Target};

/// The pml of a process.
pub struct Opened {
    pub(super) ucx: UcxShapes,
    pub(super) pools: PoolShapes,
    pub(super) constants: RequestConstants,
    pub(super) workers: Workers,
    pub(super) persistent: TargetAddr,
    tags: InternalTags,
    /// The receives that wait, by their links; found when somebody asks.
    posted: OnceCell<Option<HashSet<TargetAddr>>>,
}

/// A request that a program may have.
pub struct Held {
    /// What it does.
    pub decoded: Decoded,
    /// Its communicator.
    pub communicator: TargetAddr,
    /// The library is done with the data.
    pub data_complete: bool,
    /// The program has freed it.
    pub freed: bool,
}

impl Opened {
    /// Finds the pml.
    ///
    /// # Errors
    /// Where it cannot be read. Where it has no worker that is known how to read: the reason.
    pub fn find(target: &dyn Target, layouts: &Layouts) -> Result<Result<Self, Reason>, ReaderError> {
        let ucx = UcxShapes::resolve(layouts)?;
        let (pools, constants) = (PoolShapes::resolve(layouts)?, RequestConstants::resolve(layouts)?);
        Ok(worker::find(target, &ucx, &pools)?.map(|worker::Found { workers, persistent }| {
            let (tags, posted) = (InternalTags::new(layouts), OnceCell::new());
            Self { ucx, pools, constants, workers, persistent, tags, posted }
        }))
    }

    /// The ranks that its connections lead to.
    pub(super) fn endpoints<'a>(&'a self, target: &'a dyn Target, groups: &'a Groups<'a>) -> Endpoints<'a> {
        Endpoints::new(target, self.ucx.endpoints.all, &self.workers, groups)
    }

    /// What decodes its requests.
    pub(super) fn decoder<'a>(
        &'a self,
        target: &'a dyn Target,
        shapes: &'a Shapes,
        places: &'a Places,
        endpoints: &'a Endpoints<'a>,
    ) -> Decoder<'a> {
        Decoder::new(target, shapes, &self.ucx, &self.workers, places, endpoints, &self.tags)
    }

    /// The message of UCX at an address, which a matching probe has taken: its tag, and what else is known of it.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn message(&self, target: &dyn Target, at: TargetAddr) -> Result<(i64, Arrived), Reason> {
        let message = self.workers.held(target, at)?;
        Ok((super::tag::tag(message.word), message))
    }

    /// Whether the pml's request at `at` lies behind one that UCX's pool has given away.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn is_taken(&self, target: &dyn Target, at: TargetAddr) -> Result<bool, ReaderError> {
        let layout = &self.workers.layout;
        for worker in &self.workers.at {
            let pool = RequestPool::of(target, layout, *worker, self.ucx.behind.size)?;
            if pool.has_given(TargetAddr::new(at.get().wrapping_sub(layout.request.size as u64)))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What the request at `at` does; `None` where it makes no sense. `persistent`: whether it is of that class.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub fn held(
        &self,
        target: &dyn Target,
        shapes: &Shapes,
        groups: &Groups<'_>,
        communicators: &Communicators,
        (at, persistent): (TargetAddr, bool),
    ) -> Result<Option<Held>, ReaderError> {
        let places = Places::new(communicators);
        let endpoints = self.endpoints(target, groups);
        let mut decoder = self.decoder(target, shapes, &places, &endpoints);
        let mut buffer = Vec::new();
        let mut of_persistent = None;
        let mut native = at;
        if persistent {
            let record = Record::read(target, at, self.ucx.persistent.size, &mut buffer)?;
            match One::of(&mut decoder, &self.constants, &record) {
                Some(One::Active(behind, facts)) => (native, of_persistent) = (behind, Some(facts)),
                Some(One::Complete(decoded)) => return Ok(self.described(*decoded, communicators, true, false)),
                Some(One::Inactive(decoded)) => return Ok(self.described(*decoded, communicators, false, false)),
                None => return Ok(None),
            }
        }
        if let Some(facts) = of_persistent {
            decoder.active.insert(native, facts);
        }
        let size = self.workers.layout.request.size;
        let front = TargetAddr::new(native.get().wrapping_sub(size as u64));
        let record = Record::read(target, front, size + self.ucx.behind.size, &mut buffer)?;
        let flags = Flags::of(&self.workers.layout, &record);
        let Some((_, mut decoded)) = decoder.pooled(&record) else { return Ok(None) };
        let posted = self.posted.get_or_init(|| self.workers.waiting(target));
        if let (Some(posted), Some(link)) = (posted, decoded.link)
            && !posted.contains(&link)
        {
            decoded.set_matched();
        }
        Ok(self.described(decoded, communicators, flags.completed(), flags.released()))
    }

    fn described(
        &self,
        decoded: Decoded,
        communicators: &Communicators,
        data_complete: bool,
        freed: bool,
    ) -> Option<Held> {
        let communicator = communicators.found.get(decoded.comm)?.addr;
        Some(Held { decoded, communicator, data_complete, freed })
    }

    /// All requests that a program may have: each with its communicator and its datatype, which is null where it is not known.
    /// Returns why there may be more, too.
    ///
    /// # Errors
    /// Where the pool of persistent requests cannot be read.
    pub fn in_use(
        &self,
        target: &dyn Target,
        shapes: &Shapes,
        groups: &Groups<'_>,
        communicators: &Communicators,
        mut room: usize,
    ) -> Result<(Vec<[TargetAddr; 3]>, Vec<String>), ReaderError> {
        let places = Places::new(communicators);
        let endpoints = self.endpoints(target, groups);
        let mut decoder = self.decoder(target, shapes, &places, &endpoints);
        let (found, mut problems) =
            persistent::read(&mut decoder, shapes, &self.pools, &self.constants, self.persistent, &mut room)?;
        let mut all: Vec<Decoded> = found.complete.into_iter().flatten().chain(found.inactive).collect();
        for worker in &self.workers.at {
            let pool = RequestPool::of(target, &self.workers.layout, *worker, self.ucx.behind.size)?;
            problems.extend(pool.walk(|record| {
                all.extend(decoder.pooled(&record).map(|(_, decoded)| decoded));
                all.len() < room
            }));
        }
        let listed = all.into_iter().filter_map(|one| {
            let communicator = communicators.found.get(one.comm)?.addr;
            Some([TargetAddr::new(one.operation.request?), communicator, one.datatype])
        });
        Ok((listed.collect(), problems))
    }
}
