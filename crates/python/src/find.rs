//! Where the interpreter is, and of which release.

use model::Stack;
use target::address::TargetAddr;
use target::{Image, Target};

use crate::error::PythonError;
use crate::layout::Layout;
use crate::offsets::{self, COOKIE};

/// How the C function that runs Python's code is called, since 3.6. Compilers add to it what stands after a dot.
const EVAL: &str = "_PyEval_EvalFrameDefault";

/// The interpreter of a process.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub runtime: TargetAddr,
    pub layout: Layout,
    /// The file that it is in.
    pub image: Option<String>,
}

/// Whether a function is the one that runs Python's code.
pub(crate) fn is_eval(function: Option<&str>) -> bool {
    let rest = function.and_then(|name| name.strip_prefix(EVAL));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The interpreter of a process; `None` where it has none.
pub(crate) fn find(target: &dyn Target, stacks: &[Stack]) -> Result<Option<Found>, PythonError> {
    let frames = || stacks.iter().flat_map(|stack| &stack.frames);
    let running = frames().any(|frame| is_eval(frame.function.as_deref()));
    let images = target.images()?;
    // No symbol is looked for in a process that has nothing of Python.
    if !running && !images.iter().any(|image| has_python(image.file_name())) {
        return Ok(None);
    }
    let Some(symbol) = target.symbol("_PyRuntime")? else { return Ok(None) };
    if target.abi().pointer_width.bytes() != 8 {
        return Err(PythonError::Width);
    }
    let runtime = symbol.addr;
    let image = image_of(&images, runtime).map(|image| image.path.clone());
    let layout = layout(target, runtime, &images)?;
    Ok(Some(Found { runtime, layout, image }))
}

fn layout(target: &dyn Target, runtime: TargetAddr, images: &[Image]) -> Result<Layout, PythonError> {
    let mut cookie = [0; 8];
    target.read(runtime, &mut cookie)?;
    if cookie == *COOKIE {
        let (major, minor) = release(target.read_uint(runtime.wrapping_add(8), 8)?);
        return if major == 3 {
            offsets::described(target, runtime, minor)
        } else {
            Err(PythonError::Release { major, minor })
        };
    }
    // Py_Version is there since 3.11.
    let told = match target.symbol("Py_Version")? {
        Some(version) => Some(release(target.read_uint(version.addr, 4)?)),
        None => named_release(images).map(|minor| (3, minor)),
    };
    let (major, minor) = told.ok_or(PythonError::NoRelease)?;
    let known = if major == 3 { Layout::of_release(minor) } else { None };
    known.ok_or(PythonError::Release { major, minor })
}

/// Major and minor version in a PY_VERSION_HEX (Include/patchlevel.h).
fn release(version: u64) -> (u64, u64) {
    ((version >> 24) & 0xff, (version >> 16) & 0xff)
}

/// The minor version that the names of files tell: the library's, the program's, and only then those of extensions.
fn named_release(images: &[Image]) -> Option<u64> {
    let after = |name: &str, word: &str| -> Option<u64> {
        let (_, rest) = name.split_once(word)?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).take(4).collect();
        digits.parse().ok()
    };
    ["libpython3.", "python3.", ".cpython-3"].iter().find_map(|word| {
        let mut told = images.iter().filter_map(|image| after(image.file_name(), word));
        let first = told.next()?;
        told.all(|other| other == first).then_some(first)
    })
}

/// Whether a file's name is that of an interpreter, of its library or of an extension.
fn has_python(name: &str) -> bool {
    name.starts_with("python")
        || name.starts_with("libpython")
        || name.contains(".cpython-3")
        || name.contains(".abi3.so")
}

/// The image in which an address lies: the last that begins before it.
fn image_of(images: &[Image], address: TargetAddr) -> Option<&Image> {
    images.iter().filter(|image| image.bias <= address).max_by_key(|image| image.bias)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Option<u64> {
        let image = |name: &&str| Image {
            path: format!("/usr/{name}"),
            bias: TargetAddr::NULL,
            build_id: None,
            is_executable: false,
        };
        named_release(&names.iter().map(image).collect::<Vec<_>>())
    }

    #[test]
    fn files_tell_the_release() {
        assert_eq!(named(&["bin/python3", "lib/libpython3.9.so.1.0", "MPI.cpython-39-x86_64-linux-gnu.so"]), Some(9));
        assert_eq!(named(&["bin/python3.10"]), Some(10));
        assert_eq!(named(&["bin/python3", "MPI.cpython-38-x86_64-linux-gnu.so"]), Some(8));
        assert_eq!(named(&["a.cpython-38.so", "b.cpython-310.so"]), None);
        assert_eq!(named(&["bin/python3", "libpython3.so"]), None);
        assert_eq!(named(&["libpython3.99999999999999999999999.so"]), Some(9999));
    }

    #[test]
    fn compilers_split_the_function() {
        let is = |name: &str| is_eval(Some(name));
        assert!(is("_PyEval_EvalFrameDefault") && is("_PyEval_EvalFrameDefault.cold"));
        assert!(!is("_PyEval_EvalFrame") && !is("_PyEval_EvalFrameDefaults") && !is_eval(None));
    }
}
