//! What can be known of the MPI that was detected, and why not all. What the tests measure stands in docs/mpis.md.

use super::detection::{Detected, Family, Located};
use crate::model::Exactness;
use crate::readers::mpich::exactness as mpich;

/// The queues.
const QUEUES: [&str; 3] = ["receives", "unexpected", "sends"];

impl Detected {
    /// What can be known, fact by fact.
    pub fn exactness(&self) -> Vec<Exactness> {
        match &self.family {
            Family::OpenMpi => open_mpi(self.mpi.transport.as_deref()),
            Family::Mpich(process) => mpich::of(process, &self.layouts),
            Family::Located(located) => without_layouts(located),
        }
    }

    /// How the layouts were verified, in a sentence.
    pub fn verified(&self) -> String {
        match &self.family {
            Family::Located(_) => {
                "no layouts: names, ranks and sizes of communicators were found by what MPI_COMM_WORLD and MPI_COMM_SELF must say"
                    .to_owned()
            }
            _ => self.verification.to_string(),
        }
    }
}

fn open_mpi(pml: Option<&str>) -> Vec<Exactness> {
    let queue = |fact| match pml {
        Some("ob1") => Exactness::exact(fact),
        Some(other) => Exactness::not_available(
            fact,
            format!("the pml {other} leaves matching to the network; start the job with --mca pml ob1 to see it"),
        ),
        None => Exactness::not_available(fact, "no pml is selected yet"),
    };
    let mut all = vec![Exactness::exact("communicators")];
    all.extend(QUEUES.map(queue));
    all.push(match pml {
        Some("ob1") => Exactness::exact("handles"),
        _ => Exactness::partial("handles", "what requests of point-to-point messages say is known of the pml ob1 only"),
    });
    all
}

fn without_layouts(located: &Located) -> Vec<Exactness> {
    let reason = located.reason();
    let mut all = vec![
        Exactness::exact("communicators.name"),
        Exactness::exact("communicators.rank"),
        Exactness::exact("communicators.size"),
        Exactness::partial("communicators.group", "known of MPI_COMM_WORLD and MPI_COMM_SELF only: no layout fits"),
    ];
    all.extend(QUEUES.map(|fact| Exactness::not_available(fact, reason.clone())));
    all.push(Exactness::not_available("handles", reason));
    all
}
