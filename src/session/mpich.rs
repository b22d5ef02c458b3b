//! MPICH and what is made from it: which one a process has, and which layouts fit it.

use std::rc::Rc;

use super::SessionError;
use super::detection::{ConstantsOf, Detected, Family, LayoutChoice, Located, mpi_image, unsupported};
use crate::layouts::{
    Candidate, LayoutSource, Layouts, MPICH, Profile, ProfileHeader, Verification, candidates, compare_abi, shipped_for,
};
use crate::model::Mpi;
use crate::readers::Lifetime;
use crate::readers::mpich::MpichProcess;
use crate::readers::mpich::handle_value::ObjectKind;
use crate::readers::mpich::library::{self, INTEL_MPI, Library};
use crate::readers::mpich::located::locate;
use crate::readers::mpich::pools::Pools;
use crate::readers::mpich::verify::verify;
use crate::target::{Image, Target, segments};

/// What the source of layouts is called where there are none.
const LOCATED: &str = "none";

/// What was chosen: layouts, the name of their source, how they were verified.
type Choice = (Layouts, String, Verification);

/// Finds out whether a process has an MPICH, and how to read it.
///
/// # Errors
/// Where it has none, or no layout fits.
pub(super) fn detect(target: &dyn Target, choice: &LayoutChoice) -> Result<Detected, SessionError> {
    let image = mpi_image(target)?.ok_or(SessionError::NoImages)?;
    let segments = match segments(target, &image) {
        Ok(segments) => segments,
        Err(error) if error.is_left_out() => return Err(error.into()),
        Err(_) => return Err(unsupported(target)?),
    };
    let pools = Pools::find(target, &segments.writable)?;
    let library = library::identify(target, &segments)?;
    if pools.is_empty() {
        // The strings are in every library, or its variables in a static program; the objects come with MPI_Init.
        let is_mpich = library.device.is_some() || target.symbol("MPIR_Process")?.is_some();
        return Err(if is_mpich { SessionError::NotInitialized } else { unsupported(target)? });
    }
    let lifetime = lifetime(&pools)?;
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
                let located = located(target, process, why, &all)?;
                let verification = located.verification();
                let (layouts, layouts_name) = (Rc::new(Layouts::new(Vec::new())), LOCATED.to_owned());
                let family = Family::Located(Rc::new(located));
                return Ok(Detected { mpi, image, lifetime, layouts, layouts_name, verification, set_aside, family });
            }
            other => other?,
        };
    if process.library.device.is_none() {
        // A static program need not have the strings; the sizes of requests and communicators depend on the device.
        process.library.device = device_of(&layouts_name);
        mpi.transport.clone_from(&process.library.device);
    }
    let family = Family::Mpich(Rc::new(process));
    let layouts = Rc::new(layouts);
    Ok(Detected { mpi, image, lifetime, layouts, layouts_name, verification, set_aside, family })
}

/// Detects again after the process ran: pools grow, and kinds that had no object may have one now.
///
/// # Errors
/// Where MPI has been finalised in the meantime, or memory cannot be read.
pub(super) fn refresh(target: &dyn Target, known: &Detected, process: &MpichProcess) -> Result<Detected, SessionError> {
    let pools = Pools::find(target, &process.pools.ranges)?;
    let lifetime = lifetime(&pools)?;
    let family = Family::Mpich(Rc::new(MpichProcess { pools, ..process.clone() }));
    Ok(Detected { lifetime, family, ..known.clone() })
}

/// As [`refresh`], where no layouts fit.
///
/// # Errors
/// As [`refresh`]; and where communicators make no sense any more.
pub(super) fn refresh_located(target: &dyn Target, known: &Detected, old: &Located) -> Result<Detected, SessionError> {
    let pools = Pools::find(target, &old.process.pools.ranges)?;
    let lifetime = lifetime(&pools)?;
    let located = located(target, MpichProcess { pools, ..old.process.clone() }, old.why.clone(), &old.why)?;
    Ok(Detected { lifetime, family: Family::Located(Rc::new(located)), ..known.clone() })
}

/// Finds communicators without layouts; `why` says why there are none, `all` at length.
fn located(target: &dyn Target, process: MpichProcess, why: String, all: &str) -> Result<Located, SessionError> {
    let world = process.pools.builtins(ObjectKind::Comm).map(|builtins| builtins.at);
    // MPI_Finalize gives up the last reference; not all libraries mark their pools as unused.
    if let Some(world) = world.filter(|_| process.library.implementation == INTEL_MPI)
        && target.read_uint(world.wrapping_add(4), 4)? == 0
    {
        return Err(SessionError::Finalized);
    }
    match locate(target, &process.pools)? {
        Ok(offsets) => Ok(Located { process, offsets, why }),
        Err(reason) => Err(SessionError::NoLayout(format!("{all}; without layouts: {reason}"))),
    }
}

/// The device that a shipped profile was made for.
fn device_of(layouts_name: &str) -> Option<String> {
    let name = layouts_name.strip_prefix("profile:")?;
    let (_, text) = shipped_for(MPICH.name).iter().find(|(shipped, _)| *shipped == name)?;
    ProfileHeader::from_json(text).ok()?.identity.device
}

impl Located {
    /// Why there are no queues and handles, and what to do.
    pub(super) fn reason(&self) -> String {
        if self.process.library.implementation == INTEL_MPI {
            return "Intel does not publish the structures of its library; run the program with the libmpi.so.12 of MPICH, \
                    whose ABI is the same, to see its queues"
                .to_owned();
        }
        format!("{}; make one from its source or debug information: mpi-queues layouts make --help", self.why)
    }

    fn verification(&self) -> Verification {
        let checked = ["MPIR_Comm", "MPI_COMM_WORLD", "MPI_COMM_SELF"].map(ToOwned::to_owned).to_vec();
        Verification { profile: LOCATED.to_owned(), checked, ..Verification::default() }
    }
}

/// Whether handles are those of the MPI-5 ABI.
fn is_abi(image: &Image) -> bool {
    image.file_name().starts_with("libmpi_abi.so")
}

/// MPI_Finalize leaves the objects' memory as it is and marks the pools as unused (`MPIR_Handle_free`,
/// src/include/mpir_handlemem.h, v4.0.2).
fn lifetime(pools: &Pools) -> Result<Lifetime, SessionError> {
    if pools.pools.iter().any(|pool| pool.verified && pool.head.initialized && pool.head.kind != ObjectKind::Info) {
        return Ok(Lifetime::Active);
    }
    // Info objects may be used before MPI_Init and after MPI_Finalize.
    if pools.pools.iter().any(|pool| pool.verified && pool.head.kind != ObjectKind::Info) {
        return Err(SessionError::Finalized);
    }
    Err(SessionError::NotInitialized)
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
        && let Some(chosen) = fits(recorded, set_aside)?
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
