//! What is particular to the plug-in of one MPI: what it means by what it asks for, and what it says wrongly.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{mpich, openmpi, own};
use layouts::Layouts;
use model::{Communicator, QueueReport};
use target::Target;

/// A datatype, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Datatype {
    /// Size of one element in bytes (`MPI_Type_size`).
    pub bytes: Option<u64>,
    /// Its name.
    pub name: Option<Arc<str>>,
}

/// Knows the datatypes of the process: our own reader, which a plug-in's host does not import.
pub trait Datatypes {
    /// The datatype with this C handle, `None` where nothing is known of it.
    fn datatype(&self, handle: u64) -> Option<Datatype>;
}

/// Knows none.
pub struct NoDatatypes;

impl Datatypes for NoDatatypes {
    fn datatype(&self, _: u64) -> Option<Datatype> {
        None
    }
}

/// What a plug-in's report is corrected by.
pub struct Evidence<'a> {
    /// The process.
    pub target: &'a dyn Target,
    /// Where its fields lie.
    pub layouts: &'a Layouts,
    /// The communicators that our own reader found; empty where it found none.
    pub known: &'a [Communicator],
    /// The types that the plug-in asked for.
    pub asked: &'a BTreeSet<String>,
    /// The datatypes.
    pub datatypes: &'a dyn Datatypes,
}

/// The plug-in of one MPI.
pub trait Dialect: Sync {
    /// The member that the plug-in means by `field` of a type, where the type has no direct member of that name.
    fn member(&self, _type_name: &str, _field: &str) -> Option<&'static str> {
        None
    }

    /// Whether the text that comes with a successful `mqs_image_has_queues` is meant for the user.
    fn speaks_on_success(&self) -> bool {
        true
    }

    /// Whether the plug-in says itself what it could not read; others take zeros.
    fn minds_failed_reads(&self) -> bool {
        false
    }

    /// Corrects what the plug-in says of operations, by the memory that it has read.
    fn correct(&self, report: &mut QueueReport, evidence: &Evidence<'_>);

    /// The communicator of our own reader that the plug-in means; `None` where it is none or that is not certain.
    fn find<'k>(&self, communicator: &Communicator, known: &'k [Communicator]) -> Option<&'k Communicator>;
}

/// That of Open MPI's plug-in.
pub static OPEN_MPI: &dyn Dialect = &openmpi::OpenMpi;

/// That of MPICH's, and of those made from it.
pub static MPICH: &dyn Dialect = &mpich::Mpich;

/// That of our own library.
pub static OWN: &dyn Dialect = &own::Own;

/// That of the plug-in of any other MPI: as Open MPI's, whose corrections touch only what has its form.
pub static OTHER: &dyn Dialect = OPEN_MPI;
