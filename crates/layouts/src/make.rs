//! Making a profile from debug information.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::dwarf::DwarfTypes;
use super::object_file::DebugSections;
use super::profile::{FORMAT, SCHEMA, check_type};
use super::wanted::{Wanted, is_named};
use super::{Identity, Producer, Profile, TypeLayout};
use symbols::ObjectFile;
use target::{Reason, TargetAbi};

/// A macro `X` stands in the debug information as an enumerator of this prefix and its name.
const MACRO_PREFIX: &str = "MQ_";

/// More files than this are not asked for by a person.
const MAX_OBJECTS: usize = 4096;

/// What a profile is to be made from, and what is to be written into it.
#[derive(Debug, Clone, Default)]
pub struct MakeRequest {
    /// Object files, executables or shared libraries with DWARF. The first one that defines a type counts.
    pub objects: Vec<PathBuf>,
    /// The profile's name, such as `openmpi-4.1`.
    pub name: String,
    /// `Open MPI`, `MPICH`.
    pub implementation: String,
    /// What is read of it; of an implementation that is not known, what is read of all.
    pub wanted: Vec<&'static Wanted>,
    /// The MPI's version, such as `4.1.4`.
    pub version: String,
    /// The device that the build was configured with, such as `ch4:ofi,ucx` (MPICH).
    pub device: Option<String>,
    /// Version prefixes that it is believed to fit.
    pub fits: Vec<String>,
    /// Packages and files that it is made from.
    pub sources: Vec<String>,
    /// The command that makes it.
    pub command: String,
    /// Types by name, with all their fields; none means what is wanted.
    pub types: Vec<String>,
    /// Constants by name or as `PREFIX*`; none means those that are wanted.
    pub constants: Vec<String>,
    /// Build-ids of the libraries that it is made for.
    pub build_ids: Vec<String>,
}

/// Why a profile could not be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MakeError {
    /// No file was given.
    #[error("no object file was given; give at least one with debug information (compiled with -g)")]
    NoObjects,
    /// More files than we look at.
    #[error("{0} object files were given; the limit is {MAX_OBJECTS}")]
    TooManyObjects(usize),
    /// A file could not be read, or is no object file.
    #[error("cannot read {path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file without DWARF.
    #[error("{path} has no debug information; compile it with -g, or give the file that holds its debug information")]
    NoDebugInfo {
        /// The file.
        path: String,
    },
    /// Debug information that is shared between files.
    #[error(
        "{path} shares types with the supplementary file {supplement} (made by dwz), which is not read; give object files \
         that were not processed by dwz"
    )]
    Supplement {
        /// The file.
        path: String,
        /// The file that it shares types with.
        supplement: String,
    },
    /// Debug information that is damaged or too large.
    #[error("the debug information of {path} cannot be used: {reason}")]
    Dwarf {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: Reason,
    },
    /// The definition of a wanted type is damaged.
    #[error("the definition of {type_name} in {path} cannot be used: {reason}")]
    Type {
        /// The file.
        path: String,
        /// The type.
        type_name: String,
        /// What is wrong with it.
        reason: Reason,
    },
    /// Files of different targets.
    #[error("{path} is of another byte order or pointer width than {first}")]
    MixedTargets {
        /// The file that differs.
        path: String,
        /// The first file.
        first: String,
    },
    /// None of the wanted types is there, or one that was asked for by name.
    #[error("{} not defined in {objects}", missing_text(.types))]
    MissingTypes {
        /// The types.
        types: Vec<String>,
        /// The files.
        objects: String,
    },
    /// Two definitions of one type that differ.
    #[error("{type_name} is defined differently in {objects}; give only the files of one build")]
    Conflict {
        /// The type.
        type_name: String,
        /// The files.
        objects: String,
    },
}

fn missing_text(types: &[String]) -> String {
    match types {
        [one] => format!("the type {one} is"),
        many => format!("the types {} are", many.join(", ")),
    }
}

/// Makes a profile from the debug information of some files.
///
/// What the readers want and the files do not define stands in the profile's `producer.missing`: not every release
/// has everything.
///
/// # Errors
/// Where a file cannot be used, a definition is damaged or contradicts another, a type that the request names is missing,
/// or nothing that is wanted is there.
pub fn profile_from_objects(request: &MakeRequest) -> Result<Profile, MakeError> {
    let mut profile = made(request, DebugSections::of_user)?;
    if request.types.is_empty() && request.constants.is_empty() {
        profile.keep_only(&request.wanted);
    }
    Ok(profile)
}

/// The types that are wanted, with all their fields, of a file that a process runs: as [`profile_from_objects`], within what such a
/// file may take.
///
/// # Errors
/// As [`profile_from_objects`].
pub fn types_of_file(file: &ObjectFile, wanted: &[&'static Wanted]) -> Result<BTreeMap<String, TypeLayout>, MakeError> {
    let request =
        MakeRequest { objects: vec![file.path().to_path_buf()], wanted: wanted.to_vec(), ..MakeRequest::default() };
    made(&request, |_| DebugSections::of(file)).map(|profile| profile.types)
}

fn made(
    request: &MakeRequest,
    sections_of: impl Fn(&Path) -> Result<DebugSections, MakeError>,
) -> Result<Profile, MakeError> {
    let Some(first) = request.objects.first() else { return Err(MakeError::NoObjects) };
    if request.objects.len() > MAX_OBJECTS {
        return Err(MakeError::TooManyObjects(request.objects.len()));
    }
    let asked_by_name = !request.types.is_empty();
    let lists = &request.wanted;
    let wanted: Vec<&str> = if asked_by_name {
        request.types.iter().map(String::as_str).collect()
    } else {
        lists.iter().flat_map(|list| list.types()).collect()
    };
    let mut found = Found { constants_wanted: constants_wanted(request), ..Found::default() };
    for path in &request.objects {
        // One file at a time: only what is wanted is kept.
        let shown = path.display().to_string();
        let sections = sections_of(path)?;
        match found.abi {
            None => found.abi = Some(sections.abi),
            Some(abi) if abi == sections.abi => {}
            Some(_) => return Err(MakeError::MixedTargets { path: shown, first: first.display().to_string() }),
        }
        let types = DwarfTypes::new(&sections).map_err(|reason| MakeError::Dwarf { path: shown.clone(), reason })?;
        found.take(&types, &wanted, &request.objects, &shown)?;
    }
    let objects = request.objects.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    let missing: Vec<String> =
        wanted.iter().filter(|name| !found.types.contains_key(**name)).map(|name| (*name).to_owned()).collect();
    if (asked_by_name && !missing.is_empty()) || found.types.is_empty() {
        return Err(MakeError::MissingTypes { types: missing, objects });
    }
    let missing = found.missing(missing, if asked_by_name { &[] } else { lists });
    let size = |name: &&str| Some(((*name).to_owned(), found.types.get(*name)?.size));
    let sizes = lists.iter().flat_map(|list| list.pooled).filter_map(size).collect();
    let implementation = match **lists {
        [known] => known.name.to_owned(),
        _ => request.implementation.clone(),
    };
    let abi = found.abi.unwrap_or(TargetAbi::LITTLE_64);
    Ok(Profile {
        schema: SCHEMA.to_owned(),
        format: FORMAT.to_owned(),
        name: request.name.clone(),
        producer: Producer {
            tool: format!("mpi-queues {}", env!("CARGO_PKG_VERSION")),
            command: request.command.clone(),
            sources: request.sources.clone(),
            missing,
        },
        identity: Identity {
            implementation,
            version: request.version.clone(),
            fits: request.fits.clone(),
            build_ids: request.build_ids.clone(),
            device: request.device.clone(),
            sizes,
        },
        target: abi,
        constants: found.constants,
        types: found.types,
    })
}

#[derive(Default)]
struct Found<'a> {
    abi: Option<TargetAbi>,
    types: BTreeMap<String, TypeLayout>,
    constants: BTreeMap<String, i64>,
    /// Names, or prefixes that end in `*`.
    constants_wanted: Vec<&'a str>,
}

impl Found<'_> {
    fn take(&mut self, types: &DwarfTypes, wanted: &[&str], objects: &[PathBuf], path: &str) -> Result<(), MakeError> {
        for name in wanted {
            let unusable =
                |reason: Reason| MakeError::Type { path: path.to_owned(), type_name: (*name).to_owned(), reason };
            let Some(layout) = types.layout(name).map_err(unusable)? else { continue };
            // What is made must be what is read.
            check_type(name, &layout, types.abi).map_err(unusable)?;
            let known = self.types.get(*name);
            if known.is_some_and(|known| known.size != layout.size) || types.conflicts.iter().any(|known| known == name)
            {
                let objects = objects.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
                return Err(MakeError::Conflict { type_name: (*name).to_owned(), objects: objects.join(", ") });
            }
            if known.is_none() {
                self.types.insert((*name).to_owned(), layout);
            }
        }
        for (name, value) in &types.enumerators {
            let plain = name.strip_prefix(MACRO_PREFIX);
            let wanted = || self.constants_wanted.iter().any(|pattern| is_named(pattern, name));
            // Every macro that somebody made an enumerator of is wanted, whatever the list says.
            if plain.is_some() || wanted() {
                self.constants.entry(plain.unwrap_or(name).to_owned()).or_insert(*value);
            }
        }
        Ok(())
    }

    /// Everything that is wanted and was not found, for people.
    fn missing(&self, types: Vec<String>, lists: &[&Wanted]) -> Vec<String> {
        let mut missing = types;
        for (type_name, layout) in &self.types {
            missing.extend(lists.iter().flat_map(|list| list.lacking(type_name, layout)));
        }
        let has = |pattern: &str| self.constants.keys().any(|name| is_named(pattern, name));
        missing
            .extend(self.constants_wanted.iter().filter(|pattern| !has(pattern)).map(|pattern| (*pattern).to_owned()));
        missing
    }
}

fn constants_wanted(request: &MakeRequest) -> Vec<&str> {
    // A request that names its types does not get the constants of a reader on top.
    let by_default = request.constants.is_empty() && request.types.is_empty();
    let known = request.wanted.iter().filter(|_| by_default).flat_map(|list| list.constants).copied();
    request.constants.iter().map(String::as_str).chain(known).collect()
}
