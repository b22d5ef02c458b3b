//! The families of MPIs: who finds each in a process, and who reads it. A further one is a folder here and a line in
//! [`FAMILIES`].

mod mpich;
mod openmpi;

use super::SessionError;
use super::detection::{Detected, LayoutChoice};
use model::{Capability, QueueReport};
use readers::{HandleSource, ReaderError};
use target::{Target, TargetAbi};

/// A family of MPIs: one, and what is made from it.
pub trait Family: Sync {
    /// What profiles call it.
    fn name(&self) -> &'static str;

    /// The MPI of this family that a process has, and how to read it; `None` where it has none.
    ///
    /// # Errors
    /// Where it has one that cannot be read now, or no layouts fit.
    fn detect(&self, target: &dyn Target, choice: &LayoutChoice) -> Result<Option<Detected>, SessionError>;
}

/// Those that are looked for, in this order: what is sure goes before what takes a search.
pub static FAMILIES: &[&dyn Family] = &[&openmpi::OpenMpi, &mpich::Mpich];

/// An MPI in a process, by the family that found it.
pub trait Installed {
    /// What profiles call its family.
    fn family(&self) -> &'static str;

    /// Detects again after the process ran: what is static (layouts, versions) stays, what moves is read anew.
    ///
    /// # Errors
    /// Where MPI has been finalised in the meantime, or memory cannot be read.
    fn refresh(&self, target: &dyn Target, known: &Detected) -> Result<Detected, SessionError>;

    /// Reads communicators, and where asked their queues.
    ///
    /// # Errors
    /// Where nothing can be read; what could not be read of a readable process is in the report.
    fn queues(&self, target: &dyn Target, known: &Detected, with_queues: bool) -> Result<QueueReport, ReaderError>;

    /// Hands to `read` what says what handles mean.
    ///
    /// # Errors
    /// Where nothing does.
    fn handles(
        &self,
        target: &dyn Target,
        known: &Detected,
        read: &mut dyn FnMut(&dyn HandleSource),
    ) -> Result<(), SessionError>;

    /// What can be known, fact by fact.
    fn capabilities(&self, target: &dyn Target, known: &Detected) -> Vec<Capability>;

    /// How the layouts were verified, in a sentence.
    fn verified(&self, known: &Detected) -> String {
        known.verification.to_string()
    }

    /// Bytes of a handle in C.
    fn handle_bytes(&self, abi: TargetAbi) -> u64 {
        abi.pointer_width.bytes()
    }

    /// Whether requests tell a standard send from one of another mode.
    fn tells_modes(&self) -> bool {
        false
    }

    /// Why a plug-in would print nonsense for this process, if so.
    fn unfit_for_plugins(&self, _known: &Detected) -> Option<&'static str> {
        None
    }

    /// The handle that the program has of the request at an address, where that is another value.
    fn handle_of_request(&self, _target: &dyn Target, _address: u64) -> Option<u64> {
        None
    }

    /// What is particular to its plug-in.
    #[cfg(feature = "plugins")]
    fn dialect(&self) -> &'static dyn plugins::mqs::Dialect {
        plugins::mqs::dialect::OTHER
    }

    /// The datatypes of the process, for plug-ins that give numbers of elements only.
    #[cfg(feature = "plugins")]
    fn datatypes<'a>(
        &'a self,
        _target: &'a dyn Target,
        _known: &'a Detected,
    ) -> Option<Box<dyn plugins::mqs::Datatypes + 'a>> {
        None
    }
}
