//! Files that others name: a process in its link map, debug information, a core file, somebody on a command line.
//!
//! Opening a FIFO waits for its writer, opening a device may do something, and what the kernel makes up (`/proc`,
//! `/sys`) may never end or may wait. So a file is looked at before it is opened (`O_PATH` has no effect on what it
//! names), and what is opened then is the very file that was looked at. Our own reading of `/proc/PID` does not go
//! through here.
//!
//! A file system may not answer: one of another machine, or of a program in user space. So what a target names is opened
//! by a process that can be left behind (`attendant`), and read by it where the file is not of this machine's own
//! file systems. One that did not answer is not asked again for a while (`silence`). What the person who looks has named
//! is waited for as long as it takes ([`open_named`]).
#![allow(unsafe_code)]

mod asking;
mod attendant;
mod mounts;
mod opening;
mod regular;
mod rights;
mod serving;
mod short_names;
mod silence;
mod wire;

use std::ffi::CString;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

pub use mounts::file_system_of;
use opening::Refusal;
pub use regular::{Contents, RegularFile};
pub use rights::is_root;
pub use short_names::ShortNames;
pub use silence::{Hurry, NoAnswer, answered_again, unanswered};

/// What a file is that is no regular one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Irregular {
    /// A named pipe, or one of this process.
    Fifo,
    /// A device.
    Device,
    /// A socket.
    Socket,
    /// A directory.
    Directory,
    /// A file whose contents the kernel makes up.
    Kernel,
    /// Anything else.
    Other,
}

impl Irregular {
    fn of(number: u64) -> Self {
        let all = [Self::Fifo, Self::Device, Self::Socket, Self::Directory, Self::Kernel];
        all.into_iter().find(|kind| *kind as u64 == number).unwrap_or(Self::Other)
    }
}

impl fmt::Display for Irregular {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::Fifo => "a FIFO",
            Self::Device => "a device",
            Self::Socket => "a socket",
            Self::Directory => "a directory",
            Self::Kernel => "a file that the kernel makes up",
            Self::Other => "no regular file",
        })
    }
}

/// Why a file is not opened.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The kernel refuses.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is no regular file.
    #[error("it is {0}, not a regular file")]
    Irregular(Irregular),
    /// Its size is above the limit.
    #[error("it has {size} bytes; the limit is {most}")]
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// The limit.
        most: u64,
    },
    /// Only others may read it than the user for whom it is wanted.
    #[error("the user {0} of the process may not read it")]
    Forbidden(u32),
    /// Its file system does not answer.
    #[error(transparent)]
    NoAnswer(#[from] NoAnswer),
}

impl FileError {
    /// Why, without the kernel's number.
    pub fn reason(&self) -> String {
        let text = self.to_string();
        match self {
            Self::Io(_) => text.rsplit_once(" (os error").map_or_else(|| text.clone(), |(text, _)| text.to_owned()),
            _ => text,
        }
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Io(error) => error,
            FileError::NoAnswer(error) => Self::new(io::ErrorKind::TimedOut, error),
            other => Self::other(other.to_string()),
        }
    }
}

impl From<Refusal> for FileError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Number(number) => Self::Io(io::Error::from_raw_os_error(number)),
            Refusal::Irregular(kind) => Self::Irregular(kind),
        }
    }
}

fn io_error(refusal: Refusal) -> io::Error {
    FileError::from(refusal).into()
}

/// For whom a file is read: root must not read for a process what the process itself could not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// The other groups.
    pub groups: Vec<u32>,
}

impl Reader {
    /// Whether it has less rights than this program: root runs this, for somebody else.
    pub fn takes_rights(&self) -> bool {
        self.uid != 0 && is_root()
    }
}

/// What a file is, as it was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct About {
    /// The number of its file system.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
    /// Its length in bytes.
    pub size: u64,
    /// When it was last written: seconds since 1970, and nanoseconds.
    pub modified: (i64, i64),
    /// Its kind and who may do what with it (`st_mode`).
    pub mode: u32,
    /// The user whose it is.
    pub owner: u32,
    /// The group whose it is.
    pub group: u32,
    /// Whether it is on this machine's own file systems.
    is_local: bool,
}

impl About {
    /// Whether it is a regular file.
    pub fn is_regular(&self) -> bool {
        self.mode & libc::S_IFMT == libc::S_IFREG
    }

    /// Whether it is a directory.
    pub fn is_directory(&self) -> bool {
        self.mode & libc::S_IFMT == libc::S_IFDIR
    }

    /// Whether both are one file.
    pub fn is_one(&self, other: &Self) -> bool {
        (self.device, self.inode) == (other.device, other.inode)
    }

    /// Whether two looks at a file saw the same contents, as far as the kernel tells.
    pub fn is_same(&self, other: &Self) -> bool {
        Identity::of(self) == Identity::of(other)
    }

    fn irregular(&self) -> Option<Irregular> {
        match self.mode & libc::S_IFMT {
            libc::S_IFREG => None,
            libc::S_IFIFO => Some(Irregular::Fifo),
            libc::S_IFCHR | libc::S_IFBLK => Some(Irregular::Device),
            libc::S_IFSOCK => Some(Irregular::Socket),
            libc::S_IFDIR => Some(Irregular::Directory),
            _ => Some(Irregular::Other),
        }
    }
}

/// What tells the contents of a file from those of others, as far as the kernel tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Identity {
    file: (u64, u64),
    size: u64,
    modified: (i64, i64),
}

impl Identity {
    /// That of a file as it was looked at.
    pub fn of(about: &About) -> Self {
        Self { file: (about.device, about.inode), size: about.size, modified: about.modified }
    }
}

/// Opens a regular file for reading, and nothing else; it waits for nobody for long.
///
/// # Errors
/// [`FileError`] where it is none, the kernel refuses, or its file system does not answer.
pub fn open_regular(path: &Path) -> Result<RegularFile, FileError> {
    asking::open(path, None)
}

/// Opens a regular file that `reader` may read. Who is not root has his own rights, and no more is asked. The kernel
/// decides, with directories and access lists.
///
/// # Errors
/// As [`open_regular`]; [`FileError::Forbidden`] where only others may.
pub fn open_regular_as(path: &Path, reader: &Reader) -> Result<RegularFile, FileError> {
    asking::open(path, Some(reader))
}

/// Opens a regular file that the person who looks has named: it is waited for as long as it takes.
///
/// # Errors
/// [`FileError`] where it is none, or the kernel refuses.
pub fn open_named(path: &Path) -> Result<RegularFile, FileError> {
    let path = CString::new(path.as_os_str().as_bytes()).map_err(io::Error::from)?;
    let (file, about) = opening::regular(&path)?;
    Ok(RegularFile::here(file, about))
}

/// The contents of a regular file of at most `most` bytes.
///
/// # Errors
/// As [`open_regular`], where it is larger, and where it cannot be read.
pub fn read_regular(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    let file = open_regular(path)?;
    let size = file.len();
    if size > most {
        return Err(FileError::TooLarge { size, most });
    }
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What a path leads to, whatever it is.
///
/// # Errors
/// Where the kernel refuses, or the file system does not answer.
pub fn about(path: &Path) -> Result<About, FileError> {
    asking::look(path)
}

/// Whether a path leads to a regular file; not where nobody answers.
pub fn is_regular(path: &Path) -> bool {
    about(path).is_ok_and(|about| about.is_regular())
}

/// The path of what a path leads to, without links.
///
/// # Errors
/// As [`about`].
pub fn real_path(path: &Path) -> Result<PathBuf, FileError> {
    asking::real(path)
}

/// What a path names where that is no regular file; `None` for a regular one, and where there is none.
pub fn irregular(path: &Path) -> Option<Irregular> {
    match open_regular(path) {
        Err(FileError::Irregular(kind)) => Some(kind),
        _ => None,
    }
}

/// A new file in a directory which has no name there and goes when it is closed.
///
/// # Errors
/// Where the kernel refuses.
pub fn without_name(directory: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).mode(0o600);
    match options.clone().custom_flags(libc::O_TMPFILE | libc::O_EXCL).open(directory) {
        // Not every file system can (open(2)).
        Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EISDIR | libc::ENOENT)) => {
            let path = directory.join(format!(".mpi-queues-{}-{:x}", std::process::id(), random()));
            let file = options.create_new(true).open(&path)?;
            std::fs::remove_file(&path)?;
            Ok(file)
        }
        other => other,
    }
}

/// A number that nobody else has.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}

/// How many bytes of a file's file system are free for this user, and how many it has in all.
///
/// # Errors
/// Where the kernel refuses.
pub fn space(file: &File) -> io::Result<(u64, u64)> {
    let mut about = std::mem::MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the descriptor is open, the structure is writable; zeros are a value of it.
    let about = unsafe {
        if libc::fstatvfs(file.as_raw_fd(), about.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        about.assume_init()
    };
    let bytes = |blocks: u64| blocks.saturating_mul(about.f_frsize);
    Ok((bytes(about.f_bavail), bytes(about.f_blocks)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use object::read::ReadRef;
    use std::os::unix::ffi::OsStrExt;
    use std::time::{Duration, Instant};

    use super::*;

    fn kind(path: &str) -> Option<Irregular> {
        match open_regular(Path::new(path)) {
            Err(FileError::Irregular(kind)) => Some(kind),
            _ => None,
        }
    }

    #[test]
    fn only_regular_files_are_opened() {
        assert!(open_regular(&std::env::current_exe().unwrap()).is_ok());
        // The link leads to a file of a disk.
        assert!(open_regular(Path::new("/proc/self/exe")).is_ok());
        assert_eq!(kind("/dev/null"), Some(Irregular::Device));
        assert_eq!(kind("/"), Some(Irregular::Directory));
        assert_eq!(kind("/proc/self/maps"), Some(Irregular::Kernel));
        assert_eq!(kind("/proc/self/mem"), Some(Irregular::Kernel));
        assert_eq!(kind("/sys/kernel/mm/transparent_hugepage/enabled"), {
            Path::new("/sys/kernel/mm/transparent_hugepage/enabled").exists().then_some(Irregular::Kernel)
        });
        assert!(matches!(open_regular(Path::new("/nowhere")), Err(FileError::Io(_))));
        assert_eq!(irregular(Path::new("/nowhere")), None);
    }

    #[test]
    fn a_way_through_the_kernels_links_leads_to_the_same() {
        // An attendant goes there: it is not known where such a link leads.
        let own = std::env::current_exe().unwrap();
        let other = Path::new("/proc/self/root").join(own.strip_prefix("/").unwrap());
        let attended = Path::new("/proc/thread-self/root").join(own.strip_prefix("/").unwrap());
        assert_eq!(about(&own).unwrap(), about(&attended).unwrap());
        assert_eq!(real_path(&own).unwrap(), real_path(&other).unwrap());
        let (one, two) = (open_regular(&own).unwrap(), open_regular(&attended).unwrap());
        let (mut first, mut second) = ([0; 512], [1; 512]);
        one.read_exact_at(&mut first, 64).unwrap();
        two.read_exact_at(&mut second, 64).unwrap();
        assert_eq!(first, second);
        assert!(matches!(about(Path::new("/proc/self/root/nowhere")), Err(FileError::Io(_))));
        assert_eq!(irregular(Path::new("/proc/self/root/dev/null")), Some(Irregular::Device));
        assert!(unanswered().is_empty() && answered_again() == 0);
    }

    #[test]
    fn threads_open_at_once() {
        let path = Path::new("/proc/self/root").join(std::env::current_exe().unwrap().strip_prefix("/").unwrap());
        let size = open_regular(&path).unwrap().len();
        std::thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| (0..20).for_each(|_| assert_eq!(open_regular(&path).unwrap().len(), size)));
            }
        });
    }

    #[test]
    fn a_fifo_is_not_waited_for() {
        let path = std::env::temp_dir().join(format!("mpi-queues-fifo-{}", std::process::id()));
        let name = std::ffi::CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: the name ends with a zero.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let link = path.with_extension("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        let started = Instant::now();
        assert_eq!(kind(path.to_str().unwrap()), Some(Irregular::Fifo));
        assert_eq!(irregular(&link), Some(Irregular::Fifo));
        assert!(started.elapsed() < Duration::from_secs(2));
        std::fs::remove_file(link).unwrap();
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn root_reads_for_a_process_what_its_user_may_read() {
        let path = std::env::temp_dir().join(format!("mpi-queues-private-{}", std::process::id()));
        std::fs::write(&path, "secret").unwrap();
        let allowed = |mode| {
            let rights = std::os::unix::fs::PermissionsExt::from_mode(mode);
            std::fs::set_permissions(&path, rights).unwrap();
            open_regular_as(&path, &Reader { uid: 65534, gid: 65534, groups: vec![65534] })
        };
        // SAFETY: geteuid takes nothing and cannot fail.
        if unsafe { libc::geteuid() } == 0 {
            assert!(matches!(allowed(0o600), Err(FileError::Forbidden(65534))));
        } else {
            assert!(allowed(0o600).is_ok(), "who is not root has his own rights");
        }
        assert!(allowed(0o644).is_ok());
        // What this thread may has not changed.
        assert!(allowed(0o000).is_err());
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
        assert!(open_regular(&path).is_ok());
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_file_without_a_name() {
        let directory = std::env::temp_dir().join(format!("mpi-queues-nameless-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let file = without_name(&directory).unwrap();
        assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
        let (free, all) = space(&file).unwrap();
        assert!(all > 0 && free <= all);
        std::fs::remove_dir(&directory).unwrap();
        assert!(without_name(&directory).is_err());
    }

    #[test]
    fn a_file_above_the_limit_is_not_read() {
        let path = std::env::temp_dir().join(format!("mpi-queues-sparse-{}", std::process::id()));
        File::create(&path).unwrap().set_len(1 << 40).unwrap();
        assert!(matches!(read_regular(&path, 1 << 20), Err(FileError::TooLarge { .. })));
        let pieces = &Contents::new(open_named(&path).unwrap());
        assert!(pieces.read_bytes_at(0, 1 << 39).is_err(), "half a terabyte would be allocated");
        assert!(pieces.read_bytes_at(0, 4096).is_ok());
        std::fs::remove_file(path).unwrap();
    }
}
