//! Where the plug-in of a process may be.
//!
//! In this order: the one that the user named, the `plugin-path` setting, `MPIR_dll_name` of the target or what else names one
//! in it, and the names that the document lists as defaults, beside the MPI library. A name from the target is only a
//! suggestion; see `host::trust`.

use std::path::Path;

use crate::host::candidate::by_name;
pub use crate::host::candidate::{Candidate, How, Search};
use acquisition::named_plugin;
use target::{Image, Target};

/// By MPIR's variable.
pub const BY_MPIR: How = How::Named("named by the program (MPIR_dll_name)");
/// The name of Open MPI's plug-in.
const OPEN_MPI: &str = "libompi_dbg_msgq.so";
/// The document's default names: MPICH, IBM's poe, SGI's MPI.
const DEFAULTS: [&str; 3] = ["libtvmpich.so", "libtvibmmpi.so", "libxmpi.so"];

/// The candidates for `target`, the preferred one first; see [`Search::candidates`].
pub fn candidates(target: &dyn Target, search: &Search<'_>) -> Vec<Candidate> {
    if let Some(path) = search.explicit {
        return vec![by_name(path, How::Explicit)];
    }
    let images = target.images().unwrap_or_default();
    let by_others = || search.others.and_then(|others| (others.named)(target));
    let named = named_plugin(target).map(|path| (path, BY_MPIR)).or_else(by_others);
    let mut found = search.candidates(&images, named.into_iter().collect(), &default_names(&images));
    // Plug-ins of all interfaces stand on `plugin-path`.
    let is_theirs = |path: &Path| search.others.is_some_and(|others| (others.is_theirs)(path));
    found.retain(|candidate| candidate.how != How::Setting || !is_theirs(&candidate.path));
    found
}

fn default_names(images: &[Image]) -> Vec<&'static str> {
    let begins = |prefixes: &[&str]| {
        images.iter().any(|image| prefixes.iter().any(|prefix| image.file_name().starts_with(prefix)))
    };
    if begins(&["libopen-pal", "libopen-rte", "libopal"]) {
        // The document's names belong to other MPIs.
        vec![OPEN_MPI]
    } else if begins(&["libmpich", "libmpicxx"]) {
        DEFAULTS.to_vec()
    } else {
        [OPEN_MPI].into_iter().chain(DEFAULTS).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    use target::TargetAbi;
    use target::address::TargetAddr;
    use target::mock::MockTarget;

    fn target(dll_name: Option<&[u8]>, library: &str) -> MockTarget {
        let mut target = MockTarget::new(TargetAbi::LITTLE_64);
        if let Some(name) = dll_name {
            target.add_segment(TargetAddr::new(0x1000), name.to_vec());
            target.add_symbol("MPIR_dll_name", TargetAddr::new(0x1000), Some(name.len() as u64));
        }
        target.add_image(Image {
            path: library.to_owned(),
            bias: TargetAddr::NULL,
            build_id: None,
            is_executable: false,
        });
        target
    }

    #[test]
    fn a_plugin_that_the_program_names_and_that_is_not_there_is_told() {
        let found = candidates(&target(Some(b"/opt/none/libompi_dbg_msgq.so\0"), "/x/libmpi.so"), &Search::default());
        assert_eq!(found.len(), 1);
        assert!(!found[0].usable() && found[0].how == BY_MPIR);
        let text = found[0].refusal.as_ref().map(ToString::to_string).unwrap_or_default();
        assert!(text.contains("no such file") && text.contains("MPIR_dll_name"), "{text}");
    }

    #[test]
    fn an_explicit_path_is_the_only_candidate() {
        let path = std::env::current_exe().unwrap_or_default();
        let search = Search { explicit: Some(&path), ..Search::default() };
        let found = candidates(&target(Some(b"/opt/none.so\0"), "/x/libmpi.so"), &search);
        assert_eq!(found.len(), 1);
        assert!(found[0].usable());
        let nothing = Path::new("/nonexistent/p.so");
        let search = Search { explicit: Some(nothing), ..Search::default() };
        assert!(!candidates(&target(None, "/x/libmpi.so"), &search)[0].usable());
    }

    /// A directory as an installation of Open MPI has it.
    struct Installed(PathBuf);

    impl Installed {
        fn new(name: &str) -> Self {
            let root = std::env::temp_dir().join(format!("mqs-discovery-{}-{name}", std::process::id()));
            let _ = std::fs::remove_dir_all(&root);
            std::fs::create_dir_all(root.join("openmpi3")).unwrap_or_default();
            std::fs::write(root.join("openmpi3").join(OPEN_MPI), b"x").unwrap_or_default();
            std::fs::write(root.join(DEFAULTS[0]), b"x").unwrap_or_default();
            Self(root)
        }
        fn library(&self) -> String {
            self.0.join("libmpi.so.40").display().to_string()
        }
    }

    impl Drop for Installed {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn default_names_are_looked_for_beside_the_library_and_not_trusted_there() {
        let place = Installed::new("beside");
        let found = candidates(&target(None, &place.library()), &Search::default());
        let names: Vec<_> = found.iter().filter_map(|found| found.path.file_name()).collect();
        assert_eq!(names, [DEFAULTS[0], OPEN_MPI], "the library's own directory comes first");
        assert!(found.iter().all(|found| found.exists && !found.trusted && found.how == How::DefaultName));
        let text = found[0].refusal.as_ref().map(ToString::to_string).unwrap_or_default();
        assert!(text.contains("mpi plugin load"), "{text}");
        let safe = [place.0.clone()];
        let search = Search { safe_path: &safe, ..Search::default() };
        assert!(candidates(&target(None, &place.library()), &search).iter().all(Candidate::usable));
    }

    #[test]
    fn a_bare_name_is_looked_for_beside_the_library_and_listed_once() {
        let place = Installed::new("bare");
        let found = candidates(&target(Some(b"libompi_dbg_msgq.so\0"), &place.library()), &Search::default());
        assert_eq!(found.iter().filter(|found| found.path.ends_with(OPEN_MPI)).count(), 1);
        assert_eq!(found[0].how, BY_MPIR);
    }

    #[test]
    fn the_setting_names_plugins_and_directories() {
        let place = Installed::new("setting");
        let set = [place.0.join("openmpi3"), place.0.join(DEFAULTS[0]), PathBuf::from("/nonexistent/p.so")];
        let search = Search { set_paths: &set, ..Search::default() };
        let found = candidates(&target(None, "/x/libmpi.so"), &search);
        let usable: Vec<bool> = found.iter().map(Candidate::usable).collect();
        assert_eq!(usable, [true, true, false]);
        assert!(found.iter().all(|found| found.how == How::Setting));
    }
}
