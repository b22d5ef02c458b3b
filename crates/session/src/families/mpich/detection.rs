//! Which MPICH a process has, and which layouts fit it.

use std::rc::Rc;

use super::located::Located;
use super::{InProcess, lifetime};
use crate::SessionError;
use crate::detection::{ConstantsOf, Detected, LayoutChoice, mpi_image};
use layouts::{Candidate, LayoutSource, Layouts, Profile, Verification, candidates, compare_abi, shipped_for};
use model::Mpi;
use readers::mpich::MpichProcess;
use readers::mpich::library::{self, Library};
use readers::mpich::pools::Pools;
use readers::mpich::verify::verify;
use readers::wanted::MPICH;
use target::{Image, Target, libraries, segments};

/// What was chosen: layouts, the name of their source, how they were verified.
type Choice = (Layouts, String, Verification);

/// The MPICH that a process has, and how to read it; `None` where it has none.
///
/// # Errors
/// Where no layout fits, and nothing can be found without one.
pub(super) fn detect(target: &dyn Target, choice: &LayoutChoice) -> Result<Option<Detected>, SessionError> {
    let Some(image) = mpi_image(target)? else { return Ok(None) };
    let segments = match segments(target, &image) {
        Ok(segments) => segments,
        Err(error) if error.is_left_out() => return Err(error.into()),
        Err(_) => return Ok(None),
    };
    let pools = Pools::find(target, &segments.writable)?;
    let library = library::identify(target, &segments)?;
    if pools.is_empty() {
        // The strings are in every library, or its variables in a static program; the objects come with MPI_Init.
        let is_mpich = library.device.is_some() || target.symbol("MPIR_Process")?.is_some();
        return if is_mpich { Err(SessionError::NotInitialized) } else { Ok(None) };
    }
    let lifetime = lifetime(target, &pools)?;
    let mut set_aside = Vec::new();
    let mut mpi = Mpi {
        implementation: library.implementation.clone(),
        version: library.version.clone(),
        library: image.path.clone(),
        build_id: image.build_id.clone(),
        transport: library.device.clone(),
    };
    let mut process = MpichProcess { library, pools, abi: is_abi(&image) };
    let (layouts, layouts_name, verification) =
        match choose(target, choice, &process.library, &process.pools, &mut set_aside) {
            Err(SessionError::NoLayout(all)) => {
                let why = no_layout(&process.library, &process.pools, &[]);
                let located = Located::find(target, process, why, &all)?;
                let verification = Located::verification();
                let (layouts, layouts_name) = (Rc::new(Layouts::new(Vec::new())), verification.profile.clone());
                let installed = Rc::new(located);
                let found =
                    Detected { mpi, image, lifetime, layouts, layouts_name, verification, set_aside, installed };
                return Ok(Some(found));
            }
            other => other?,
        };
    if process.library.device.is_none() {
        // A static program need not have the strings; the sizes of requests and communicators depend on the device.
        process.library.device = device_of(&layouts_name);
        mpi.transport.clone_from(&process.library.device);
    }
    let installed = Rc::new(InProcess::new(process));
    let layouts = Rc::new(layouts);
    Ok(Some(Detected { mpi, image, lifetime, layouts, layouts_name, verification, set_aside, installed }))
}

/// The device that a shipped profile was made for.
fn device_of(layouts_name: &str) -> Option<String> {
    let name = layouts_name.strip_prefix("profile:")?;
    shipped_for(MPICH.name).iter().find(|shipped| shipped.name == name)?.header().ok()?.identity.device
}

/// Whether handles are those of the MPI-5 ABI.
fn is_abi(image: &Image) -> bool {
    libraries::is_abi_library(image.file_name())
}

fn choose(
    target: &dyn Target,
    choice: &LayoutChoice,
    library: &Library,
    pools: &Pools,
    set_aside: &mut Vec<String>,
) -> Result<Choice, SessionError> {
    if let Some(profile) = &choice.profile {
        let chosen = check(target, pools, profile);
        if !chosen.2.fits() {
            return Err(SessionError::ProfileRefused(chosen.2.to_string()));
        }
        return Ok(chosen);
    }
    let (version, device) = (library.version.as_deref(), library.device.as_deref());
    let candidates = candidates(shipped_for(MPICH.name), library.series(), version, device)?;
    if let Some(source) = &choice.debugger {
        if source.type_layout(MPICH.probed).is_ok_and(|found| found.is_some()) {
            let constants = candidates.first().map(Candidate::profile).transpose()?;
            if let Some(chosen) = of_debugger(target, pools, source, constants, set_aside) {
                return Ok(chosen);
            }
        } else {
            set_aside.push(format!("{}: the MPI library has no debug information", source.name()));
        }
    }
    let fits = |profile: &Profile, set_aside: &mut Vec<String>| -> Result<Option<Choice>, SessionError> {
        let chosen = check(target, pools, profile);
        if chosen.2.fits() {
            return Ok(Some(chosen));
        }
        if let Some(error) = chosen.2.unread {
            return Err(error.into());
        }
        set_aside.push(chosen.2.to_string());
        Ok(None)
    };
    if let Some(recorded) = &choice.recorded
        && let Some(chosen) = fits(&recorded.with_shipped(), set_aside)?
    {
        return Ok(chosen);
    }
    for candidate in &candidates {
        let differences = candidate.differences(pools.sizes().iter().map(|(kind, size)| (kind.type_name(), *size)));
        if !differences.is_empty() {
            let profile = candidate.header.name.clone();
            set_aside.push(Verification { profile, differences, ..Verification::default() }.to_string());
        } else if let Some(chosen) = fits(&candidate.profile()?, set_aside)? {
            return Ok(chosen);
        }
    }
    Err(SessionError::NoLayout(no_layout(library, pools, set_aside)))
}

/// The debugger's types, with the constants of a profile: debug information has no preprocessor constants, and they
/// depend on the release, not on how it was built.
fn of_debugger(
    target: &dyn Target,
    pools: &Pools,
    source: &Rc<dyn LayoutSource>,
    constants: Option<Profile>,
    set_aside: &mut Vec<String>,
) -> Option<Choice> {
    let name = source.name();
    let mut sources: Vec<Box<dyn LayoutSource>> = vec![Box::new(Rc::clone(source))];
    sources.extend(constants.map(|profile| Box::new(ConstantsOf(profile)) as Box<dyn LayoutSource>));
    let layouts = Layouts::new(sources);
    let verification = verify(target, &layouts, pools, &name);
    if verification.fits() {
        return Some((layouts, name, verification));
    }
    set_aside.push(format!("{name}: {verification}"));
    None
}

fn check(target: &dyn Target, pools: &Pools, profile: &Profile) -> Choice {
    let layouts = Layouts::new(vec![Box::new(profile.clone())]);
    let mut abi = Verification { profile: profile.name.clone(), ..Verification::default() };
    compare_abi(target, profile, &mut abi);
    let verification = if abi.differences.is_empty() { verify(target, &layouts, pools, &profile.name) } else { abi };
    (layouts, LayoutSource::name(profile), verification)
}

fn no_layout(library: &Library, pools: &Pools, set_aside: &[String]) -> String {
    let sizes = pools.sizes().iter().map(|(kind, size)| format!("{} {size}", kind.type_name())).collect::<Vec<_>>();
    let which = [library.version.as_deref(), library.device.as_deref()].into_iter().flatten().collect::<Vec<_>>();
    let why = if set_aside.is_empty() { String::new() } else { format!("; {}", set_aside.join("; ")) };
    format!(
        "no layout fits this {} {} (sizes in bytes: {}){why}",
        library.implementation,
        which.join(", "),
        sizes.join(", ")
    )
}
