//! Open MPI's queues, read directly.
//!
//! Only the pml ob1 keeps its queues where a debugger can read them. With any other pml the communicators are listed
//! and every queue is `no_information` with the remedy.

pub mod classes;
pub mod detect;

mod communicators;
mod groups;
pub mod handles;
mod libnbc;
mod peers;
mod pool;
mod posted;
mod queues;
mod requests;
pub mod shapes;
mod tags;
mod unexpected;

use crate::ReaderError;
use layouts::Layouts;
use model::{Queue, QueueReport, QueueSource};
use target::Target;

/// The built-in reader for one stopped process.
pub struct OpenMpiReader<'a> {
    target: &'a dyn Target,
    layouts: &'a Layouts,
    pml: String,
    /// Whether queues are read, or communicators only.
    pub with_queues: bool,
}

impl<'a> OpenMpiReader<'a> {
    /// A reader over `target` with verified layouts; `pml` is the name of the selected pml.
    pub fn new(target: &'a dyn Target, layouts: &'a Layouts, pml: &str) -> Self {
        Self { target, layouts, pml: pml.to_owned(), with_queues: true }
    }

    /// Why the queues cannot be read, if so, with the remedy.
    fn refusal(&self) -> Option<String> {
        if self.pml != "ob1" {
            let name = if self.pml.is_empty() { "not selected yet".to_owned() } else { format!("{:?}", self.pml) };
            return Some(format!(
                "the message transport (pml) is {name}, which keeps its queues where they cannot be read; \
                 run the job with `mpirun --mca pml ob1` to see them"
            ));
        }
        // Members are probed: builds with custom matching have these and lack the lists
        // (ompi/mca/pml/ob1/pml_ob1_comm.h, v5.0.7, MCA_PML_OB1_CUSTOM_MATCH).
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
            for found in &mut communicators.found {
                let facts = &mut found.facts;
                for queue in facts.queues_mut() {
                    *queue = Queue::no_information(reason.as_str());
                }
            }
        } else if self.with_queues {
            let ob1 = shapes::Ob1Shapes::resolve(self.layouts)?;
            queues::read_all(self.target, &shapes, &ob1, self.layouts, &groups, &mut communicators)?;
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
