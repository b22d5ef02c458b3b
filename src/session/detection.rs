//! Which MPI a process has, in which state, and which layouts fit it.

use std::rc::Rc;

use super::{SessionError, mpich};
use crate::layouts::{
    Chosen, LayoutSource, Layouts, MPICH, NoProfile, OPEN_MPI, Profile, Verification, choose_profile, shipped_for,
    shipped_profiles, verify_classes,
};
use crate::model::Mpi;
use crate::readers::Lifetime;
use crate::readers::mpich::MpichProcess;
use crate::readers::mpich::located::Offsets;
use crate::readers::openmpi::detect::{self, SelectedPml};
use crate::target::{Image, Target};

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
    /// Whose structures these are.
    pub family: Family,
}

/// Whose structures an MPI library has, so who reads them.
#[derive(Clone)]
pub enum Family {
    /// Open MPI.
    OpenMpi,
    /// MPICH and what is made from it.
    Mpich(Rc<MpichProcess>),
    /// MPICH or what is made from it, in a build whose layouts nobody has: communicators only.
    Located(Rc<Located>),
}

/// An MPICH without layouts.
pub struct Located {
    /// The library and its pools.
    pub process: MpichProcess,
    /// Where the members of communicators were found.
    pub offsets: Offsets,
    /// Why there are no layouts, and what to do.
    pub why: String,
}

impl Family {
    /// What profiles call it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich(_) | Self::Located(_) => MPICH.name,
        }
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
    fn type_layout(&self, _: &str) -> Result<Option<crate::layouts::TypeLayout>, String> {
        Ok(None)
    }
    fn constant(&self, name: &str) -> Result<Option<i64>, String> {
        LayoutSource::constant(&self.0, name)
    }
}

/// What the C library of an MPI is called: Open MPI since 6.0, where `libmpi.so` has only the functions of the standard
/// (ompi/Makefile.am, branch v6.0.x); most; Debian's MPICH; the MPI-5 ABI; Cray.
const LIBRARIES: &[&str] = &["libopen_mpi.so", "libmpi.so", "libmpich.so", "libmpi_abi.so", "libmpi_cray.so"];

/// The image that holds the MPI library, else the executable (a static MPI).
pub fn mpi_image(target: &dyn Target) -> Result<Option<Image>, SessionError> {
    let images = target.images()?;
    let library = LIBRARIES.iter().find_map(|name| images.iter().find(|image| is_library(image, name)));
    Ok(library.or_else(|| images.iter().find(|image| image.is_executable)).cloned())
}

fn is_library(image: &Image, name: &str) -> bool {
    image.file_name() == name || image.file_name().strip_prefix(name).is_some_and(|rest| rest.starts_with('.'))
}

/// Finds out which MPI a process has and how to read it.
///
/// # Errors
/// Where it has none, has one that this version does not read, or no layout fits.
pub fn detect(target: &dyn Target, choice: &LayoutChoice) -> Result<Detected, SessionError> {
    if !detect::is_open_mpi(target)? {
        return mpich::detect(target, choice);
    }
    let image = mpi_image(target)?.ok_or(SessionError::NotMpi { executable: None })?;
    let lifetime = usable_lifetime(target)?;
    let pml = selected_pml(target)?;
    let mut set_aside = Vec::new();
    let (layouts, layouts_name, verification) = choose(target, choice, &pml, &mut set_aside)?;
    let mpi = Mpi {
        implementation: "Open MPI".to_owned(),
        version: Some(version_text(&pml)),
        library: image.path.clone(),
        build_id: image.build_id.clone(),
        transport: transport(pml),
    };
    let layouts = Rc::new(layouts);
    Ok(Detected { mpi, image, lifetime, layouts, layouts_name, verification, set_aside, family: Family::OpenMpi })
}

/// Detects again after the process ran: what is static (layouts, versions) stays, what moves is read anew.
///
/// # Errors
/// Where MPI has been finalised in the meantime, or memory cannot be read.
pub fn refresh(target: &dyn Target, known: &Detected) -> Result<Detected, SessionError> {
    if let Family::Mpich(process) = &known.family {
        return mpich::refresh(target, known, process);
    }
    if let Family::Located(located) = &known.family {
        return mpich::refresh_located(target, known, located);
    }
    let lifetime = usable_lifetime(target)?;
    let pml = detect::selected_pml(target, &known.layouts)?;
    let mut detected = Detected { lifetime, ..known.clone() };
    detected.mpi.transport = transport(pml);
    Ok(detected)
}

fn usable_lifetime(target: &dyn Target) -> Result<Lifetime, SessionError> {
    match detect::lifetime(target)? {
        Lifetime::NotInitialized => Err(SessionError::NotInitialized),
        Lifetime::Finalized => Err(SessionError::Finalized),
        usable @ (Lifetime::Active | Lifetime::Finalizing) => Ok(usable),
    }
}

fn version_text(pml: &SelectedPml) -> String {
    let (major, minor, release) = pml.version;
    format!("{major}.{minor}.{release}")
}

fn transport(pml: SelectedPml) -> Option<String> {
    Some(pml.name).filter(|name| !name.is_empty())
}

/// The selected pml, read with whichever shipped layout of a component description gives a sane answer: that structure
/// is part of the component interface, which all supported releases share.
fn selected_pml(target: &dyn Target) -> Result<SelectedPml, SessionError> {
    let mut last = None;
    for (_, text) in shipped_for("Open MPI") {
        let layouts = Layouts::new(vec![Box::new(Profile::from_json(text)?)]);
        match detect::selected_pml(target, &layouts) {
            Ok(pml) => return Ok(pml),
            Err(error) => last = Some(error),
        }
    }
    Err(last.map_or(SessionError::NotMpi { executable: None }, SessionError::from))
}

fn choose(
    target: &dyn Target,
    choice: &LayoutChoice,
    pml: &SelectedPml,
    set_aside: &mut Vec<String>,
) -> Result<(Layouts, String, Verification), SessionError> {
    let version = pml.version;
    if let Some(profile) = &choice.profile {
        let verification = verify_classes(target, profile);
        if !verification.fits() {
            return Err(SessionError::ProfileRefused(verification.to_string()));
        }
        let name = LayoutSource::name(profile);
        return Ok((Layouts::new(vec![Box::new(profile.clone())]), name, verification));
    }
    let shipped = || choose_profile(target, version);
    let known = |source: &Rc<dyn LayoutSource>| source.type_layout(OPEN_MPI.probed).is_ok_and(|found| found.is_some());
    if let Some(source) = choice.debugger.as_ref().filter(|source| known(source)) {
        let constants = match shipped() {
            Ok(chosen) => Some(chosen.profile),
            Err(_) => same_series(version)?,
        };
        let Some(constants) = constants else {
            let (major, minor, _) = version;
            return Err(SessionError::NoLayout(format!(
                "the debug information has the structures of Open MPI {major}.{minor}, but its constants are not known"
            )));
        };
        let verification = super::debug_info::verify(target, source.as_ref(), &constants);
        if verification.fits() {
            let sources: Vec<Box<dyn LayoutSource>> =
                vec![Box::new(Rc::clone(source)), Box::new(ConstantsOf(constants))];
            return Ok((Layouts::new(sources), source.name(), verification));
        }
        set_aside.push(format!("{}: {verification}", source.name()));
    } else if let Some(source) = &choice.debugger {
        set_aside.push(format!("{}: the MPI library has no debug information", source.name()));
    }
    if let Some(recorded) = &choice.recorded {
        let verification = verify_classes(target, recorded);
        if verification.fits() {
            // What it lacks, because readers have learned more since, may stand in today's profile of that name.
            let today = shipped_profiles().iter().find(|(name, _)| *name == recorded.name);
            let today = today.map(|(_, text)| Profile::from_json(text)).transpose()?;
            let today = today.filter(|today| today.types != recorded.types || today.constants != recorded.constants);
            let as_source = |mut profile: Profile| -> Box<dyn LayoutSource> {
                profile.leave_out(&verification);
                Box::new(profile)
            };
            let sources = [Some(recorded.clone()), today].into_iter().flatten().map(as_source).collect();
            return Ok((Layouts::new(sources), LayoutSource::name(recorded), verification));
        }
        set_aside.push(format!("the recorded {}: {verification}", LayoutSource::name(recorded)));
    }
    let Chosen { profile, verification } = shipped()?;
    let name = LayoutSource::name(&profile);
    Ok((Layouts::new(vec![Box::new(profile)]), name, verification))
}

/// A shipped profile of the same release series, whose constants fit even where its structures do not.
fn same_series(version: (u64, u64, u64)) -> Result<Option<Profile>, SessionError> {
    for (_, text) in shipped_for("Open MPI") {
        let profile = Profile::from_json(text)?;
        if profile.identity.is_for(version) {
            return Ok(Some(profile));
        }
    }
    Ok(None)
}

/// Names what the process has instead of an MPI that is read.
pub(super) fn unsupported(target: &dyn Target) -> Result<SessionError, SessionError> {
    let images = target.images()?;
    let executable = images.iter().find(|image| image.is_executable).map(|image| image.path.clone());
    if images.is_empty() {
        return Ok(SessionError::NoImages);
    }
    let library = |image: &&Image| LIBRARIES.iter().chain(&["libmpifort.so"]).any(|name| is_library(image, name));
    let found = images.iter().find(library).map(|image| image.path.clone());
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
