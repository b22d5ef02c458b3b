//! A made-up MPI: all that it has is a symbol at which the rank and the size of its world stand.

use std::rc::Rc;

use layouts::{Layouts, Verification};
use model::{Capability, Communicator, Handle, HandleKind, HandleList, HandleState, Mpi, QueueReport};
use readers::{Depth, HandleSource, Lifetime, ReaderError};
use session::{Detected, Family, Installed, LayoutChoice, SessionError};
use target::Target;

/// The family.
pub struct Third;

impl Family for Third {
    fn name(&self) -> &'static str {
        "Third MPI"
    }

    fn detect(&self, target: &dyn Target, _: &LayoutChoice) -> Result<Option<Detected>, SessionError> {
        let Some(image) = target.images()?.into_iter().next() else { return Ok(None) };
        if target.symbol("third_mpi_world")?.is_none() {
            return Ok(None);
        }
        Ok(Some(Detected {
            mpi: Mpi { implementation: self.name().to_owned(), library: image.path.clone(), ..Mpi::default() },
            image,
            lifetime: Lifetime::Active,
            layouts: Rc::new(Layouts::new(Vec::new())),
            layouts_name: "none".to_owned(),
            verification: Verification::default(),
            set_aside: Vec::new(),
            installed: Rc::new(Self),
        }))
    }
}

impl Installed for Third {
    fn family(&self) -> &'static str {
        "Third MPI"
    }

    fn refresh(&self, _: &dyn Target, known: &Detected) -> Result<Detected, SessionError> {
        let mut detected = known.clone();
        detected.mpi.version = Some("after it ran".to_owned());
        Ok(detected)
    }

    fn queues(&self, target: &dyn Target, _: &Detected, _: bool) -> Result<QueueReport, ReaderError> {
        let Some(symbol) = target.symbol("third_mpi_world")? else { return Ok(QueueReport::default()) };
        let number = |at: u64| target.read_uint(symbol.addr.wrapping_add(at), 8).map(|value| value as i64);
        let world = Communicator {
            name: "MPI_COMM_WORLD".into(),
            local_rank: Some(number(0)?),
            size: Some(number(8)?),
            ..Communicator::default()
        };
        Ok(QueueReport { communicators: vec![world], ..QueueReport::default() })
    }

    fn handles(
        &self,
        _: &dyn Target,
        _: &Detected,
        read: &mut dyn FnMut(&dyn HandleSource),
    ) -> Result<(), SessionError> {
        read(&Handles);
        Ok(())
    }

    fn capabilities(&self, _: &dyn Target, _: &Detected) -> Vec<Capability> {
        vec![Capability::exact("communicators")]
    }
}

struct Handles;

impl HandleSource for Handles {
    fn describe(&self, kind: HandleKind, _: u64, _: Depth) -> Handle {
        Handle { kind, state: HandleState::Live, summary: "MPI_COMM_WORLD".to_owned(), ..Handle::default() }
    }
    fn describe_fortran(&self, kind: HandleKind, _: i64, depth: Depth) -> Handle {
        self.describe(kind, 0, depth)
    }
    fn describe_status(&self, _: &[u8]) -> Handle {
        Handle::default()
    }
    fn list(&self, _: HandleKind) -> HandleList {
        HandleList::default()
    }
}
