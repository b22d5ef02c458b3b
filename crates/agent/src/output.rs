//! Where a recording goes: to standard output, or to a file that appears under its name when it is whole, or not at all.
//!
//! Directories that everybody may write to, such as `/tmp`, hold links that others laid. So each part of the path is opened by
//! itself, and a link counts only where it is the user's own or root's.

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use model::time;
use native::status;
use recording::{RecordingFile, write_end, write_start};
use target::files::is_root;
use target::printable_path;

use super::failure::Failure;

/// As many links as the kernel follows.
const MAX_LINKS: usize = 40;

/// Writes a recording to standard output.
///
/// # Errors
/// Where that cannot be written to.
pub fn to_standard_output(parts: &[&[u8]]) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    write_recording(&mut out, parts)
}

fn write_recording(out: &mut dyn Write, parts: &[&[u8]]) -> io::Result<()> {
    let about = serde_json::json!({
        "tool": concat!("mpi-queues-agent ", env!("CARGO_PKG_VERSION")),
        "recorded_at": time::seconds(SystemTime::now()),
        "recorded_on": native::host().unwrap_or_default(),
    });
    write_start(out, &about.to_string())?;
    for part in parts {
        out.write_all(part)?;
    }
    write_end(out, parts.len() as u64)?;
    out.flush()
}

/// A file that is to be written.
pub struct Output {
    /// As the user has named it.
    named: PathBuf,
    /// Its directory, open.
    directory: File,
    name: PathBuf,
    /// What is there already.
    known: Option<Metadata>,
    /// What is written, under another name; `None`: it is whole.
    fresh: Option<(PathBuf, File)>,
}

impl Output {
    /// Makes the file, under another name.
    ///
    /// # Errors
    /// Where it cannot be written, or would replace what is no recording.
    pub fn new(path: &Path) -> Result<Self, Failure> {
        check_replaceable(path)?;
        Self::beside(path).map_err(|error| cannot(path, &error))
    }

    fn beside(path: &Path) -> io::Result<Self> {
        let (directory, name) = resolved(path)?;
        let at = |name: &Path| inside(&directory, name);
        let known = match fs::symlink_metadata(at(&name)) {
            Ok(known) if !known.is_file() => {
                return Err(io::Error::other("it is not a file (for a pipe, write to standard output: -o -)"));
            }
            Ok(known) => {
                // Whether it may be written to.
                OpenOptions::new().write(true).custom_flags(libc::O_NOFOLLOW).open(at(&name))?;
                Some(known)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let other = PathBuf::from(format!(".mpi-queues.{}.{}", std::process::id(), since.as_nanos()));
        // It tells what a process has in memory. One that was there keeps what others may do with it.
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(at(&other))?;
        Ok(Self { named: path.to_owned(), directory, name, known, fresh: Some((other, file)) })
    }

    /// Writes the recording, which then has its name.
    ///
    /// # Errors
    /// Where it cannot be written; what was there before is there still.
    pub fn write(mut self, parts: &[&[u8]]) -> Result<(), Failure> {
        self.finish(parts).map_err(|error| cannot(&self.named, &error))
    }

    fn finish(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        let Some((other, file)) = &self.fresh else { return Ok(()) };
        write_recording(&mut BufWriter::new(file), parts)?;
        if let Some(known) = &self.known {
            if is_root() {
                fchown(file, Some(known.uid()), Some(known.gid()))?;
            }
            file.set_permissions(Permissions::from_mode(known.mode() & 0o777))?;
        }
        fs::rename(inside(&self.directory, other), inside(&self.directory, &self.name))?;
        self.fresh = None;
        Ok(())
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if let Some((other, _)) = self.fresh.take() {
            let _ = fs::remove_file(inside(&self.directory, &other));
        }
    }
}

fn cannot(path: &Path, error: &io::Error) -> Failure {
    Failure::new(
        &format!("cannot write the recording {}: {error}", printable_path(path)),
        "name another place: -o FILE",
    )
}

/// A mistyped name must not cost somebody a file.
fn check_replaceable(path: &Path) -> Result<(), Failure> {
    let Ok(known) = fs::metadata(path) else { return Ok(()) };
    if !known.is_file() || known.len() == 0 {
        return Ok(());
    }
    let refused = |error| {
        let text = format!("{} exists and is not a recording; it was not changed: {error}", printable_path(path));
        Failure::new(&text, "name another place: -o FILE")
    };
    RecordingFile::open(path).map(drop).map_err(refused)
}

/// What has that name in an open directory.
fn inside(directory: &File, name: &Path) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd())).join(name)
}

/// The directory of a file, to which no link of somebody else leads, and its name there.
fn resolved(path: &Path) -> io::Result<(File, PathBuf)> {
    let absolute = std::path::absolute(path)?;
    // The parts that are still to be gone, the next one last.
    let mut parts: Vec<PathBuf> = names(&absolute);
    let mut directory = opened(Path::new("/"))?;
    let mut links = 0;
    while let Some(name) = parts.pop() {
        let place = inside(&directory, &name);
        let found = fs::symlink_metadata(&place);
        if let Ok(link) = &found
            && link.is_symlink()
        {
            links += 1;
            if links > MAX_LINKS {
                return Err(io::Error::from_raw_os_error(libc::ELOOP));
            }
            let me = status(std::process::id()).map_or(0, |own| own.user);
            if ![0, me].contains(&link.uid()) {
                let text = format!("{} in it is a link of another user (uid {})", printable_path(&name), link.uid());
                return Err(io::Error::other(text));
            }
            let to = fs::read_link(&place)?;
            if to.is_absolute() {
                directory = opened(Path::new("/"))?;
            }
            parts.extend(names(&to));
            continue;
        }
        if parts.is_empty() && name != Path::new("..") {
            return Ok((directory, name));
        }
        directory = opened(&place)?;
    }
    Err(io::Error::from_raw_os_error(libc::EISDIR))
}

/// The parts of a path, the last one first.
fn names(path: &Path) -> Vec<PathBuf> {
    let wanted = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::ParentDir);
    path.components().rev().filter(wanted).map(|part| PathBuf::from(part.as_os_str())).collect()
}

fn opened(place: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY | libc::O_NOFOLLOW).open(place)
}
