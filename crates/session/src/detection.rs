//! Which MPI a process has, in which state, and which layouts fit it.

use std::rc::Rc;

use super::SessionError;
use super::families::{Family, Installed};
use layouts::{LayoutSource, Layouts, NoProfile, Profile, Verification};
use model::{Capability, Mpi};
use readers::Lifetime;
use target::{Image, Reason, Target, libraries};

/// What is known of a process before its queues are read.
#[derive(Clone)]
pub struct Detected {
    /// The library, as the model shows it.
    pub mpi: Mpi,
    /// The image of the MPI library.
    pub image: Image,
    /// How far MPI is in the process.
    pub lifetime: Lifetime,
    /// Structure layouts that have been verified on this process.
    pub layouts: Rc<Layouts>,
    /// The name of the preferred layout source: `debug-info` or `profile:NAME`.
    pub layouts_name: String,
    /// How the layouts were verified.
    pub verification: Verification,
    /// Layout sources that were looked at and left aside, with the reason.
    pub set_aside: Vec<String>,
    /// The MPI, by the family that found it.
    pub installed: Rc<dyn Installed>,
}

/// The queues, as facts that can be known.
pub(super) const QUEUES: [&str; 3] = ["receives", "unexpected", "sends"];

impl Detected {
    /// What can be known of the MPI, fact by fact, and why not all. What the tests measure stands in docs/mpis.md.
    pub fn capabilities(&self, target: &dyn Target) -> Vec<Capability> {
        self.installed.capabilities(target, self)
    }

    /// How the layouts were verified, in a sentence.
    pub fn verified(&self) -> String {
        self.installed.verified(self)
    }
}

/// Layouts that come from outside the shipped ones.
#[derive(Default, Clone)]
pub struct LayoutChoice {
    /// The debugger's own types.
    pub debugger: Option<Rc<dyn LayoutSource>>,
    /// A profile that the user named.
    pub profile: Option<Profile>,
    /// The profile that a recording was made with.
    pub recorded: Option<Profile>,
}

/// The constants of a profile without its structures: debug information has no preprocessor constants, and they
/// depend on the release, not on how it was built.
pub(super) struct ConstantsOf(pub(super) Profile);

impl LayoutSource for ConstantsOf {
    fn name(&self) -> String {
        format!("constants of profile:{}", self.0.name)
    }
    fn type_layout(&self, _: &str) -> Result<Option<layouts::TypeLayout>, Reason> {
        Ok(None)
    }
    fn constant(&self, name: &str) -> Result<Option<i64>, Reason> {
        LayoutSource::constant(&self.0, name)
    }
}

/// The image that holds the MPI library, else the executable (a static MPI).
pub fn mpi_image(target: &dyn Target) -> Result<Option<Image>, SessionError> {
    let images = target.images()?;
    let library = libraries::c_library(&images);
    Ok(library.or_else(|| images.iter().find(|image| image.is_executable)).cloned())
}

/// Finds out which MPI a process has and how to read it.
///
/// # Errors
/// Where it has none, has one that this version does not read, or no layout fits.
pub fn detect(families: &[&dyn Family], target: &dyn Target, choice: &LayoutChoice) -> Result<Detected, SessionError> {
    for family in families {
        if let Some(found) = family.detect(target, choice)? {
            return Ok(found);
        }
    }
    Err(unsupported(target)?)
}

/// Names what the process has instead of an MPI that is read.
fn unsupported(target: &dyn Target) -> Result<SessionError, SessionError> {
    let images = target.images()?;
    let executable = images.iter().find(|image| image.is_executable).map(|image| image.path.clone());
    if images.is_empty() {
        return Ok(SessionError::NoImages);
    }
    let library = || images.iter().find(|image| libraries::is_mpi_library(image.file_name()));
    let found = libraries::c_library(&images).or_else(library).map(|image| image.path.clone());
    // MPICH and what is made from it exports the function that its launcher starts with (src/mpi/init/init.c).
    let symbol = ["MPI_Init", "PMPI_Init"].iter().find_map(|name| target.symbol(name).ok().flatten());
    Ok(match (found, symbol) {
        (Some(library), _) => SessionError::UnsupportedMpi { library },
        (None, Some(_)) => SessionError::UnsupportedMpi { library: executable.unwrap_or_default() },
        (None, None) => SessionError::NotMpi { executable },
    })
}

impl From<NoProfile> for SessionError {
    fn from(error: NoProfile) -> Self {
        match error {
            NoProfile::LeftOut(error) => Self::Target(error),
            other => Self::NoLayout(other.to_string()),
        }
    }
}
