//! Files that may be plug-ins: how they were found, and whether they may be loaded.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::error::PluginError;
use super::trust;
use target::Image;
use target::files::{about, is_regular, real_path};
use target::libraries::is_mpi_library;

/// More directories than this beside the MPI library are not looked into.
const MAX_DIRECTORIES: usize = 64;

/// How a candidate was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum How {
    /// The user named it.
    Explicit,
    /// The `plugin-path` setting names it, or a directory that holds it.
    Setting,
    /// The target's `MPIR_dll_name`.
    MpirDllName,
    /// The target's `MPI2DD_info`.
    Mpi2ddInfo,
    /// The target's `mpidbg_dll_locations`.
    DllLocations,
    /// A default name beside the MPI library.
    DefaultName,
}

impl How {
    /// For people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Explicit => "named by the user",
            Self::Setting => "found on plugin-path",
            Self::MpirDllName => "named by the program (MPIR_dll_name)",
            Self::Mpi2ddInfo => "named by the program (MPI2DD_info)",
            Self::DllLocations => "named by the MPI library (mpidbg_dll_locations)",
            Self::DefaultName => "found beside the MPI library",
        }
    }
}

/// A plug-in that might be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Where it is; with links resolved where it is trusted by the rule.
    pub path: PathBuf,
    /// How it was found.
    pub how: How,
    /// Whether there is such a file.
    pub exists: bool,
    /// Whether it may be loaded.
    pub trusted: bool,
    /// Why it may not, or why it cannot be used at all.
    pub refusal: Option<PluginError>,
}

impl Candidate {
    /// Whether it may be loaded.
    pub fn usable(&self) -> bool {
        self.exists && self.trusted
    }
}

/// What the user has said about plug-ins.
#[derive(Debug, Clone, Copy, Default)]
pub struct Search<'a> {
    /// The plug-in that was asked for by name; then no other is looked for.
    pub explicit: Option<&'a Path>,
    /// The `plugin-path` setting: plug-ins, or directories with some.
    pub set_paths: &'a [PathBuf],
    /// Directories that the user trusts (gdb's `auto-load safe-path`).
    pub safe_path: &'a [PathBuf],
}

/// Those of the names in these directories that are files.
pub fn existing<'a>(directories: &'a [PathBuf], names: &'a [PathBuf]) -> impl Iterator<Item = PathBuf> + 'a {
    let all = directories.iter().flat_map(move |directory| names.iter().map(move |name| directory.join(name)));
    all.filter(|path| is_regular(path))
}

/// A file that the user named.
pub fn by_name(path: &Path, how: How) -> Candidate {
    let exists = is_regular(path);
    let refusal = (!exists).then(|| PluginError::File {
        path: path.to_owned(),
        reason: if about(path).is_ok() { "it is not a regular file" } else { "there is no such file" }.to_owned(),
    });
    Candidate { path: path.to_owned(), how, exists, trusted: exists, refusal }
}

/// A file that somebody else named: it is loaded where `trust` allows it.
pub fn by_rule(path: PathBuf, how: How, safe_path: &[PathBuf]) -> Candidate {
    match trust::check(&path, safe_path) {
        Ok(real) => Candidate { path: real, how, exists: true, trusted: true, refusal: None },
        Err(error) => {
            let exists = is_regular(&path);
            let refusal = if exists {
                error
            } else {
                let reason = format!("there is no such file; it was {}", how.describe());
                PluginError::File { path: path.clone(), reason }
            };
            Candidate { path, how, exists, trusted: false, refusal: Some(refusal) }
        }
    }
}

/// The directory of the MPI library (of the executable, where it is linked statically), as it is named and as it
/// really is, then Open MPI's subdirectories of those.
pub fn directories_beside(images: &[Image]) -> Vec<PathBuf> {
    let is_mpi = |image: &&Image| is_mpi_library(image.file_name());
    let library = images.iter().find(is_mpi).or_else(|| images.iter().find(|image| image.is_executable));
    let Some(path) = library.map(|image| Path::new(&image.path)).filter(|path| path.is_absolute()) else {
        return Vec::new();
    };
    let mut out: Vec<PathBuf> = Vec::new();
    for path in [Some(path.to_owned()), real_path(path).ok()].into_iter().flatten() {
        if let Some(directory) = path.parent().map(Path::to_owned).filter(|directory| !out.contains(directory)) {
            out.push(directory);
        }
    }
    let mut below = Vec::new();
    for directory in &out {
        let Some(entries) = about(directory).ok().and_then(|_| directory.read_dir().ok()) else { continue };
        let openmpi = |entry: &std::fs::DirEntry| entry.file_name().as_bytes().starts_with(b"openmpi");
        let entries = entries.flatten().filter(openmpi).take(MAX_DIRECTORIES);
        below.extend(
            entries.map(|entry| entry.path()).filter(|path| about(path).is_ok_and(|about| about.is_directory())),
        );
    }
    below.sort();
    out.extend(below);
    out
}

/// Leaves out what stands for a file that was named before.
pub fn drop_doubles(found: &mut Vec<Candidate>) {
    let mut seen: Vec<PathBuf> = Vec::new();
    found.retain(|candidate| {
        let real = real_path(&candidate.path).unwrap_or_else(|_| candidate.path.clone());
        let new = !seen.contains(&real);
        seen.push(real);
        new
    });
}
