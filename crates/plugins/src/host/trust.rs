//! Which plug-ins are loaded without being asked for by name.
//!
//! Loading a plug-in runs code that the debugged program names. So it is only done for a library that nobody but root
//! and the user could have put there, in a place where programs are installed or that the user has declared safe
//! (gdb's `auto-load safe-path`).

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::error::{PluginError, shown};
use target::files::real_path;

/// Where programs are installed.
pub const TRUSTED_DIRECTORIES: [&str; 4] = ["/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt"];

const OTHERS_MAY_WRITE: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// Checks that `path` may be loaded without being asked for by name, and returns the file that symbolic links lead to:
/// load that one.
///
/// # Errors
/// [`PluginError::NotTrusted`], which says how to load it all the same; [`PluginError::File`] where it does not exist.
pub fn check(path: &Path, safe_path: &[PathBuf]) -> Result<PathBuf, PluginError> {
    // SAFETY: asks for this process's user; cannot fail.
    check_as(path, safe_path, unsafe { libc::geteuid() })
}

fn check_as(path: &Path, safe_path: &[PathBuf], user: u32) -> Result<PathBuf, PluginError> {
    let file = |error: &dyn std::fmt::Display| PluginError::File { path: path.to_owned(), reason: error.to_string() };
    let real = real_path(path).map_err(|error| file(&error))?;
    let refuse = |reason: String| Err(PluginError::NotTrusted { path: path.to_owned(), reason });
    let metadata = real.metadata().map_err(|error| file(&error))?;
    if !metadata.is_file() {
        return refuse("it is not a regular file".to_owned());
    }
    if let Some(reason) = unsafe_because(&metadata, user, false) {
        return refuse(format!("{} {reason}", shown(&real)));
    }
    // Whoever can write to a directory above can put another file there; in a sticky one, only in a place that is
    // not taken yet.
    for (level, directory) in real.ancestors().skip(1).enumerate() {
        let metadata = directory.metadata().map_err(|error| file(&error))?;
        if let Some(reason) = unsafe_because(&metadata, user, level > 0) {
            return refuse(format!("the directory {} {reason}", shown(directory)));
        }
    }
    let fixed = TRUSTED_DIRECTORIES.iter().map(PathBuf::from);
    let mut places = fixed.chain(safe_path.iter().cloned()).filter_map(|place| place.canonicalize().ok());
    if !places.any(|place| real.starts_with(place)) {
        return refuse(format!(
            "{} is in none of the trusted directories ({}, and, in gdb, its auto-load safe-path)",
            shown(&real),
            TRUSTED_DIRECTORIES.join(", ")
        ));
    }
    Ok(real)
}

fn unsafe_because(metadata: &Metadata, user: u32, sticky_is_enough: bool) -> Option<String> {
    if metadata.uid() != 0 && metadata.uid() != user {
        return Some(format!("belongs to user {}, not to root or you", metadata.uid()));
    }
    let shielded = sticky_is_enough && metadata.mode() & STICKY != 0;
    if metadata.mode() & OTHERS_MAY_WRITE != 0 && !shielded {
        return Some("can be written to by other users".to_owned());
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let dir = std::env::temp_dir().join(format!("mqs-trust-{}-{name}", std::process::id()));
            let _ = fs::remove_dir_all(&dir);
            fs::create_dir_all(&dir).unwrap_or_default();
            mode(&dir, 0o755);
            let place = Self(dir);
            fs::write(place.file(), b"x").unwrap_or_default();
            mode(&place.file(), 0o644);
            place
        }
        fn file(&self) -> PathBuf {
            self.0.join("lib.so")
        }
        fn check(&self) -> Result<PathBuf, String> {
            check(&self.file(), std::slice::from_ref(&self.0)).map_err(|error| error.to_string())
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap_or_default();
    }

    #[test]
    fn a_file_on_the_safe_path_is_trusted() {
        let place = Place::new("good");
        assert!(place.check().is_ok(), "{:?}", place.check());
    }

    #[test]
    fn a_file_elsewhere_is_not_and_the_command_is_named() {
        let place = Place::new("elsewhere");
        let error = check(&place.file(), &[]).map_err(|error| error.to_string()).unwrap_err();
        assert!(error.contains("none of the trusted directories") && error.contains("mpi plugin load /"), "{error}");
    }

    #[test]
    fn others_must_not_be_able_to_write() {
        let place = Place::new("writable");
        mode(&place.file(), 0o666);
        assert!(place.check().unwrap_err().contains("can be written to by other users"));
        mode(&place.file(), 0o664);
        assert!(place.check().is_err(), "a group is others too");
        mode(&place.file(), 0o644);
        mode(&place.0, 0o1777);
        assert!(place.check().unwrap_err().contains("the directory"), "its own directory must not even be sticky");
    }

    #[test]
    fn it_must_belong_to_root_or_the_user() {
        let place = Place::new("owner");
        let owner = fs::metadata(place.file()).map(|metadata| metadata.uid()).unwrap_or_default();
        let other = check_as(&place.file(), std::slice::from_ref(&place.0), owner.wrapping_add(1));
        assert_eq!(other.is_ok(), owner == 0);
    }

    #[test]
    fn a_link_is_judged_by_where_it_leads() {
        let (safe, elsewhere) = (Place::new("link-safe"), Place::new("link-elsewhere"));
        let link = safe.0.join("link.so");
        symlink(elsewhere.file(), &link).unwrap_or_default();
        assert!(matches!(check(&link, std::slice::from_ref(&safe.0)), Err(PluginError::NotTrusted { .. })));
    }

    #[test]
    fn a_missing_file_and_a_directory_are_told_apart() {
        let place = Place::new("missing");
        assert!(matches!(check(&place.0.join("no.so"), &[]), Err(PluginError::File { .. })));
        assert!(matches!(check(&place.0, &[]), Err(PluginError::NotTrusted { .. })));
    }
}
