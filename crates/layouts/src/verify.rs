//! Whether a profile fits the process at hand, and which profile to use. What is compared is the matter of each MPI's
//! reader.

use std::fmt;

use super::profile::{Identity, Profile, ProfileError};
use super::shipped::Shipped;
use target::{Target, TargetError};

/// What was compared between a profile and a process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// The profile's name.
    pub profile: String,
    /// The classes and objects whose sizes are equal.
    pub checked: Vec<String>,
    /// The types of the profile for which the process shows no class.
    pub absent: Vec<String>,
    /// What differs; the profile must not be used.
    pub differences: Vec<Difference>,
    /// What differs without harm: types that are left out when the profile is used.
    pub left_out: Vec<Difference>,
    /// Why a class could not be looked at, where a core file or recording does not have it.
    pub unread: Option<TargetError>,
    /// What must have been compared before a profile is believed.
    pub needed: &'static [&'static str],
}

/// One thing that is not as the profile says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The type, or the object and its type, or a property of the whole target.
    pub type_name: String,
    /// What the profile says.
    pub expected: String,
    /// What the process says.
    pub found: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} in the profile, {} in the process", self.type_name, self.expected, self.found)
    }
}

impl Verification {
    /// Whether nothing differs and at least what is needed could be compared.
    pub fn fits(&self) -> bool {
        self.differences.is_empty() && self.missing_core().next().is_none()
    }

    /// What is needed and could not be compared.
    pub fn missing_core(&self) -> impl Iterator<Item = &'static str> {
        self.needed.iter().copied().filter(|name| !self.checked.iter().any(|checked| checked == name))
    }
}

impl fmt::Display for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.differences.is_empty() {
            write!(f, "the profile {} does not fit this process: ", self.profile)?;
            return write_list(f, &self.differences, "; ");
        }
        let missing: Vec<&str> = self.missing_core().collect();
        if !missing.is_empty() {
            write!(f, "the profile {} cannot be verified: the process does not have ", self.profile)?;
            return write_list(f, &missing, ", ");
        }
        let (checked, absent) = (self.checked.len(), self.absent.len());
        write!(
            f,
            "the profile {} fits: {checked} sizes are equal, {absent} types could not be compared",
            self.profile
        )?;
        if !self.left_out.is_empty() {
            f.write_str("; left out: ")?;
        }
        write_list(f, &self.left_out, "; ")
    }
}

fn write_list(f: &mut fmt::Formatter<'_>, items: &[impl fmt::Display], separator: &str) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if index == 0 { "" } else { separator })?;
    }
    Ok(())
}

/// Compares byte order and pointer width.
pub fn compare_abi(target: &(impl Target + ?Sized), profile: &Profile, verification: &mut Verification) {
    let abi = target.abi();
    let mut property = |name: &str, expected: String, found: String| {
        if expected != found {
            verification.differences.push(Difference { type_name: name.to_owned(), expected, found });
        }
    };
    property("byte order", format!("{:?}", profile.target.byte_order), format!("{:?}", abi.byte_order));
    let width = |abi: target::TargetAbi| format!("{} bytes", abi.pointer_width.bytes());
    property("pointer width", width(profile.target), width(abi));
}

impl Identity {
    /// Whether one of the version prefixes is that of `version`.
    pub fn is_for(&self, version: (u64, u64, u64)) -> bool {
        self.fits.iter().any(|prefix| is_prefix(prefix, version))
    }
}

impl Profile {
    /// Removes the types that a verification found to differ without harm, so that nobody reads through them.
    pub fn leave_out(&mut self, verification: &Verification) {
        for difference in &verification.left_out {
            self.types.remove(&difference.type_name);
        }
    }
}

/// Why no profile is used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoProfile {
    /// No profile is made for the version.
    #[error(
        "no layout profile is for {implementation} {version} (there are: {shipped}){}; {REMEDY}",
        same_sizes_text(.same_sizes)
    )]
    Version {
        /// The MPI, as profiles call it.
        implementation: String,
        /// The version of the process's library.
        version: String,
        /// The profiles that there are, and what they are for.
        shipped: String,
        /// The profiles whose sizes would all be equal.
        same_sizes: Vec<String>,
    },
    /// The profiles for the version do not fit the process.
    #[error("no layout profile fits this {implementation} {version}: {}; {REMEDY}", tried_text(.tried))]
    Unfit {
        /// The MPI, as profiles call it.
        implementation: String,
        /// The version of the process's library.
        version: String,
        /// The profiles for that version and what was found.
        tried: Vec<Verification>,
    },
    /// A core file or recording does not have what the profiles are verified by.
    #[error("no layout profile can be verified: {0}")]
    LeftOut(TargetError),
    /// A profile that this program carries is damaged.
    #[error("the layout profile {name} is damaged: {source}")]
    Damaged {
        /// The profile.
        name: String,
        /// What is wrong with it.
        source: ProfileError,
    },
}

const REMEDY: &str = "make one from the debug information or the headers of this build: mpi-queues layouts make --help";

fn same_sizes_text(names: &[String]) -> String {
    match names {
        [] => String::new(),
        // Equal sizes do not mean equal fields: ompi_errhandler_t has 136 bytes in 4.1 and in 5.0, with other fields.
        names => format!("; all sizes of {} are equal, but fields may be elsewhere", names.join(", ")),
    }
}

fn tried_text(tried: &[Verification]) -> String {
    tried.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// A profile that fits a process.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The profile, without the types that differ harmlessly.
    pub profile: Profile,
    /// What was compared, those types included.
    pub verification: Verification,
}

/// The first of the given profiles for a version of an implementation that fits the process, as
/// `verify` finds, without the types that it leaves out.
///
/// # Errors
/// Where none is for the version, or none of those fits: with every difference and the next command to type.
pub fn choose_profile(
    implementation: &str,
    version: (u64, u64, u64),
    profiles: &[Shipped],
    verify: impl Fn(&Profile) -> Verification,
) -> Result<Chosen, NoProfile> {
    let damaged = |name: &str| {
        let name = name.to_owned();
        move |source| NoProfile::Damaged { name, source }
    };
    let shown = format!("{}.{}.{}", version.0, version.1, version.2);
    let mut shipped = Vec::new();
    let mut tried = Vec::new();
    for whole in profiles {
        let name = whole.name;
        let header = whole.header().map_err(damaged(name))?;
        shipped.push(format!("{name} for {}", header.identity.fits.join(", ")));
        if header.identity.implementation != implementation || !header.identity.is_for(version) {
            continue;
        }
        let mut profile = whole.profile().map_err(damaged(name))?;
        let verification = verify(&profile);
        if verification.fits() {
            profile.leave_out(&verification);
            return Ok(Chosen { profile, verification });
        }
        tried.push(verification);
    }
    if let Some(error) = tried.iter().find_map(|one| one.unread.clone().filter(|_| one.differences.is_empty())) {
        return Err(NoProfile::LeftOut(error));
    }
    if !tried.is_empty() {
        return Err(NoProfile::Unfit { implementation: implementation.to_owned(), version: shown, tried });
    }
    let mut same_sizes = Vec::new();
    for whole in profiles {
        let name = whole.name;
        let profile = whole.profile().map_err(damaged(name))?;
        if verify(&profile).fits() {
            same_sizes.push(name.to_owned());
        }
    }
    let (implementation, shipped) = (implementation.to_owned(), shipped.join("; "));
    Err(NoProfile::Version { implementation, version: shown, shipped, same_sizes })
}

/// Whether a version begins with the numbers of `prefix`: 4.1.4 with `4.1`, but 4.10.0 not.
fn is_prefix(prefix: &str, version: (u64, u64, u64)) -> bool {
    let numbers = [version.0, version.1, version.2];
    let parts: Vec<&str> = prefix.split('.').collect();
    parts.len() <= numbers.len() && parts.iter().zip(numbers).all(|(part, number)| part.parse() == Ok(number))
}
