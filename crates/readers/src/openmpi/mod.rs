//! Open MPI's queues, read directly.
//!
//! Which pml moves the messages decides who reads the queues: each that can be read has a folder. With any other the
//! communicators are listed and every queue is `no_information` with the remedy.

pub mod classes;
pub mod detect;

mod assembly;
mod cm;
mod communicators;
mod groups;
pub mod handles;
mod libnbc;
mod ob1;
pub mod pml;
mod pml_ucx;
mod pool;
pub mod predefined;
mod queues;
mod requests;
pub mod shapes;
mod tags;
pub mod wanted;

pub use self::cm::provider;

use self::pml::Pml;
use crate::ReaderError;
use crate::queues::refuse;
use layouts::Layouts;
use model::{QueueReport, QueueSource};
use target::Target;

/// The built-in reader for one stopped process.
pub struct OpenMpiReader<'a> {
    target: &'a dyn Target,
    layouts: &'a Layouts,
    pml: Pml,
    /// Whether queues are read, or communicators only.
    pub with_queues: bool,
}

impl<'a> OpenMpiReader<'a> {
    /// A reader over `target` with verified layouts; `pml` is the selected one.
    pub fn new(target: &'a dyn Target, layouts: &'a Layouts, pml: Pml) -> Self {
        Self { target, layouts, pml, with_queues: true }
    }

    /// Why the queues cannot be read, if so, with the remedy.
    fn refusal(&self) -> Option<String> {
        let (needed, name) = match &self.pml {
            Pml::Ob1 => return self.custom_matching(),
            Pml::Ucx => ("mca_pml_ucx_module_t", "ucx"),
            Pml::Cm => ("mca_pml_cm_thin_recv_request_t", "cm"),
            other => {
                let name = other.name().map_or_else(|| "not selected yet".to_owned(), |name| format!("{name:?}"));
                return Some(format!(
                    "the message transport (pml) is {name}, which keeps its queues where they cannot be read; \
                     run the job with `mpirun --mca pml ob1` to see them"
                ));
            }
        };
        self.layouts.size_of(needed).is_err().then(|| {
            format!(
                "the layouts of this release lack the structures of the pml {name}; \
                 run the job with `mpirun --mca pml ob1` to see its queues"
            )
        })
    }

    /// Members are probed: builds with custom matching have these and lack the lists
    /// (ompi/mca/pml/ob1/pml_ob1_comm.h, v5.0.7, MCA_PML_OB1_CUSTOM_MATCH).
    fn custom_matching(&self) -> Option<String> {
        let custom = ["mca_pml_ob1_comm_t", "mca_pml_comm_t"].iter().any(|name| self.layouts.has_field(name, "prq"));
        custom.then(|| {
            "this Open MPI was configured with custom matching (--with-pml-ob1-matching), whose queues are not \
             supported; use a build without it to see them"
                .to_owned()
        })
    }
}

impl QueueSource for OpenMpiReader<'_> {
    type Error = ReaderError;

    fn read_queues(&mut self) -> Result<QueueReport, ReaderError> {
        let shapes = shapes::Shapes::resolve(self.layouts)?;
        let groups = groups::Groups::new(self.target, &shapes);
        let mut communicators = communicators::read_all(self.target, &shapes, &groups)?;
        let refusal = self.refusal();
        if let Some(reason) = &refusal {
            communicators.take_internal();
            communicators.found.iter_mut().for_each(|found| refuse(&mut found.facts, reason));
        } else if self.with_queues {
            let read = match self.pml {
                Pml::Ucx => pml_ucx::read_all,
                Pml::Cm => cm::read_all,
                _ => ob1::read_all,
            };
            read(self.target, &shapes, self.layouts, &groups, &mut communicators)?;
        } else {
            communicators.take_internal();
        }
        Ok(QueueReport {
            world: groups.world(),
            parent_world: communicators::parent_world(self.target, &communicators.found),
            communicators: communicators.found.into_iter().map(|found| found.facts).collect(),
            notes: communicators.notes,
            problems: communicators.problems,
        })
    }
}
