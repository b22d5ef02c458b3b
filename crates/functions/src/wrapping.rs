//! Functions of libraries that wrap MPI, by their names.

use super::waits::{WaitKind, wait_kind};

/// Namespaces, modules and classes of libraries that wrap MPI. Boost.MPI (boostorg/mpi, include/boost/mpi), MPL (rabauke/mpl,
/// mpl/mpl.hpp), KaMPIng (kamping-site/kamping, include/kamping), rsmpi (rsmpi/rsmpi, src/lib.rs: its crate is `mpi`).
const SCOPES: &[&str] = &[
    "boost::mpi",
    "mpl",
    "kamping",
    "mpi::collective",
    "mpi::environment",
    "mpi::point_to_point",
    "mpi::request",
    "mpi::topology",
];

/// Functions of them that try again and again until what they wait for has come, and how they wait (boostorg/mpi,
/// include/boost/mpi/nonblocking.hpp: they test each request in turn).
const WAITS: [(&str, WaitKind); 3] = [
    ("boost::mpi::wait_all", WaitKind::WaitAll),
    ("boost::mpi::wait_any", WaitKind::WaitAny),
    ("boost::mpi::wait_some", WaitKind::WaitAny),
];

/// Whether a function is of such a library.
pub fn is_wrapping(function: &str) -> bool {
    SCOPES.iter().any(|scope| is_inside(qualified(function), scope))
}

/// How a function of them waits; `None` for others.
pub fn wait_of(function: &str) -> Option<WaitKind> {
    WAITS.iter().find(|(name, _)| *name == function).map(|(_, kind)| *kind)
}

/// The function of them that waits on a stack (innermost first) whose thread is in no function of MPI or in one that only
/// looks: its place, and its name. The outermost function of MPI stands at `mpi`.
pub fn waits_around<'a>(
    functions: impl DoubleEndedIterator<Item = Option<&'a str>> + ExactSizeIterator,
    mpi: Option<(usize, &str)>,
) -> Option<(usize, &'static str)> {
    if mpi.is_some_and(|(_, c_name)| wait_kind(c_name) != WaitKind::Poll) {
        return None;
    }
    let inside = mpi.map_or(0, |(at, _)| at + 1);
    functions.enumerate().skip(inside).find_map(|(at, name)| {
        let name = name?;
        let plain = name.split_once('<').map_or(name, |(plain, _)| plain);
        Some((at, WAITS.iter().find(|(known, _)| *known == plain)?.0))
    })
}

/// A name that begins with a scope: `<mpi::topology::Process as mpi::point_to_point::Source>::receive` is Rust's.
pub fn qualified(function: &str) -> &str {
    function.trim_start_matches('<')
}

/// Whether a name has something in a scope.
pub fn is_inside(function: &str, scope: &str) -> bool {
    function.strip_prefix(scope).is_some_and(|rest| rest.starts_with("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(functions: &[&str], mpi: Option<(usize, &str)>) -> Option<(usize, &'static str)> {
        waits_around(functions.iter().map(|name| Some(*name)), mpi)
    }

    #[test]
    fn a_loop_that_tests_waits() {
        let name = "boost::mpi::wait_all";
        assert_eq!(around(&["begin", "boost::mpi::wait_all<int*>", "main"], None), Some((1, name)));
        let tests = ["MPI_Test", "boost::mpi::request::test", name, "main"];
        assert_eq!(around(&tests, Some((0, "MPI_Test"))), Some((2, name)));
        // What waits itself says more.
        assert_eq!(around(&["MPI_Waitall", name, "main"], Some((0, "MPI_Waitall"))), None);
        // A function that the program gave it stands further in.
        assert_eq!(around(&[name, "MPI_Test", "main"], Some((1, "MPI_Test"))), None);
        assert_eq!(around(&["boost::mpi::wait_all_of", "wait_all", ""], None), None);
        assert_eq!((wait_of(name), wait_of("wait_all")), (Some(WaitKind::WaitAll), None));
    }
}
