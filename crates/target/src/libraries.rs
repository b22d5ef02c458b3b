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

/// Our own flight recorder, which stands before an MPI: to a stack it is a part of that, but it is none.
const RECORDER: &str = "libmpi_queues_recorder.so";

/// How the names of what it exports of its own begin; all others are MPI's.
pub const RECORDER_SYMBOLS: &str = "mpi_queues_recorder_";

/// Our own library for debuggers, which a rank may have been started with (crate `mqs-library`): it is none either.
const FOR_DEBUGGERS: &str = "libmpi_queues_mqs.so";

/// The handles of the ABI of MPI-5 are pointers.
const ABI: &str = "libmpi_abi.so";

/// The C library of the MPI among the images of a process.
pub fn c_library(images: &[Image]) -> Option<&Image> {
    C_LIBRARIES.iter().find_map(|name| images.iter().find(|image| is_version_of(image.file_name(), name)))
}

/// Whether a file name is that of an MPI's library.
pub fn is_mpi_library(name: &str) -> bool {
    name.contains(".so")
        && !is_recorder(name)
        && name != FOR_DEBUGGERS
        && LIBRARIES.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a file name is that of our flight recorder.
pub fn is_recorder(name: &str) -> bool {
    name == RECORDER
}

/// Whether a file name is one under which MPI libraries and their parts are installed.
pub fn is_mpi_file_name(name: &str) -> bool {
    LIBRARIES.iter().chain(PARTS).any(|prefix| name.starts_with(prefix))
}

/// The same of the last component of a path.
pub fn is_mpi_file(path: &str) -> bool {
    is_mpi_file_name(path.rsplit('/').next().unwrap_or(path))
}

/// Directories of a system's own libraries.
const SYSTEM: &[&str] = &["/lib/", "/lib32/", "/lib64/", "/libx32/"];

/// Libraries of languages, threads and networks wherever they lie: a user may have built them. A name that ends in `*` is a
/// beginning.
const RUNTIMES: &[&str] = &[
    "libc",
    "libm",
    "libdl",
    "librt",
    "libpthread",
    "libutil",
    "libresolv",
    "libgcc_s",
    "libstdc++",
    "libc++",
    "libc++abi",
    "libgfortran",
    "libquadmath",
    "libgomp",
    "libiomp5",
    "libomp",
    "libirc",
    "libimf",
    "libsvml",
    "libintlc",
    "libasan",
    "libtsan",
    "libubsan",
    "liblsan",
    "libpmix",
    "libprrte",
    "libucp",
    "libucs",
    "libuct",
    "libucm",
    "libfabric",
    "libpsm",
    "libpsm2",
    "libopx",
    "libcxi",
    "libxpmem",
    "libsharp*",
    "libhcoll",
    "libmlx*",
    "libefa",
    "libgdrapi",
    "libnuma",
    "libnl-*",
    "libmunge",
    "libslurm*",
    "libpals",
    "libibverbs",
    "librdmacm",
    "libhwloc",
    "libevent*",
    "libcuda*",
    "libnvidia-*",
    "libnccl",
    "librccl",
    "libamdhip64",
    "libhsa-runtime64",
    "libze_*",
    "libOpenCL",
    "ld-*",
    "linux-vdso",
    "linux-gate",
];

/// What stands for the file of the kernel's own page of code.
pub const VDSO: &str = "[vdso]";

/// Whether code of the file `path` is the application's: of the executable, or of a library that is none of the system, of a
/// language or of an MPI.
pub fn is_application(path: &str, executable: &str) -> bool {
    if path == executable {
        return true;
    }
    let below_usr = path.strip_prefix("/usr").unwrap_or(path);
    if path == VDSO || SYSTEM.iter().any(|directory| below_usr.starts_with(directory)) {
        return false;
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    !is_library(name) || !(is_mpi_file_name(name) || is_runtime(name))
}

/// Whether a file name has the ending of a library, with or without a version.
fn is_library(name: &str) -> bool {
    [".so", ".a"].iter().any(|ending| {
        name.match_indices(ending).any(|(at, _)| {
            let next = name[at + ending.len()..].chars().next();
            !next.is_some_and(|next| next.is_alphanumeric() || next == '_')
        })
    })
}

fn is_runtime(name: &str) -> bool {
    RUNTIMES.iter().any(|known| match known.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        // `libc.so.6`, `libc-2.31.so`
        None => name.strip_prefix(known).is_some_and(|rest| rest.starts_with(['.', '-'])),
    })
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
            assert!(
                is_mpi_file(name) && is_mpi_file(&format!("/opt/lib/{name}")) && !is_mpi_file(&format!("{name}/a"))
            );
        }
        for name in ["libm.so.6", "mpirun", "libmpg123.so", ""] {
            assert!(!is_mpi_library(name) && !is_mpi_file_name(name), "{name}");
        }
        let recorder = "libmpi_queues_recorder.so";
        assert!(is_recorder(recorder) && !is_mpi_library(recorder) && is_mpi_file_name(recorder));
        assert!(!is_mpi_library("libmpi_queues_mqs.so"));
        assert!(
            is_abi_library("libmpi_abi.so.1") && !is_abi_library("libmpi_abi.sofa") && !is_abi_library("libmpi.so")
        );
    }

    #[test]
    fn code_of_the_application() {
        for path in
            ["/home/me/libsolver.so", "/home/me/libcomm.so.1", "/home/me/a.out", "/opt/app/libmesh-1.2.so", "/p", ""]
        {
            assert!(is_application(path, "/p"), "{path}");
        }
        for path in [
            "/usr/lib/x86_64-linux-gnu/libhdf5.so.103",
            "/lib64/libanything.so",
            "/opt/openmpi/lib/libmpi.so.40.30.4",
            "/opt/openmpi/lib/openmpi/mca_pml_ob1.so",
            "/opt/openmpi/lib/libopen-pal.so.40",
            "/opt/gcc/lib64/libgomp.so.1.0.0",
            "/opt/glibc/libc-2.31.so",
            "/opt/glibc/ld-linux-x86-64.so.2",
            "/site-packages/libucp-6d2b9b0a.so.0.0.0",
            "[vdso]",
        ] {
            assert!(!is_application(path, "/p"), "{path}");
        }
        // A program may be called as it likes, and lie where it likes.
        assert!(is_application("/usr/lib/solver", "/usr/lib/solver") && is_application("/home/me/libc", "/p"));
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
