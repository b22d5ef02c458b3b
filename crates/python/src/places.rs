//! Whose Python code it is, by the name of its file.

/// Whose code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The program's.
    Application,
    /// The standard library's, or of a package that was installed.
    Library,
    /// mpi4py's.
    Wrapper,
}

/// Where installed packages lie (site.py; Debian's have another name).
const PACKAGES: [&str; 2] = ["site-packages", "dist-packages"];

/// What of mpi4py is Python: files, and folders.
const MPI4PY: [&str; 6] = ["__init__.py", "__main__.py", "bench.py", "run.py", "futures", "util"];

/// Whether a file is that of what `python -m` runs modules with.
pub(crate) fn runs_modules(file: &str) -> bool {
    file == "<frozen runpy>" || file.ends_with("/runpy.py")
}

/// Whose code a file has.
pub(crate) fn of(file: &str) -> Place {
    // The interpreter's own: `<frozen importlib._bootstrap>`. Others in such brackets are made by programs.
    if file.starts_with("<frozen ") {
        return Place::Library;
    }
    let parts: Vec<&str> = file.split('/').collect();
    let pairs = || parts.iter().zip(parts.iter().skip(1));
    if pairs().any(|(folder, inside)| *folder == "mpi4py" && MPI4PY.contains(inside)) {
        return Place::Wrapper;
    }
    let installed = parts.iter().any(|part| PACKAGES.contains(part));
    let standard = pairs().any(|(folder, inside)| matches!(*folder, "lib" | "lib64") && is_standard(inside));
    if installed || standard { Place::Library } else { Place::Application }
}

/// Whether a folder of `lib` is that of the standard library: `python3.11`, `python3.13t`, `python311.zip`.
fn is_standard(name: &str) -> bool {
    let version = name.strip_prefix("python3").unwrap_or_default();
    !version.is_empty()
        && version.trim_end_matches(".zip").trim_end_matches('t').chars().all(|c| c.is_ascii_digit() || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_what_was_not_installed() {
        for file in
            ["/home/me/hang.py", "hang.py", "<string>", "<stdin>", "/work/lib/solver.py", "/work/mpi4py/hang.py"]
        {
            assert_eq!(of(file), Place::Application, "{file}");
        }
        for file in [
            "/usr/lib/python3.11/threading.py",
            "/opt/py/lib/python3.13t/asyncio/base_events.py",
            "/usr/lib64/python3.9/runpy.py",
            "/usr/lib/python311.zip/os.py",
            "<frozen runpy>",
            "/usr/lib/python3/dist-packages/numpy/core/numeric.py",
            "/home/me/.venv/lib/python3.11/site-packages/mpi4pyx/run.py",
        ] {
            assert_eq!(of(file), Place::Library, "{file}");
        }
        for file in ["/v/lib/python3.11/site-packages/mpi4py/run.py", "/opt/mpi4py/futures/_core.py"] {
            assert_eq!(of(file), Place::Wrapper, "{file}");
        }
    }
}
