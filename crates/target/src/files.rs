//! Files that others name: a process in its link map, debug information, a core file, somebody on a command line.
//!
//! Opening a FIFO waits for its writer, opening a device may do something, and what the kernel makes up (`/proc`,
//! `/sys`) may never end or may wait. So a file is looked at before it is opened (`O_PATH` has no effect on what it
//! names), and what is opened then is the very file that was looked at. Our own reading of `/proc/PID` does not go
//! through here.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::fmt;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use object::read::{ReadCache, ReadRef};

pub use crate::short_names::ShortNames;

/// One piece of a file that is larger is not read at once: a sparse file costs nothing and may claim anything.
const MAX_PIECE: u64 = 96 << 20;
/// Nor are more bytes than this read of one file for its tables: symbols of 24 bytes each.
const MAX_READ: u64 = 128 << 20;

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
            other => Self::other(other.to_string()),
        }
    }
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

/// Magic numbers of file systems whose files the kernel makes up (Linux, include/uapi/linux/magic.h; those of
/// configfs, fusectl and mqueue in their own sources).
const KERNEL: [u64; 21] = [
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0xcafe_4a11, // bpf
    0x6165_676c, // pstore
    0xde5e_81e4, // efivarfs
    0x6265_6570, // configfs
    0xf97c_ff8c, // selinuxfs
    0x4341_5d53, // smackfs
    0x4249_4e4d, // binfmt_misc
    0x1cd1,      // devpts
    0x6e73_6673, // nsfs
    0x0765_5821, // resctrl
    0x6573_5543, // fusectl
    0x1980_0202, // mqueue
    0x5346_4d47, // gfs2meta
    0x0904_1934, // anonymous inodes
];

/// Opens a regular file for reading, and nothing else; it never waits for anybody.
///
/// # Errors
/// [`FileError`] where it is none, or the kernel refuses.
pub fn open_regular(path: &Path) -> Result<File, FileError> {
    let place = place_of(path)?;
    check(&place)?;
    // The very file that was looked at, whatever its name means by now. A file with a lease of somebody's is not waited
    // for (O_NONBLOCK, fcntl(2)).
    let link = format!("/proc/self/fd/{}", place.as_raw_fd());
    let file = open(Path::new(&link), libc::O_NONBLOCK | libc::O_NOCTTY)?;
    check(&file)?;
    Ok(file)
}

/// The same, of at most `most` bytes.
///
/// # Errors
/// As [`open_regular`], and where it is larger.
pub fn open_regular_up_to(path: &Path, most: u64) -> Result<File, FileError> {
    let file = open_regular(path)?;
    let size = file.metadata()?.len();
    if size > most { Err(FileError::TooLarge { size, most }) } else { Ok(file) }
}

/// The contents of a regular file of at most `most` bytes.
///
/// # Errors
/// As [`open_regular_up_to`], and where it cannot be read.
pub fn read_regular(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    // It may grow while it is read.
    open_regular_up_to(path, most)?.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether this program runs as root.
pub fn is_root() -> bool {
    // SAFETY: geteuid takes nothing and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// Opens a regular file that `reader` may read. Who is not root has his own rights, and no more is asked.
///
/// # Errors
/// As [`open_regular`]; [`FileError::Forbidden`] where only others may.
pub fn open_regular_as(path: &Path, reader: &Reader) -> Result<File, FileError> {
    if reader.uid == 0 || !is_root() {
        return open_regular(path);
    }
    // The kernel decides, with directories and access lists: rights to files belong to a thread (setfsuid(2)), and this
    // one ends with them.
    std::thread::scope(|scope| {
        let opening = std::thread::Builder::new().spawn_scoped(scope, || {
            become_reader(reader).map_err(|_| FileError::Forbidden(reader.uid))?;
            open_regular(path).map_err(|error| match error {
                FileError::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    FileError::Forbidden(reader.uid)
                }
                other => other,
            })
        })?;
        opening.join().unwrap_or(Err(FileError::Forbidden(reader.uid)))
    })
}

/// Gives this thread the reader's rights to files.
fn become_reader(reader: &Reader) -> io::Result<()> {
    // SAFETY: the system calls themselves change the calling thread alone, unlike setgroups of the C library; the list
    // is as long as is said.
    let (groups, user) = unsafe {
        let groups = libc::syscall(libc::SYS_setgroups, reader.groups.len(), reader.groups.as_ptr());
        libc::syscall(libc::SYS_setfsgid, reader.gid);
        libc::syscall(libc::SYS_setfsuid, reader.uid);
        // It tells what was before, never whether it was done.
        let group = libc::syscall(libc::SYS_setfsgid, u32::MAX);
        let user = libc::syscall(libc::SYS_setfsuid, u32::MAX);
        (groups == 0 && group == i64::from(reader.gid), user == i64::from(reader.uid))
    };
    if groups && user { Ok(()) } else { Err(io::Error::from(io::ErrorKind::PermissionDenied)) }
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

/// What a path names where that is no regular file; `None` for a regular one, and where there is none.
pub fn irregular(path: &Path) -> Option<Irregular> {
    match place_of(path).map_err(FileError::from).and_then(|place| check(&place)) {
        Err(FileError::Irregular(kind)) => Some(kind),
        _ => None,
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
    pub fn of(about: &Metadata) -> Self {
        Self { file: (about.dev(), about.ino()), size: about.len(), modified: (about.mtime(), about.mtime_nsec()) }
    }
}

/// Whether two looks at a file saw the same contents, as far as the kernel tells.
pub fn same(before: &Metadata, now: &Metadata) -> bool {
    Identity::of(before) == Identity::of(now)
}

fn place_of(path: &Path) -> io::Result<File> {
    open(path, libc::O_PATH)
}

/// For reading, with these flags besides; no program that is started inherits it (the standard library's O_CLOEXEC).
fn open(path: &Path, flags: i32) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

fn check(file: &File) -> Result<(), FileError> {
    let kind = file.metadata()?.file_type();
    let irregular = if kind.is_file() {
        is_kernels(file)?.then_some(Irregular::Kernel)
    } else if kind.is_fifo() {
        Some(Irregular::Fifo)
    } else if kind.is_char_device() || kind.is_block_device() {
        Some(Irregular::Device)
    } else if kind.is_socket() {
        Some(Irregular::Socket)
    } else if kind.is_dir() {
        Some(Irregular::Directory)
    } else {
        Some(Irregular::Other)
    };
    irregular.map_or(Ok(()), |kind| Err(FileError::Irregular(kind)))
}

fn is_kernels(file: &File) -> io::Result<bool> {
    let mut about = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the descriptor is open, the structure is writable; zeros are a value of it.
    let kind = unsafe {
        if libc::fstatfs(file.as_raw_fd(), about.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        about.assume_init().f_type
    };
    // The type of the number differs between machines; its lower 32 bits are meant.
    #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast)]
    let magic = kind as u64 & 0xffff_ffff;
    Ok(KERNEL.contains(&magic))
}

/// The bytes of a file for a parser of ELF files, which reads pieces as long as the file says: none is too long, nor
/// are all together.
pub struct Contents {
    cache: ReadCache<File>,
    read: Cell<u64>,
}

impl Contents {
    /// Those of an open file.
    pub fn new(file: File) -> Self {
        Self { cache: ReadCache::new(file), read: Cell::new(0) }
    }
}

impl<'a> ReadRef<'a> for &'a Contents {
    fn len(self) -> Result<u64, ()> {
        self.cache.len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        let read = self.read.get().saturating_add(size);
        if size > MAX_PIECE || read > MAX_READ {
            return Err(());
        }
        self.read.set(read);
        self.cache.read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: std::ops::Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        self.cache.read_bytes_at_until(range, delimiter)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
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
        let pieces = &Contents::new(open_regular(&path).unwrap());
        assert!(pieces.read_bytes_at(0, 1 << 39).is_err(), "half a terabyte would be allocated");
        assert!(pieces.read_bytes_at(0, 4096).is_ok());
        std::fs::remove_file(path).unwrap();
    }
}
