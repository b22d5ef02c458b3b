//! How the files of MPI libraries are called: the one list of their names.

use super::Image;

/// The C library of an MPI, the one that has the structures first: Open MPI since 6.0, where `libmpi.so` has only the
/// functions of the standard (ompi/Makefile.am, branch v6.0.x); most; Debian's MPICH; the MPI-5 ABI; Cray.
const C_LIBRARIES: &[&str] = &["libopen_mpi.so", "libmpi.so", "libmpich.so", "libmpi_abi.so", "libmpi_cray.so"];

/// How the names of an MPI's libraries begin, the bindings of other languages and vendors' among them (`libmpi_cxx.so`,
/// `libmpi_ibm.so`, `libmpifort.so`).
const LIBRARIES: &[&str] = &["libmpi", "libopen_mpi", "libpmpi"];

/// How the names of their parts begin: Open MPI's layers and components.
const PARTS: &[&str] = &["libopen-", "libompi", "mca_", "libmca_"];

/// The handles of the ABI of MPI-5 are pointers.
const ABI: &str = "libmpi_abi.so";

/// The C library of the MPI among the images of a process.
pub fn c_library(images: &[Image]) -> Option<&Image> {
    C_LIBRARIES.iter().find_map(|name| images.iter().find(|image| is_version_of(image.file_name(), name)))
}

/// Whether a file name is that of an MPI's library.
pub fn is_mpi_library(name: &str) -> bool {
    name.contains(".so") && LIBRARIES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a file name is one under which MPI libraries and their parts are installed.
pub fn is_mpi_file_name(name: &str) -> bool {
    LIBRARIES.iter().chain(PARTS).any(|prefix| name.starts_with(prefix))
}

/// Whether a file name is that of a library with the ABI of MPI-5.
pub fn is_abi_library(name: &str) -> bool {
    is_version_of(name, ABI)
}

/// `libmpi.so` and `libmpi.so.40`, not `libmpi.sofa`.
fn is_version_of(name: &str, library: &str) -> bool {
    name.strip_prefix(library).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::TargetAddr;

    #[test]
    fn names_of_libraries() {
        for name in ["libmpi.so.40", "libmpich.so.12", "libmpi_cxx.so.40", "libmpifort.so", "libopen_mpi.so.80"] {
            assert!(is_mpi_library(name) && is_mpi_file_name(name), "{name}");
        }
        for name in ["libopen-pal.so.40", "mca_pml_ob1.so"] {
            assert!(!is_mpi_library(name) && is_mpi_file_name(name), "{name}");
        }
        for name in ["libm.so.6", "mpirun", "libmpg123.so", ""] {
            assert!(!is_mpi_library(name) && !is_mpi_file_name(name), "{name}");
        }
        assert!(
            is_abi_library("libmpi_abi.so.1") && !is_abi_library("libmpi_abi.sofa") && !is_abi_library("libmpi.so")
        );
    }

    #[test]
    fn the_library_with_the_structures_goes_first() {
        let image = |name: &str| Image {
            path: format!("/usr/lib/{name}"),
            bias: TargetAddr::NULL,
            build_id: None,
            is_executable: false,
        };
        let images = ["libmpi_cxx.so.40", "libmpi.so.80", "libopen_mpi.so.80"].map(image);
        assert_eq!(c_library(&images).map(Image::file_name), Some("libopen_mpi.so.80"));
        assert_eq!(c_library(&images[..1]), None);
    }
}
