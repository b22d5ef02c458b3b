//! Opens what a path names and looks at it, by system calls alone: an attendant does nothing else, and allocates nothing.

use std::ffi::CStr;
use std::io::{Cursor, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::{About, Irregular};

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

/// Those whose files lie on this machine, so that reading them waits for nobody else (the same header; those of xfs, zfs,
/// bcachefs and f2fs in their own).
const LOCAL: [u64; 15] = [
    0xef53,      // ext2, ext3, ext4
    0x5846_5342, // xfs
    0x9123_683e, // btrfs
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x794c_7630, // overlay
    0x7371_7368, // squashfs
    0xf2f5_2010, // f2fs
    0x2fc1_2fc1, // zfs
    0xca45_1a4e, // bcachefs
    0xe0f5_e1e2, // erofs
    0x9660,      // isofs
    0x4d44,      // msdos
    0x2011_bab0, // exfat
    0x9584_58f6, // hugetlbfs
];

/// Why something was not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The kernel's number of an error.
    Number(i32),
    /// It is no regular file.
    Irregular(Irregular),
}

/// A regular file, open for reading, and nothing else; where the file system answers it never waits for anybody.
pub(super) fn regular(path: &CStr) -> Result<(OwnedFd, About), Refusal> {
    regular_at(&open(path, libc::O_PATH)?)
}

/// What a path names, where the way there leaves the file system of the root nowhere: it is found without asking any other.
/// `None` where that is not so, or not known.
pub(super) fn on_root(path: &CStr) -> Option<Result<OwnedFd, Refusal>> {
    if path.to_bytes().first() != Some(&b'/') {
        return None;
    }
    // SAFETY: a structure of numbers, for which zeros are values; the path ends with a zero.
    let descriptor = unsafe {
        let mut how: libc::open_how = std::mem::zeroed();
        how.flags = (libc::O_PATH | libc::O_CLOEXEC) as u64;
        how.resolve = libc::RESOLVE_NO_XDEV | libc::RESOLVE_NO_MAGICLINKS;
        let how = &raw const how;
        libc::syscall(libc::SYS_openat2, libc::AT_FDCWD, path.as_ptr(), how, size_of::<libc::open_how>())
    };
    if descriptor < 0 {
        // It is left, also by a link of the kernel's own (ELOOP), or this kernel is of before 5.6.
        let definite = |refused: &Refusal| {
            matches!(refused, Refusal::Number(libc::ENOENT | libc::ENOTDIR | libc::EACCES | libc::ENAMETOOLONG))
        };
        return Some(refused()).filter(definite).map(Err);
    }
    // SAFETY: the kernel has just given it to us.
    i32::try_from(descriptor).ok().map(|descriptor| Ok(unsafe { OwnedFd::from_raw_fd(descriptor) }))
}

/// The regular file at a place that was found.
pub(super) fn regular_at(place: &OwnedFd) -> Result<(OwnedFd, About), Refusal> {
    check(place)?;
    // The very file that was looked at, whatever its name means by now. A file with a lease of somebody's is not waited
    // for (O_NONBLOCK, fcntl(2)).
    let file = with_link(place, |link| open(link, libc::O_RDONLY | libc::O_NONBLOCK | libc::O_NOCTTY))?;
    let about = check(&file)?;
    Ok((file, about))
}

/// What a path names, whatever it is.
pub(super) fn looked_at(path: &CStr) -> Result<About, Refusal> {
    about(&open(path, libc::O_PATH)?)
}

/// The path of what a path names, without links; how long it is.
pub(super) fn real(path: &CStr, into: &mut [u8]) -> Result<usize, Refusal> {
    real_at(&open(path, libc::O_PATH)?, into)
}

/// The path of a place that was found, without links.
pub(super) fn real_at(place: &OwnedFd, into: &mut [u8]) -> Result<usize, Refusal> {
    let length = with_link(place, |link| {
        // SAFETY: the link ends with a zero, and the kernel writes no more than there is room.
        Ok(unsafe { libc::readlink(link.as_ptr(), into.as_mut_ptr().cast(), into.len()) })
    })?;
    usize::try_from(length).map_err(|_| refused())
}

/// What an open descriptor leads to.
pub(super) fn about(file: &impl AsRawFd) -> Result<About, Refusal> {
    let mut found = std::mem::MaybeUninit::<libc::stat>::zeroed();
    // SAFETY: the descriptor is open, the structure is writable; zeros are a value of it.
    let found = unsafe {
        if libc::fstat(file.as_raw_fd(), found.as_mut_ptr()) != 0 {
            return Err(refused());
        }
        found.assume_init()
    };
    // The types of the members differ between machines.
    #[allow(clippy::unnecessary_cast)]
    Ok(About {
        device: found.st_dev as u64,
        inode: found.st_ino as u64,
        size: u64::try_from(found.st_size).unwrap_or(0),
        modified: (found.st_mtime as i64, found.st_mtime_nsec as i64),
        mode: found.st_mode as u32,
        owner: found.st_uid,
        group: found.st_gid,
        is_local: LOCAL.contains(&magic(file)?),
    })
}

/// The same, where that is a regular file.
pub(super) fn check(file: &impl AsRawFd) -> Result<About, Refusal> {
    let about = about(file)?;
    if KERNEL.contains(&magic(file)?) && about.is_regular() {
        return Err(Refusal::Irregular(Irregular::Kernel));
    }
    about.irregular().map_or(Ok(about), |kind| Err(Refusal::Irregular(kind)))
}

fn magic(file: &impl AsRawFd) -> Result<u64, Refusal> {
    let mut about = std::mem::MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the descriptor is open, the structure is writable; zeros are a value of it.
    let kind = unsafe {
        if libc::fstatfs(file.as_raw_fd(), about.as_mut_ptr()) != 0 {
            return Err(refused());
        }
        about.assume_init().f_type
    };
    // The type of the number differs between machines; its lower 32 bits are meant.
    #[allow(clippy::cast_sign_loss, clippy::unnecessary_cast)]
    Ok(kind as u64 & 0xffff_ffff)
}

/// The kernel's own link to what is open.
fn with_link<T>(place: &OwnedFd, follow: impl FnOnce(&CStr) -> Result<T, Refusal>) -> Result<T, Refusal> {
    let mut room = [0; 40];
    // A number is not too long, and zeros follow.
    let _ = write!(Cursor::new(&mut room[..]), "/proc/self/fd/{}", place.as_raw_fd());
    let link = CStr::from_bytes_until_nul(&room).map_err(|_| Refusal::Number(libc::EINVAL))?;
    follow(link)
}

fn open(path: &CStr, flags: i32) -> Result<OwnedFd, Refusal> {
    loop {
        // SAFETY: the path ends with a zero; no file is made, so there is no mode.
        let descriptor = unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) };
        if descriptor >= 0 {
            // SAFETY: the kernel has just given it to us.
            return Ok(unsafe { OwnedFd::from_raw_fd(descriptor) });
        }
        let refused = refused();
        if refused != Refusal::Number(libc::EINTR) {
            return Err(refused);
        }
    }
}

/// The kernel's last word to this thread.
pub(super) fn refused() -> Refusal {
    Refusal::Number(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
}
