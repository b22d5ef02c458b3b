//! Files that may be plug-ins: how they were found, and whether they may be loaded.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::error::PluginError;
use super::trust;

use target::files::{about, is_regular, real_path};
use target::libraries::is_mpi_library;
use target::{Image, Target};

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
    /// The target names it; the words say where.
    Named(&'static str),
    /// A default name beside the MPI library.
    DefaultName,
}

impl How {
    /// For people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Explicit => "named by the user",
            Self::Setting => "found on plugin-path",
            Self::Named(words) => words,
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
    /// Interfaces besides those that are known here.
    pub others: Option<&'static Others>,
}

/// What further interfaces say of plug-ins for message queues.
#[derive(Debug)]
pub struct Others {
    /// The plug-in that a target names by one of them, and how.
    pub named: fn(&dyn Target) -> Option<(PathBuf, How)>,
    /// Whether a library is a plug-in of one of them only.
    pub is_theirs: fn(&Path) -> bool,
}

impl Search<'_> {
    /// The candidates for `target`, the preferred one first: what the `plugin-path` setting names, what the target names, and
    /// the `defaults` beside the MPI library. Files that only a default name stands for are left out where they do not exist;
    /// files that somebody named are listed all the same.
    pub fn candidates(&self, images: &[Image], named: Vec<(PathBuf, How)>, defaults: &[&str]) -> Vec<Candidate> {
        let name_of = |path: &PathBuf| path.file_name().map(PathBuf::from);
        let names: Vec<PathBuf> =
            named.iter().filter_map(|(path, _)| name_of(path)).chain(defaults.iter().map(PathBuf::from)).collect();
        let beside = directories_beside(images);
        let mut found = Vec::new();
        for path in self.set_paths {
            if path.is_dir() {
                // The user named the directory, so it counts as safe; the files in it must still be nobody else's.
                let mut safe = self.safe_path.to_vec();
                safe.push(path.clone());
                let files = existing(std::slice::from_ref(path), &names);
                found.extend(files.map(|path| by_rule(path, How::Setting, &safe)));
            } else {
                found.push(by_name(path, How::Setting));
            }
        }
        for (path, how) in named {
            if path.is_absolute() {
                found.push(by_rule(path, how, self.safe_path));
            } else {
                // A bare name: the dynamic linker would search for it; we look beside the MPI library.
                let name = name_of(&path).unwrap_or_default();
                found.extend(existing(&beside, &[name]).map(|path| by_rule(path, how, self.safe_path)));
            }
        }
        found.extend(existing(&beside, &names).map(|path| by_rule(path, How::DefaultName, self.safe_path)));
        drop_doubles(&mut found);
        found
    }
}

/// Those of the names in these directories that are files.
fn existing<'a>(directories: &'a [PathBuf], names: &'a [PathBuf]) -> impl Iterator<Item = PathBuf> + 'a {
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
fn by_rule(path: PathBuf, how: How, safe_path: &[PathBuf]) -> Candidate {
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
fn directories_beside(images: &[Image]) -> Vec<PathBuf> {
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
fn drop_doubles(found: &mut Vec<Candidate>) {
    let mut seen: Vec<PathBuf> = Vec::new();
    found.retain(|candidate| {
        let real = real_path(&candidate.path).unwrap_or_else(|_| candidate.path.clone());
        let new = !seen.contains(&real);
        seen.push(real);
        new
    });
}
