//! Whose rights to files a thread has.

use std::io;

/// Whether this program runs as root.
pub fn is_root() -> bool {
    // SAFETY: geteuid takes nothing and cannot fail.
    unsafe { libc::geteuid() == 0 }
}

/// What this process has, to have it again.
pub(super) struct Own {
    uid: u32,
    gid: u32,
    groups: Vec<u32>,
}

impl Own {
    pub(super) fn new() -> Self {
        // SAFETY: the first three take nothing and cannot fail; the list is as long as is said.
        unsafe {
            let count = libc::getgroups(0, std::ptr::null_mut());
            let mut groups = vec![0; usize::try_from(count).unwrap_or(0)];
            let got = libc::getgroups(count, groups.as_mut_ptr());
            groups.truncate(usize::try_from(got).unwrap_or(0));
            Self { uid: libc::geteuid(), gid: libc::getegid(), groups }
        }
    }

    /// Has its own rights again; false where it has not. Nothing is allocated.
    pub(super) fn have(&self) -> bool {
        let groups = self.groups.as_ptr().cast();
        // The user first: only root may set groups.
        user(self.uid) && lists(self.gid, groups, self.groups.len())
    }
}

/// Has somebody's rights to files, and no more; `groups` is the list of his groups as the kernel has it. Nothing is
/// allocated.
///
/// # Errors
/// Where that is not possible.
pub(super) fn become_reader(uid: u32, gid: u32, groups: &[u8]) -> io::Result<()> {
    let done = lists(gid, groups.as_ptr(), groups.len() / size_of::<u32>()) && user(uid);
    if done { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::EACCES)) }
}

fn lists(gid: u32, groups: *const u8, count: usize) -> bool {
    // SAFETY: the system calls themselves change the calling thread alone, unlike setgroups of the C library; the list is
    // as long as is said, and the kernel copies it from any address.
    unsafe {
        let done = libc::syscall(libc::SYS_setgroups, count, groups) == 0;
        libc::syscall(libc::SYS_setfsgid, gid);
        // It tells what was before, never whether it was done.
        done && libc::syscall(libc::SYS_setfsgid, u32::MAX) == i64::from(gid)
    }
}

fn user(uid: u32) -> bool {
    // SAFETY: as above.
    unsafe {
        libc::syscall(libc::SYS_setfsuid, uid);
        libc::syscall(libc::SYS_setfsuid, u32::MAX) == i64::from(uid)
    }
}
