//! Code that wraps MPI for the application: what a person has to look at is the call of the wrapper.

use functions::wrapping::{is_inside, is_wrapping, qualified};
use model::{Frame, Stack};

/// Files of libraries that wrap MPI: Boost.MPI's, and OpenCoarrays' (sourceryinstitute/OpenCoarrays, src/CMakeLists.txt), which gfortran's
/// coarrays call.
const LIBRARIES: &[&str] = &["libboost_mpi", "libcaf_mpi"];

/// A directory of a package for Python, all of whose compiled modules wrap MPI (mpi4py/mpi4py, `src/mpi4py`).
const PYTHON_PACKAGE: &str = "mpi4py";

/// So many names of the user's are looked at.
const MOST: usize = 256;

/// What wraps MPI, besides what is known here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wrappers {
    names: Vec<String>,
}

impl Wrappers {
    /// Also code by these names of the user's: files (`libhalo.so`, `libhalo` with any version), or functions by their
    /// beginning (`halo::`, the namespace; `comm_*`, all that begin so).
    pub fn named(names: impl IntoIterator<Item = String>) -> Self {
        Self { names: names.into_iter().filter(|name| !name.is_empty()).take(MOST).collect() }
    }

    /// Marks the frames of a stack: they are no longer the application's.
    pub fn mark(&self, stack: &mut Stack) {
        // What the standard library of C++ or Rust has in between, such as the call of a function object, is theirs.
        let mut within = false;
        for frame in stack.frames.iter_mut().rev() {
            let own = self.is_wrapper(frame);
            within = own || (within && is_standard(frame));
            if within {
                frame.wrapper = true;
                frame.application = frame.application.map(|_| false);
            }
        }
    }

    fn is_wrapper(&self, frame: &Frame) -> bool {
        let path = frame.image.as_deref().unwrap_or_default();
        let file = path.rsplit('/').next().unwrap_or_default();
        let function = frame.function.as_deref().map(qualified).unwrap_or_default();
        frame.wrapper
            || is_wrapping(function)
            || LIBRARIES.iter().any(|name| is_file(file, name))
            || path.split('/').rev().skip(1).any(|directory| directory == PYTHON_PACKAGE)
            || self.names.iter().any(|name| is_called(file, function, name))
    }
}

/// Whether a file is that library, of whatever version.
fn is_file(file: &str, library: &str) -> bool {
    !library.is_empty()
        && file.strip_prefix(library).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '-']))
}

fn is_called(file: &str, function: &str, name: &str) -> bool {
    match name.strip_suffix('*') {
        Some("") => false,
        Some(beginning) => file.starts_with(beginning) || function.starts_with(beginning),
        None => {
            let scope = name.trim_end_matches(':');
            is_file(file, name) || function == scope || (!scope.is_empty() && is_inside(function, scope))
        }
    }
}

fn is_standard(frame: &Frame) -> bool {
    let function = frame.function.as_deref().map(qualified).unwrap_or_default();
    ["std", "core", "alloc", "boost", "__gnu_cxx"].iter().any(|scope| is_inside(function, scope))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(frames: &[(&str, &str)], names: &[&str]) -> Vec<bool> {
        let frame = |(function, image): &(&str, &str)| Frame {
            function: Some((*function).to_owned()),
            image: Some((*image).to_owned()),
            application: Some(true),
            ..Frame::default()
        };
        let mut stack = Stack { frames: frames.iter().map(frame).collect(), ..Stack::default() };
        Wrappers::named(names.iter().map(|name| (*name).to_owned())).mark(&mut stack);
        assert!(stack.frames.iter().all(|frame| frame.wrapper != (frame.application == Some(true))));
        stack.frames.iter().map(|frame| frame.wrapper).collect()
    }

    #[test]
    fn known_libraries() {
        let stack = [
            ("std::vector<int>::size", "/p"),
            ("boost::mpi::communicator::recv<int>", "/p"),
            ("std::__invoke_impl<void, boost::mpi::communicator>", "/p"),
            ("boost::mpi::broadcast<std::vector<int, std::allocator<int> > >", "/p"),
            ("std::function<void (int)>::operator()", "/p"),
            ("exchange", "/p"),
            ("std::__invoke_impl<void>", "/p"),
            ("main", "/p"),
        ];
        assert_eq!(marked(&stack, &[]), [true, true, true, true, false, false, false, false]);
        assert_eq!(marked(&[("mplus::f", "/p"), ("mpl", "/p"), ("boost::mpish::f", "/p")], &[]), [false; 3]);
        assert_eq!(marked(&[("<mpi::topology::Process as mpi::point_to_point::Source>::receive", "/p")], &[]), [true]);
        assert_eq!(
            marked(&[("f", "/usr/lib/libboost_mpi.so.1.74.0"), ("g", "/lib/libboost_mpix.so")], &[]),
            [true, false]
        );
        let python =
            [("__pyx_f", "/site-packages/mpi4py/MPI.mpich.so"), ("f", "/home/mpi4py"), ("f", "/mpi4py-app/f.so")];
        assert_eq!(marked(&python, &[]), [true, false, false]);
    }

    #[test]
    fn what_the_user_names() {
        let stack = [("halo::exchange<2>", "/p"), ("comm_wait_all", "/p"), ("f", "/home/libhalo.so.3"), ("main", "/p")];
        assert_eq!(marked(&stack, &["halo"]), [true, false, false, false]);
        assert_eq!(marked(&stack, &["halo::", "libhalo"]), [true, false, true, false]);
        assert_eq!(marked(&stack, &["libhalo.so"]), [false, false, true, false]);
        assert_eq!(marked(&stack, &["comm_*"]), [false, true, false, false]);
        assert_eq!(marked(&stack, &["comm_wait_all"]), [false, true, false, false]);
        // Nothing, everything and half a name are no names.
        assert_eq!(marked(&stack, &["", "*", "::", "hal", "com", "lib"]), [false; 4]);
    }

    #[test]
    fn names_may_be_anything() {
        for name in ["", " ", ">>>", "<<<", "((", "a b c", "ü ü", "operator<", "std::", "::", "\u{1}\u{2028} "] {
            marked(&[(name, name)], &[name]);
        }
    }
}
