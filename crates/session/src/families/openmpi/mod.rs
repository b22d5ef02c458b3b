//! Open MPI.

mod capabilities;

use std::rc::Rc;

use super::{Family, Installed};
use crate::SessionError;
use crate::detection::{ConstantsOf, Detected, LayoutChoice, mpi_image};
use layouts::{Chosen, LayoutSource, Layouts, Profile, Verification, shipped_for};
use model::{Capability, Mpi, QueueReport, QueueSource as _};
use readers::openmpi::OpenMpiReader;
use readers::openmpi::classes::{self, verify_classes};
use readers::openmpi::detect::{self, SelectedPml};
use readers::openmpi::handles::HandleReader;
use readers::openmpi::pml::Pml;
use readers::openmpi::shapes::Shapes;
use readers::wanted::OPEN_MPI;
use readers::{HandleSource, Lifetime, ReaderError};
use target::Target;

/// Open MPI has had a symbol for how far it is since this release; before, several ([`detect::lifetime`]).
const OLDEST: &str = "4.0";

/// The family.
pub(super) struct OpenMpi;

impl Family for OpenMpi {
    fn name(&self) -> &'static str {
        OPEN_MPI.name
    }

    fn detect(&self, target: &dyn Target, choice: &LayoutChoice) -> Result<Option<Detected>, SessionError> {
        if !detect::is_open_mpi(target)? {
            return Ok(None);
        }
        let image = mpi_image(target)?.ok_or(SessionError::NotMpi { executable: None })?;
        let lifetime = match usable_lifetime(target) {
            Err(SessionError::Reader(ReaderError::NoSymbol(lacks))) => {
                let (implementation, oldest) = (OPEN_MPI.name, OLDEST);
                return Err(SessionError::TooOld { library: image.path, lacks, implementation, oldest });
            }
            other => other?,
        };
        let selected = selected_pml(target)?;
        let mut set_aside = Vec::new();
        let (layouts, layouts_name, verification) = choose(target, choice, &selected, &mut set_aside)?;
        let mpi = Mpi {
            implementation: OPEN_MPI.name.to_owned(),
            version: Some(version_text(&selected)),
            library: image.path.clone(),
            build_id: image.build_id.clone(),
            transport: selected.transport(),
        };
        let layouts = Rc::new(layouts);
        let installed = Rc::new(Process { pml: selected.pml });
        Ok(Some(Detected { mpi, image, lifetime, layouts, layouts_name, verification, set_aside, installed }))
    }
}

/// An Open MPI in a process. What moves its messages is all that there is to know besides the layouts.
struct Process {
    pml: Pml,
}

impl Installed for Process {
    fn family(&self) -> &'static str {
        OPEN_MPI.name
    }

    fn refresh(&self, target: &dyn Target, known: &Detected) -> Result<Detected, SessionError> {
        let lifetime = usable_lifetime(target)?;
        let selected = detect::selected_pml(target, &known.layouts)?;
        let mut detected = Detected { lifetime, ..known.clone() };
        detected.mpi.transport = selected.transport();
        detected.installed = Rc::new(Self { pml: selected.pml });
        Ok(detected)
    }

    fn queues(&self, target: &dyn Target, known: &Detected, with_queues: bool) -> Result<QueueReport, ReaderError> {
        let mut reader = OpenMpiReader::new(target, &known.layouts, self.pml.clone());
        reader.with_queues = with_queues;
        reader.read_queues()
    }

    fn handles(
        &self,
        target: &dyn Target,
        known: &Detected,
        read: &mut dyn FnMut(&dyn HandleSource),
    ) -> Result<(), SessionError> {
        let shapes = Shapes::resolve(&known.layouts).map_err(ReaderError::from)?;
        read(&HandleReader::new(target, &known.layouts, &shapes, &self.pml));
        Ok(())
    }

    fn capabilities(&self, target: &dyn Target, known: &Detected) -> Vec<Capability> {
        let version = known.mpi.version.as_deref();
        let provider = if self.pml == Pml::Cm { readers::openmpi::provider(target, &known.layouts) } else { None };
        capabilities::of(&self.pml, provider.as_ref(), &known.layouts, version)
    }

    fn tells_modes(&self) -> bool {
        true
    }

    #[cfg(feature = "plugins")]
    fn dialect(&self) -> &'static dyn plugins::mqs::Dialect {
        plugins::mqs::dialect::OPEN_MPI
    }

    fn unfit_for_plugins(&self, _: &Detected) -> Option<&'static str> {
        (self.pml != Pml::Ob1).then_some("it reads the pml ob1 only")
    }
}

fn usable_lifetime(target: &dyn Target) -> Result<Lifetime, SessionError> {
    match detect::lifetime(target)? {
        Lifetime::NotInitialized => Err(SessionError::NotInitialized),
        Lifetime::Finalized => Err(SessionError::Finalized),
        usable @ (Lifetime::Active | Lifetime::Finalizing) => Ok(usable),
    }
}

fn version_text(selected: &SelectedPml) -> String {
    let (major, minor, release) = selected.version;
    format!("{major}.{minor}.{release}")
}

/// The selected pml, read with whichever shipped layout of a component description gives a sane answer: that structure
/// is part of the component interface, which all supported releases share.
fn selected_pml(target: &dyn Target) -> Result<SelectedPml, SessionError> {
    let mut last = None;
    for shipped in shipped_for(OPEN_MPI.name) {
        let layouts = Layouts::new(vec![Box::new(shipped.profile()?)]);
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
    selected: &SelectedPml,
    set_aside: &mut Vec<String>,
) -> Result<(Layouts, String, Verification), SessionError> {
    let version = selected.version;
    if let Some(profile) = &choice.profile {
        let verification = verify_classes(target, profile);
        if !verification.fits() {
            return Err(SessionError::ProfileRefused(verification.to_string()));
        }
        let name = LayoutSource::name(profile);
        return Ok((Layouts::new(vec![Box::new(profile.clone())]), name, verification));
    }
    let shipped = || classes::shipped(target, version);
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
        let verification = classes::verify_source(target, source.as_ref(), &constants);
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
            // Whose classes the recording does not hold cannot be verified, so these are those of its own day alone.
            let mut profile = recorded.with_shipped();
            profile.leave_out(&verification);
            return Ok((Layouts::new(vec![Box::new(profile)]), LayoutSource::name(recorded), verification));
        }
        set_aside.push(format!("the recorded {}: {verification}", LayoutSource::name(recorded)));
    }
    let Chosen { profile, verification } = shipped()?;
    let name = LayoutSource::name(&profile);
    Ok((Layouts::new(vec![Box::new(profile)]), name, verification))
}

/// A shipped profile of the same release series, whose constants fit even where its structures do not.
fn same_series(version: (u64, u64, u64)) -> Result<Option<Profile>, SessionError> {
    for shipped in shipped_for(OPEN_MPI.name) {
        if shipped.header()?.identity.is_for(version) {
            return Ok(Some(shipped.profile()?));
        }
    }
    Ok(None)
}
