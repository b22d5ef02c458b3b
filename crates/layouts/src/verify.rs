//! Whether a profile fits the process at hand, and which profile to use.
//!
//! Open MPI describes every class of objects in memory: `opal_class_t` with the class's name and the size of its
//! objects, in static data that can be read before MPI_Init and in stripped libraries (opal/class/opal_object.h, releases
//! 4.1.4 and 5.0.7). `OBJ_CLASS_INSTANCE(T, ...)` defines it under the symbol `T_class`.

use std::fmt;

use super::profile::{Identity, Profile, ProfileError, ProfileHeader};
use super::shipped::shipped_for;
use target::{Target, TargetError, printable};

/// The implementation whose classes are compared, as profiles call it.
const OPEN_MPI: &str = "Open MPI";

/// Classes without which nothing can be said about a process. The library itself exports all of them.
const CORE: &[&str] = &[
    "opal_list_t",
    "opal_free_list_t",
    "opal_pointer_array_t",
    "ompi_request_t",
    "ompi_communicator_t",
    "ompi_group_t",
    "ompi_datatype_t",
    "mca_pml_base_request_t",
    "mca_pml_base_send_request_t",
    "mca_pml_base_recv_request_t",
];

/// Objects of the library and their types: the symbol table says their size.
const INSTANCES: &[(&str, &str)] = &[
    ("ompi_mpi_communicators", "opal_pointer_array_t"),
    ("mca_pml_base_send_requests", "opal_free_list_t"),
    ("mca_pml_base_recv_requests", "opal_free_list_t"),
    ("mca_pml_base_selected_component", "mca_pml_base_component_t"),
    ("mca_pml", "mca_pml_base_module_t"),
    ("mca_pml_ob1", "mca_pml_ob1_t"),
    ("mca_coll_libnbc_component", "ompi_coll_libnbc_component_t"),
];

/// How the names of types begin that belong to one component and that nothing else contains: where only such a one
/// differs, the profile is used without it. They change within a series (ompi/mca/part/persist/part_persist_request.h:
/// 688 bytes in 5.0.7, 712 with `real_dt_size` in 5.0.11).
const OF_ONE_COMPONENT: &[&str] = &["mca_part_persist_", "mca_ompio_", "mca_common_ompio_", "ompi_osc_"];

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
            write!(f, "the profile {} cannot be verified: the process does not show ", self.profile)?;
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

/// Compares a profile with a process: byte order, pointer width, the size of every class that the process shows, and the
/// sizes of some well-known objects.
pub fn verify_classes(target: &(impl Target + ?Sized), profile: &Profile) -> Verification {
    let mut verification = Verification { profile: profile.name.clone(), needed: CORE, ..Verification::default() };
    compare_abi(target, profile, &mut verification);
    if !verification.differences.is_empty() {
        // Nothing that follows could be read.
        return verification;
    }
    for (type_name, layout) in &profile.types {
        match read_class(target, profile, type_name) {
            Some(Class::Size(size)) if size == layout.size => verification.checked.push(type_name.clone()),
            Some(Class::Size(size)) => {
                let (expected, found) = (format!("{} bytes", layout.size), format!("{size} bytes"));
                let difference = Difference { type_name: type_name.clone(), expected, found };
                if OF_ONE_COMPONENT.iter().any(|start| type_name.starts_with(start)) {
                    verification.left_out.push(difference);
                } else {
                    verification.differences.push(difference);
                }
            }
            Some(Class::Name(name)) => verification.differences.push(Difference {
                type_name: type_name.clone(),
                expected: format!("a class of the name {type_name:?}"),
                found: format!("a class of the name \"{name}\""),
            }),
            Some(Class::LeftOut(error)) => {
                verification.absent.push(type_name.clone());
                verification.unread.get_or_insert(error);
            }
            None => verification.absent.push(type_name.clone()),
        }
    }
    for (symbol_name, type_name) in INSTANCES {
        let Some(layout) = profile.types.get(*type_name) else { continue };
        // A symbol table need not say sizes.
        let size = target.symbol(symbol_name).ok().flatten().and_then(|symbol| symbol.size).filter(|size| *size > 0);
        match size {
            Some(size) if size == layout.size => verification.checked.push((*symbol_name).to_owned()),
            Some(size) => verification.differences.push(Difference {
                type_name: format!("{symbol_name} ({type_name})"),
                expected: format!("{} bytes", layout.size),
                found: format!("{size} bytes"),
            }),
            None => {}
        }
    }
    verification
}

enum Class {
    Size(u64),
    /// The class is called otherwise: a wrong layout of `opal_class_t`, or not a class.
    Name(String),
    /// A core file or recording does not have its name, or reading was ended.
    LeftOut(TargetError),
}

/// The class of a type, where the process has one that can be read.
fn read_class(target: &(impl Target + ?Sized), profile: &Profile, type_name: &str) -> Option<Class> {
    let class = profile.types.get("opal_class_t")?;
    let (name_field, size_field) = (class.fields.get("cls_name")?, class.fields.get("cls_sizeof")?);
    let at = match target.symbol(&format!("{type_name}_class")) {
        Ok(found) => found?.addr,
        Err(error) if error.is_of_the_debugger() => return Some(Class::LeftOut(error)),
        Err(_) => return None,
    };
    let read = target
        .read_pointer(at.wrapping_add(name_field.offset))
        .and_then(|name| Ok((name, target.read_uint(at.wrapping_add(size_field.offset), size_field.size)?)));
    let (name_at, size) = match read {
        Ok(both) => both,
        Err(error) if error.is_left_out() || error.is_of_the_debugger() => return Some(Class::LeftOut(error)),
        Err(_) => return None,
    };
    // The dynamic linker has not come to this library yet.
    if name_at.is_null() {
        return None;
    }
    let name = match target.read_c_string(name_at, type_name.len() + 1) {
        Ok(name) => name,
        Err(error) if error.is_left_out() || error.is_of_the_debugger() => return Some(Class::LeftOut(error)),
        Err(_) => return Some(Class::Name("?".to_owned())),
    };
    Some(if name == type_name.as_bytes() { Class::Size(size) } else { Class::Name(printable(&name)) })
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
        "no layout profile is for Open MPI {version} (there are: {shipped}){}; {REMEDY}",
        same_sizes_text(.same_sizes)
    )]
    Version {
        /// The version of the process's library.
        version: String,
        /// The profiles that there are, and what they are for.
        shipped: String,
        /// The profiles whose sizes would all be equal.
        same_sizes: Vec<String>,
    },
    /// The profiles for the version do not fit the process.
    #[error("no layout profile fits this Open MPI {version}: {}; {REMEDY}", tried_text(.tried))]
    Unfit {
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
        names => format!("; all sizes of {} are equal, but fields may lie elsewhere", names.join(", ")),
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

/// The shipped profile for an Open MPI of the given version that fits the process, without the types that changed
/// since the release that it was made from.
///
/// # Errors
/// Where none is for the version, or none of those fits: with every difference and the next command to type.
pub fn choose_profile(target: &(impl Target + ?Sized), version: (u64, u64, u64)) -> Result<Chosen, NoProfile> {
    choose_among(target, version, shipped_for(OPEN_MPI))
}

/// As [`choose_profile`], among the given texts of profiles.
///
/// # Errors
/// As [`choose_profile`].
pub fn choose_among(
    target: &(impl Target + ?Sized),
    version: (u64, u64, u64),
    profiles: &[(&str, &str)],
) -> Result<Chosen, NoProfile> {
    let damaged = |name: &str| {
        let name = name.to_owned();
        move |source| NoProfile::Damaged { name, source }
    };
    let shown = format!("{}.{}.{}", version.0, version.1, version.2);
    let mut shipped = Vec::new();
    let mut tried = Vec::new();
    for (name, text) in profiles {
        let header = ProfileHeader::from_json(text).map_err(damaged(name))?;
        shipped.push(format!("{name} for {}", header.identity.fits.join(", ")));
        if header.identity.implementation != OPEN_MPI || !header.identity.is_for(version) {
            continue;
        }
        let mut profile = Profile::from_json(text).map_err(damaged(name))?;
        let verification = verify_classes(target, &profile);
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
        return Err(NoProfile::Unfit { version: shown, tried });
    }
    let mut same_sizes = Vec::new();
    for (name, text) in profiles {
        let profile = Profile::from_json(text).map_err(damaged(name))?;
        if verify_classes(target, &profile).fits() {
            same_sizes.push((*name).to_owned());
        }
    }
    Err(NoProfile::Version { version: shown, shipped: shipped.join("; "), same_sizes })
}

/// Whether a version begins with the numbers of `prefix`: 4.1.4 with `4.1`, but 4.10.0 not.
fn is_prefix(prefix: &str, version: (u64, u64, u64)) -> bool {
    let numbers = [version.0, version.1, version.2];
    let parts: Vec<&str> = prefix.split('.').collect();
    parts.len() <= numbers.len() && parts.iter().zip(numbers).all(|(part, number)| part.parse() == Ok(number))
}
