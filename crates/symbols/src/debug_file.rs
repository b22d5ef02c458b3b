//! The separate debug file of a file, where its debug information was stripped.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use target::file_budget::FileBudget;
use target::files::real_path;

use super::object_file::How;
use super::{DebugPlaces, ObjectFile, Section};

/// `.gnu_debugdata` becomes at most so many bytes, and unpacking it takes so many KiB of memory besides.
const MAX_EMBEDDED: u64 = 64 << 20;
const MAX_UNPACKING: u32 = 128 << 10;

/// So many bytes are unpacked in the time of one step of a budget.
const BYTES_A_STEP: usize = 2;

const EMBEDDED: &str = ".gnu_debugdata";

/// The name of a debug file is not longer.
const MAX_NAME: usize = 4096;

pub(crate) struct Separate {
    pub(crate) file: Arc<ObjectFile>,
    pub(crate) how: How,
}

/// Looks in gdb's order: by build-id, by name, and last by asking for it.
pub(crate) fn find(of: &ObjectFile) -> Option<Separate> {
    let places = of.places();
    let found = |file, how| Some(Separate { file: Arc::new(file), how });
    let known = of.build_id().into_iter().flat_map(|build_id| places.by_build_id(build_id));
    for path in known {
        if let Some(file) = fitting(&path, of, places) {
            return found(file, How::BuildId);
        }
    }
    if let Some(file) = linked(of, places) {
        return found(file, How::DebugLink);
    }
    let path = asked(of.build_id()?, places.ask?)?;
    found(fitting(&path, of, places)?, How::Debuginfod)
}

/// The file, where it has the same build-id, and debug information.
fn fitting(path: &Path, of: &ObjectFile, places: &DebugPlaces) -> Option<ObjectFile> {
    let file = ObjectFile::opened(path, places, of.budget().clone(), true).ok()?;
    (file.build_id() == of.build_id()).then_some(file)
}

fn linked(of: &ObjectFile, places: &DebugPlaces) -> Option<ObjectFile> {
    let (name, checksum) = of.debug_link()?;
    // It is the name of a file, nothing else.
    if name.is_empty() || name.len() > MAX_NAME || name.contains(&b'/') || name == b".." {
        return None;
    }
    places.by_name(of.path(), OsStr::from_bytes(name)).iter().find_map(|path| {
        let file = fitting(path, of, places)?;
        (file.source().checksum(of.budget())? == checksum).then_some(file)
    })
}

/// What `debuginfod-find` finds, where the user has told it whom to ask.
fn asked(build_id: &str, most: Duration) -> Option<PathBuf> {
    std::env::var_os("DEBUGINFOD_URLS").filter(|urls| !urls.is_empty())?;
    let mut command = Command::new("debuginfod-find");
    command.args(["debuginfo", build_id]);
    path_told(command, most)
}

/// The path that a program prints within that time.
fn path_told(mut command: Command, most: Duration) -> Option<PathBuf> {
    let end = Instant::now() + most;
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let success = ended(&mut child, end);
    if success != Some(true) {
        // It may have ended in the meantime.
        let _ = child.kill();
        let _ = child.wait();
        return None;
    }
    let mut told = Vec::new();
    child.stdout?.take(MAX_NAME as u64).read_to_end(&mut told).ok()?;
    let told = told.split(|byte| *byte == b'\n').next()?;
    (!told.is_empty()).then(|| PathBuf::from(OsStr::from_bytes(told)))
}

fn ended(child: &mut Child, end: Instant) -> Option<bool> {
    while Instant::now() < end {
        if let Some(status) = child.try_wait().ok()? {
            return Some(status.success());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}

/// The file in `.gnu_debugdata`: symbols that are not in the dynamic table.
pub(crate) fn embedded(of: &ObjectFile) -> Option<ObjectFile> {
    let (packed, _) = of.section(EMBEDDED)?;
    let bytes = unpacked(&packed, of.budget())?;
    ObjectFile::in_memory(of.path().to_path_buf(), bytes, of.budget().clone(), true).ok()
}

fn unpacked(packed: &Section, budget: &FileBudget) -> Option<Vec<u8>> {
    let _unpacking = budget.claimed(EMBEDDED, u64::from(MAX_UNPACKING) << 10).ok()?;
    let mut reader = lzma_rust2::XzReader::new_mem_limit(packed.bytes(), true, MAX_UNPACKING);
    let mut bytes = Vec::new();
    let mut piece = [0; 1 << 14];
    loop {
        let length = reader.read(&mut piece).ok()?;
        if length == 0 {
            return Some(bytes);
        }
        // They are kept as long as the file is; a vector that grows has twice as many for a moment.
        budget.claim(EMBEDDED, 2 * length as u64).ok()?;
        budget.steps(EMBEDDED, (length / BYTES_A_STEP) as u64).ok()?;
        bytes.extend_from_slice(piece.get(..length)?);
        budget.entries(EMBEDDED, "bytes when it is unpacked", bytes.len() as u64, MAX_EMBEDDED).ok()?;
    }
}

/// The file that dwz moved debug information to.
pub(crate) fn supplement(of: &ObjectFile) -> Option<ObjectFile> {
    let (name, build_id) = of.supplement()?;
    if name.is_empty() || name.len() > MAX_NAME {
        return None;
    }
    let places = of.places();
    let told = Path::new(OsStr::from_bytes(name));
    let mut paths = Vec::new();
    match told.strip_prefix("/") {
        Ok(inside) => paths.extend(places.roots.iter().map(|root| root.join(inside))),
        Err(_) => {
            let real = real_path(of.path()).ok();
            let own = [Some(of.path().to_path_buf()), real].into_iter().flatten();
            paths.extend(own.filter_map(|path| Some(path.parent()?.join(told))));
        }
    }
    paths.extend(places.by_build_id(build_id));
    paths.iter().find_map(|path| {
        let file = ObjectFile::opened(path, places, of.budget().clone(), true).ok()?;
        (file.build_id() == Some(build_id)).then_some(file)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_takes_too_long_is_not_waited_for() {
        let started = Instant::now();
        let mut slow = Command::new("sleep");
        slow.arg("60");
        assert_eq!(path_told(slow, Duration::from_millis(100)), None);
        assert!(started.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn the_path_that_is_told_is_taken() {
        let mut command = Command::new("printf");
        command.arg("/a/b c\nother\n");
        assert_eq!(path_told(command, Duration::from_secs(60)), Some(PathBuf::from("/a/b c")));
        assert_eq!(path_told(Command::new("false"), Duration::from_secs(60)), None);
        assert_eq!(path_told(Command::new("true"), Duration::from_secs(60)), None);
        assert_eq!(path_told(Command::new("/nowhere/debuginfod-find"), Duration::from_secs(60)), None);
    }
}
