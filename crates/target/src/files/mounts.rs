//! Which file system a path leads to that does not answer. Nothing is asked of any file system but this machine's own.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use crate::{printable, printable_path};

/// The kernel follows no more links either (MAXSYMLINKS).
const MOST_LINKS: usize = 40;
/// A longer list of what is mounted is cut, in bytes.
const MAX_TABLE: u64 = 16 << 20;

/// Those that ask nobody else, by the names that the kernel has for them.
const LOCAL: [&str; 46] = [
    "bcachefs",
    "bpf",
    "binfmt_misc",
    "btrfs",
    "cgroup",
    "cgroup2",
    "configfs",
    "cramfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "erofs",
    "exfat",
    "ext2",
    "ext3",
    "ext4",
    "f2fs",
    "fusectl",
    "hugetlbfs",
    "iso9660",
    "jfs",
    "mqueue",
    "minix",
    "msdos",
    "nilfs2",
    "nsfs",
    "ntfs",
    "ntfs3",
    "overlay",
    "proc",
    "pstore",
    "ramfs",
    "reiserfs",
    "rootfs",
    "securityfs",
    "selinuxfs",
    "squashfs",
    "sysfs",
    "tmpfs",
    "tracefs",
    "udf",
    "ufs",
    "vfat",
    "xfs",
    "zfs",
];

/// What does not answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    /// A file system, by the kernel's number of it, which is the same in every container.
    Device(String),
    /// Somebody below a directory: this machine's own file systems answer, but for one that lies on another.
    Directory(PathBuf),
}

/// Where a path leads.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) key: Key,
    /// The file system, for people.
    pub(super) name: String,
    /// The path behind links, as far as it can be told.
    pub(super) path: PathBuf,
}

#[derive(Debug, Clone)]
struct Mount {
    device: String,
    point: PathBuf,
    kind: String,
}

impl Mount {
    fn is_local(&self) -> bool {
        LOCAL.contains(&self.kind.as_str())
    }
}

impl fmt::Display for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the file system at {} ({})", printable_path(&self.point), printable(self.kind.as_bytes()))
    }
}

/// The first file system on the way of a path that is not this machine's own; its directory where there is none.
pub(super) fn place_of(path: &Path) -> Place {
    let mut walk = Walk::new(path);
    match walk.foreign() {
        Some(mount) => Place { name: mount.to_string(), key: Key::Device(mount.device), path: walk.path() },
        None => {
            let directory = path.parent().unwrap_or(path).to_owned();
            let name = format!("the file system of {}", printable_path(&directory));
            Place { key: Key::Directory(directory), name, path: path.to_owned() }
        }
    }
}

/// The file to which a path leads, as whoever has it sees it, and the file system that has it, for people. The path may be one of the
/// kernel's links into what a process sees (`/proc/PID/fd/3`, `/proc/PID/root/…`).
pub fn file_system_of(path: &Path) -> Option<(PathBuf, String)> {
    let mut walk = Walk::new(path);
    let foreign = walk.foreign();
    let path = walk.path();
    let mount = foreign.or_else(|| walk.mount_of(&path).cloned())?;
    Some((path, mount.to_string()))
}

/// A way from directory to directory.
struct Walk {
    mounts: Vec<Mount>,
    /// Where the root lies of whoever sees the path so: that of a process, or ours.
    base: PathBuf,
    /// How far it has come, as it is seen there.
    at: PathBuf,
    rest: VecDeque<OsString>,
}

impl Walk {
    fn new(path: &Path) -> Self {
        let mounts = table(Path::new("/proc/self/mountinfo"));
        let mut walk = Self { mounts, base: PathBuf::from("/"), at: PathBuf::from("/"), rest: VecDeque::new() };
        if path.is_relative()
            && let Ok(here) = std::env::current_dir()
        {
            walk.lead(&here);
        }
        walk.rest.extend(names(path));
        walk
    }

    /// Goes on by another path before what is left.
    fn lead(&mut self, path: &Path) {
        for name in names(path).collect::<Vec<_>>().into_iter().rev() {
            self.rest.push_front(name);
        }
    }

    fn foreign(&mut self) -> Option<Mount> {
        let mut links = 0;
        while let Some(name) = self.rest.pop_front() {
            if name == ".." {
                self.at.pop();
                continue;
            }
            let next = self.at.join(&name);
            if let Some(mount) = self.mount_of(&next).filter(|mount| !mount.is_local()) {
                let mount = mount.clone();
                self.at = next;
                return Some(mount);
            }
            if self.enters(&next) {
                continue;
            }
            match fs::read_link(self.real(&next)) {
                Ok(to) => {
                    links += 1;
                    if links > MOST_LINKS {
                        return None;
                    }
                    if to.is_absolute() {
                        self.at = PathBuf::from("/");
                    }
                    self.lead(&to);
                }
                Err(_) => self.at = next,
            }
        }
        None
    }

    /// Where it has come, and what is left of the way.
    fn path(&self) -> PathBuf {
        self.at.iter().chain(self.rest.iter().map(OsString::as_os_str)).collect()
    }

    fn real(&self, path: &Path) -> PathBuf {
        self.base.join(path.strip_prefix("/").unwrap_or(path))
    }

    /// Whether this is a link of the kernel's into what a process sees, which has file systems of its own. It is followed.
    fn enters(&mut self, next: &Path) -> bool {
        let mut words = next.strip_prefix("/proc").unwrap_or(Path::new("")).iter();
        let mut word = || words.next().unwrap_or_default();
        let pid = word().as_bytes();
        let is_pid = matches!(pid, b"self") || (!pid.is_empty() && pid.iter().all(u8::is_ascii_digit));
        if self.base != Path::new("/") || !is_pid {
            return false;
        }
        let process = Path::new("/proc").join(OsStr::from_bytes(pid));
        let to = match (word().as_bytes(), word()) {
            (b"root", _) => PathBuf::from("/"),
            (b"cwd" | b"exe", _) => told(next),
            (b"map_files" | b"fd", file) if !file.is_empty() => told(next),
            _ => return false,
        };
        self.mounts = table(&process.join("mountinfo"));
        self.base = process.join("root");
        self.at = PathBuf::from("/");
        self.lead(&to);
        true
    }

    /// The last of those that are mounted deepest.
    fn mount_of(&self, path: &Path) -> Option<&Mount> {
        let above = self.mounts.iter().filter(|mount| path.starts_with(&mount.point));
        above.max_by_key(|mount| mount.point.as_os_str().len())
    }
}

/// The path that the kernel tells of a link of its own.
fn told(link: &Path) -> PathBuf {
    let path = fs::read_link(link).unwrap_or_default();
    let plain =
        path.as_os_str().as_bytes().strip_suffix(b" (deleted)").map(|plain| PathBuf::from(OsStr::from_bytes(plain)));
    plain.unwrap_or(path)
}

fn names(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|one| match one {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    })
}

/// What is mounted, as the kernel tells (proc(5), `/proc/pid/mountinfo`); it asks no file system.
fn table(path: &Path) -> Vec<Mount> {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(MAX_TABLE).read_to_end(&mut bytes));
    if read.is_ok() { bytes.split(|byte| *byte == b'\n').filter_map(mount).collect() } else { Vec::new() }
}

fn mount(line: &[u8]) -> Option<Mount> {
    let mut words = line.split(|byte| *byte == b' ');
    let device = words.nth(2)?;
    let point = words.nth(1)?;
    let kind = words.skip_while(|word| *word != b"-").nth(1)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(Mount { device: text(device), point: unescaped(point), kind: text(kind) })
}

/// A path with the characters that the kernel writes as three octal digits (blanks; mangle in fs/proc_namespace.c).
fn unescaped(name: &[u8]) -> PathBuf {
    let mut plain = Vec::with_capacity(name.len());
    let mut rest = name;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        let (byte, left) = match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => (byte, &after[3..]),
            None => (*first, after),
        };
        plain.push(byte);
        rest = left;
    }
    PathBuf::from(OsString::from_vec(plain))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"22 1 254:1 / / rw - ext4 /dev/vda1 rw\n\
        23 22 0:5 / /proc rw - proc proc rw\n\
        40 22 0:39 / /mnt/a\\040b rw,relatime shared:3 - fuse.sshfs host: rw\n\
        41 22 0:40 / /tmp rw - tmpfs tmp rw\n\
        damaged\n";

    fn walk(path: &str) -> Walk {
        let mut walk = Walk::new(Path::new(path));
        walk.mounts = TABLE.split(|byte| *byte == b'\n').filter_map(mount).collect();
        walk
    }

    #[test]
    fn the_first_that_is_not_local_is_found() {
        let found = walk("/mnt/a b/src/a.c").foreign().unwrap();
        assert_eq!((found.device.as_str(), found.kind.as_str()), ("0:39", "fuse.sshfs"));
        assert!(walk("/mnt/a").foreign().is_none() && walk("/mnt/a b/../x").foreign().is_some());
    }

    #[test]
    fn links_are_followed_and_what_a_process_sees() {
        let directory = std::env::temp_dir().join(format!("mpi-queues-links-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let link = directory.join("link");
        std::os::unix::fs::symlink("/mnt/a b", &link).unwrap();
        let mut through = walk(link.join("x.c").to_str().unwrap());
        assert_eq!(through.foreign().unwrap().device, "0:39");
        assert_eq!((through.at, through.rest.len()), (PathBuf::from("/mnt/a b"), 1));
        let endless = directory.join("endless");
        std::os::unix::fs::symlink(&endless, &endless).unwrap();
        assert!(walk(endless.to_str().unwrap()).foreign().is_none());
        let own = place_of(&PathBuf::from(format!("/proc/{}/root{}", std::process::id(), link.display())));
        assert!(matches!(own.key, Key::Directory(_)), "{own:?}");
        fs::remove_dir_all(directory).unwrap();
    }
}
