//! Where the debug information of a file may lie that does not have it itself.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use target::files::{FileError, Reader, RegularFile, open_regular, open_regular_as, real_path};

/// Where separate debug files are looked for.
#[derive(Debug, Clone)]
pub struct DebugPlaces {
    /// File systems in which the directories lie: `/`, and `/proc/PID/root` for a process in a container.
    pub roots: Vec<PathBuf>,
    /// Directories of debug files in each of them.
    pub directories: Vec<PathBuf>,
    /// Where `debuginfod-find` keeps what it was given.
    pub caches: Vec<PathBuf>,
    /// How long `debuginfod-find` may take for one file; `None`: it is not asked. It is only where `DEBUGINFOD_URLS` is set.
    pub ask: Option<Duration>,
    /// For whom files are read.
    pub reader: Option<Reader>,
}

impl Default for DebugPlaces {
    /// Those of this machine and of this user; nobody is asked.
    fn default() -> Self {
        Self {
            roots: vec![PathBuf::from("/")],
            directories: vec![PathBuf::from("/usr/lib/debug")],
            caches: caches(|name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)),
            ask: None,
            reader: None,
        }
    }
}

impl DebugPlaces {
    /// No places: debug information counts only where the file has it itself, or in its own directory.
    pub fn none() -> Self {
        Self { roots: Vec::new(), directories: Vec::new(), caches: Vec::new(), ask: None, reader: None }
    }

    pub(crate) fn open(&self, path: &Path) -> Result<RegularFile, FileError> {
        match &self.reader {
            Some(reader) => open_regular_as(path, reader),
            None => open_regular(path),
        }
    }

    /// Where a debug file lies that has this build-id (hexadecimal digits), below `.build-id`.
    pub(crate) fn by_build_id(&self, build_id: &str) -> Vec<PathBuf> {
        let (Some(first), Some(rest)) = (build_id.get(..2), build_id.get(2..)) else { return Vec::new() };
        if rest.is_empty() {
            return Vec::new();
        }
        let name = format!(".build-id/{first}/{rest}.debug");
        let kept = self.caches.iter().map(|cache| cache.join(build_id).join("debuginfo"));
        self.debug_directories().map(|directory| directory.join(&name)).chain(kept).collect()
    }

    /// Where a debug file of this name may lie for the file at `path`.
    pub(crate) fn by_name(&self, path: &Path, name: &OsStr) -> Vec<PathBuf> {
        let Some(own) = path.parent() else { return Vec::new() };
        let mut directories = vec![own.to_path_buf()];
        // The file behind a link, as gdb looks for it.
        if let Ok(real) = real_path(path)
            && let Some(parent) = real.parent()
            && parent != own
        {
            directories.push(parent.to_path_buf());
        }
        let mut found = Vec::new();
        for directory in &directories {
            found.push(directory.join(name));
            found.push(directory.join(".debug").join(name));
        }
        for directory in &directories {
            let root = self.roots.iter().filter(|root| directory.starts_with(root));
            let root = root.max_by_key(|root| root.as_os_str().len());
            let inside = root.and_then(|root| directory.strip_prefix(root).ok()).unwrap_or(directory);
            let inside = inside.strip_prefix("/").unwrap_or(inside);
            found.extend(self.debug_directories().map(|place| place.join(inside).join(name)));
        }
        found
    }

    fn debug_directories(&self) -> impl Iterator<Item = PathBuf> {
        self.roots.iter().flat_map(|root| {
            self.directories.iter().map(|directory| root.join(directory.strip_prefix("/").unwrap_or(directory)))
        })
    }
}

/// Where libdebuginfod keeps files (debuginfod_find_debuginfo(3)).
fn caches(variable: impl Fn(&str) -> Option<PathBuf>) -> Vec<PathBuf> {
    if let Some(told) = variable("DEBUGINFOD_CACHE_PATH") {
        return vec![told];
    }
    let home = variable("HOME");
    let of_user = variable("XDG_CACHE_HOME").or_else(|| home.as_ref().map(|home| home.join(".cache")));
    let old = home.map(|home| home.join(".debuginfod_client_cache"));
    of_user.map(|cache| cache.join("debuginfod_client")).into_iter().chain(old).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_gdb() {
        let mut places = DebugPlaces { caches: vec!["/cache".into()], ..DebugPlaces::default() };
        assert_eq!(
            places.by_build_id("abcdef"),
            [Path::new("/usr/lib/debug/.build-id/ab/cdef.debug"), Path::new("/cache/abcdef/debuginfo")]
        );
        assert!(places.by_build_id("a").is_empty() && places.by_build_id("ab").is_empty());
        places.roots = vec!["/".into(), "/nowhere/7/root".into()];
        let found = places.by_name(Path::new("/nowhere/7/root/opt/lib/a.so"), OsStr::new("a.debug"));
        assert_eq!(
            found,
            [
                "/nowhere/7/root/opt/lib/a.debug",
                "/nowhere/7/root/opt/lib/.debug/a.debug",
                "/usr/lib/debug/opt/lib/a.debug",
                "/nowhere/7/root/usr/lib/debug/opt/lib/a.debug"
            ]
            .map(Path::new)
        );
    }

    #[test]
    fn the_cache_is_that_of_debuginfod() {
        let set = |names: &'static [(&str, &str)]| {
            caches(|name| names.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
        };
        assert_eq!(set(&[("HOME", "/h"), ("DEBUGINFOD_CACHE_PATH", "/c")]), [Path::new("/c")]);
        assert_eq!(
            set(&[("HOME", "/h")]),
            [Path::new("/h/.cache/debuginfod_client"), Path::new("/h/.debuginfod_client_cache")]
        );
        assert!(set(&[]).is_empty());
    }
}
