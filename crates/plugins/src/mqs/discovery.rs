//! Where the plug-in of a process may be.
//!
//! In this order: the one that the user named, the `plugin-path` setting, `MPIR_dll_name` of the target or what its
//! `MPI2DD_info` names, and the names that the document lists as defaults, beside the MPI library. A name from the target is only a suggestion;
//! see `trust`.

use std::path::PathBuf;

pub use crate::host::candidate::{Candidate, How, Search};
use crate::host::candidate::{by_name, by_rule, directories_beside, drop_doubles, existing};
use acquisition::{NamedBy, named_plugin};
use target::{Image, Target};

/// The name of Open MPI's plug-in.
const OPEN_MPI: &str = "libompi_dbg_msgq.so";
/// The document's default names: MPICH, IBM's poe, SGI's MPI.
const DEFAULTS: [&str; 3] = ["libtvmpich.so", "libtvibmmpi.so", "libxmpi.so"];

/// The candidates for `target`, the preferred one first. Files that only a default name stands for are left out
/// where they do not exist; files that somebody named are listed all the same.
pub fn candidates(target: &dyn Target, search: &Search<'_>) -> Vec<Candidate> {
    if let Some(path) = search.explicit {
        return vec![by_name(path, How::Explicit)];
    }
    let images = target.images().unwrap_or_default();
    let how = |by| match by {
        NamedBy::MpirDllName => How::MpirDllName,
        NamedBy::Mpi2ddInfo => How::Mpi2ddInfo,
    };
    let named = named_plugin(target).map(|(path, by)| (path, how(by)));
    let mut names: Vec<PathBuf> = Vec::new();
    if let Some(name) = named.as_ref().and_then(|(path, _)| path.file_name()) {
        names.push(PathBuf::from(name));
    }
    names.extend(default_names(&images).iter().map(PathBuf::from));
    let beside = directories_beside(&images);

    let mut found = Vec::new();
    for path in search.set_paths {
        if path.is_dir() {
            // The user named the directory, so it counts as safe; the files in it must still be nobody else's.
            let mut safe = search.safe_path.to_vec();
            safe.push(path.clone());
            found.extend(existing(std::slice::from_ref(path), &names).map(|path| by_rule(path, How::Setting, &safe)));
        } else {
            found.push(by_name(path, How::Setting));
        }
    }
    match &named {
        Some((path, how)) if path.is_absolute() => {
            found.push(by_rule(path.clone(), *how, search.safe_path));
        }
        Some((path, how)) => {
            // A bare name: the dynamic linker would search for it; we look beside the MPI library.
            let name = path.file_name().map(PathBuf::from).unwrap_or_default();
            found.extend(existing(&beside, &[name]).map(|path| by_rule(path, *how, search.safe_path)));
        }
        None => {}
    }
    found.extend(existing(&beside, &names).map(|path| by_rule(path, How::DefaultName, search.safe_path)));
    drop_doubles(&mut found);
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
    use std::path::Path;

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
    fn mpi2dd_info_names_a_plugin_for_each_width_and_mpir_goes_before_it() {
        let mut told = target(None, "/x/libmpi.so");
        let mut info = b"MPI2\x7f\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        info.extend([0x2100_u64, 0x2200].iter().flat_map(|address| address.to_le_bytes()));
        info.resize(128, 0);
        told.add_segment(TargetAddr::new(0x2000), info).add_symbol("MPI2DD_info", TargetAddr::new(0x2000), Some(128));
        told.add_segment(TargetAddr::new(0x2100), b"/a/32.so\0".to_vec());
        told.add_segment(TargetAddr::new(0x2200), b"/a/64.so\0".to_vec());
        let ours = if cfg!(target_pointer_width = "64") { "/a/64.so" } else { "/a/32.so" };
        let search = Search { explicit: None, set_paths: &[], safe_path: &[] };
        let found = candidates(&told, &search);
        assert_eq!((found[0].path.as_path(), found[0].how), (Path::new(ours), How::Mpi2ddInfo));
        assert!(!found[0].usable());
        told.add_segment(TargetAddr::new(0x1000), b"/a/mpir.so\0".to_vec());
        told.add_symbol("MPIR_dll_name", TargetAddr::new(0x1000), Some(11));
        let found = candidates(&told, &search);
        assert_eq!((found[0].path.as_path(), found[0].how), (Path::new("/a/mpir.so"), How::MpirDllName));
        assert!(found.iter().all(|one| one.how != How::Mpi2ddInfo));
    }

    #[test]
    fn a_plugin_that_the_program_names_and_that_is_not_there_is_told() {
        let found = candidates(&target(Some(b"/opt/none/libompi_dbg_msgq.so\0"), "/x/libmpi.so"), &Search::default());
        assert_eq!(found.len(), 1);
        assert!(!found[0].usable() && found[0].how == How::MpirDllName);
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
        assert_eq!(found[0].how, How::MpirDllName);
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
