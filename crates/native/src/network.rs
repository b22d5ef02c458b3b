//! What goes over the network of processes while they run on, as the kernel counts it.
//!
//! An MPI that counts no messages and sends them over TCP leaves nothing in shared memory where they move. Of TCP the kernel tells
//! the bytes of each connection by sock_diag(7); the structures are those of Linux, include/uapi/linux/inet_diag.h and tcp.h. What
//! a process does with others than those that are looked at need be none of MPI's: that tells only that something may have moved.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use super::connections::{inodes, text};
use super::netlink;
use target::{Reason, processes};

/// More open files than these are not gone through.
const MAX_FILES: usize = 1 << 16;

/// Devices of networks that processes use without the kernel, by what their names begin with: those of verbs (InfiniBand, RoCE, EFA),
/// Omni-Path, its predecessor, Slingshot, Aries, BXI.
const DEVICES: [&str; 6] = ["/dev/infiniband/", "/dev/hfi1", "/dev/ipath", "/dev/cxi", "/dev/kgni", "/dev/bxi"];

/// Bytes that were sent and acknowledged, and that have arrived.
type Counts = (u64, u64);

/// What processes have sent and received until now.
#[derive(Debug, Default)]
pub struct Network {
    by_pid: HashMap<u32, OfProcess>,
}

#[derive(Debug, Default)]
struct OfProcess {
    /// By the socket's inode: connections among these processes, and those with others.
    among: HashMap<u64, Counts>,
    others: HashMap<u64, Counts>,
    /// Something of it is not counted: a device, a datagram, a network that is not ours.
    is_dark: bool,
}

/// The files of a process that messages may go through.
#[derive(Debug, Default)]
pub struct Files {
    /// Inodes of sockets.
    pub sockets: HashSet<u64>,
    /// Whether there is a device of a network.
    pub device: bool,
}

impl Files {
    /// Those of a live process (proc(5), `/proc/PID/fd`).
    ///
    /// # Errors
    /// A sentence, where it may not be looked into or has too many.
    pub fn of(pid: u32) -> Result<Self, Reason> {
        let place = processes::place(pid).join("fd");
        let files = fs::read_dir(&place)
            .map_err(|error| Reason::new(format!("cannot look into {}: {error}", place.display())))?;
        let mut found = Self::default();
        for (number, file) in files.enumerate() {
            if number >= MAX_FILES {
                return Err(Reason::new(format!("the process has more than {MAX_FILES} open files")));
            }
            // A file may be closed meanwhile.
            let link = file.and_then(|file| fs::read_link(file.path())).ok();
            let Some(link) = link.as_deref().and_then(Path::to_str) else { continue };
            found.sockets.extend(socket(link));
            found.device |= is_network(link);
        }
        Ok(found)
    }
}

fn is_network(link: &str) -> bool {
    DEVICES.iter().any(|device| link.starts_with(device))
}

/// The inode in `socket:[4711]`.
fn socket(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// The sockets of datagrams in this network; `None` where the kernel does not tell them.
fn datagrams() -> Option<HashSet<u64>> {
    ["udp", "udp6"].into_iter().try_fold(HashSet::new(), |mut all, table| {
        all.extend(inodes(&text(Path::new(&format!("/proc/self/net/{table}"))).ok()?));
        Some(all)
    })
}

impl Network {
    /// That of some processes now.
    pub fn of(pids: &[u32]) -> Self {
        let ours = fs::read_link("/proc/self/ns/net").ok();
        let files: Vec<(u32, Option<Files>)> = pids.iter().map(|pid| (*pid, Files::of(*pid).ok())).collect();
        let mut owners: HashMap<u64, u32> = HashMap::new();
        for (pid, files) in &files {
            owners.extend(files.iter().flat_map(|files| &files.sockets).map(|inode| (*inode, *pid)));
        }
        let known = if owners.is_empty() { Some(Vec::new()) } else { netlink::connections() };
        let datagrams = if owners.is_empty() { Some(HashSet::new()) } else { datagrams() };
        let is_told = known.is_some() && datagrams.is_some();
        let (connections, datagrams) = (known.unwrap_or_default(), datagrams.unwrap_or_default());
        let by_ends: HashMap<_, u32> =
            connections.iter().filter_map(|one| Some((one.ends, *owners.get(&one.inode)?))).collect();
        let mut all = Self::default();
        for (pid, files) in files {
            let mut one = OfProcess::default();
            let own = fs::read_link(processes::place(pid).join("ns/net")).ok();
            let elsewhere = own.is_none() || own != ours;
            one.is_dark = match &files {
                Some(Files { sockets, device }) => {
                    *device || !sockets.is_disjoint(&datagrams) || (!sockets.is_empty() && (elsewhere || !is_told))
                }
                None => true,
            };
            all.by_pid.insert(pid, one);
        }
        for connection in &connections {
            let Some(pid) = owners.get(&connection.inode) else { continue };
            let other = by_ends.get(&connection.ends.other_way()).filter(|other| *other != pid);
            if let Some(one) = all.by_pid.get_mut(pid) {
                let list = if other.is_some() { &mut one.among } else { &mut one.others };
                one.is_dark |= connection.counts.is_none();
                list.insert(connection.inode, connection.counts.unwrap_or_default());
            }
        }
        all
    }

    /// Those through whose connections with one another something went since then.
    pub fn moving(&self, before: &Self) -> impl Iterator<Item = u32> {
        let changed = |one: &OfProcess, then: &OfProcess| {
            one.among.iter().any(|(inode, counts)| then.among.get(inode).is_some_and(|then| then != counts))
        };
        self.by_pid
            .iter()
            .filter(move |(pid, one)| before.by_pid.get(pid).is_some_and(|then| changed(one, then)))
            .map(|(pid, _)| *pid)
    }

    /// Those of which messages may have gone since then that nobody counts.
    pub fn unseen(&self, before: &Self) -> impl Iterator<Item = u32> {
        let nothing = OfProcess { is_dark: true, ..OfProcess::default() };
        let unseen = move |pid: &u32, one: &OfProcess| {
            let then = before.by_pid.get(pid).unwrap_or(&nothing);
            one.is_dark || then.is_dark || one.others != then.others
        };
        self.by_pid.iter().filter(move |(pid, one)| unseen(pid, one)).map(|(pid, _)| *pid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_of_networks_are_known_by_their_names() {
        for link in ["/dev/infiniband/uverbs0", "/dev/hfi1_0", "/dev/cxi3", "/dev/kgni0"] {
            assert!(is_network(link), "{link}");
        }
        for link in ["/dev/null", "/dev/shm/cxi0", "socket:[4711]", "/home/me/dev/infiniband/uverbs0"] {
            assert!(!is_network(link), "{link}");
        }
        assert_eq!((socket("socket:[4711]"), socket("pipe:[4711]"), socket("socket:[-1]")), (Some(4711), None, None));
    }

    #[test]
    fn of_processes_that_are_gone_everything_may_have_moved() {
        let (before, now) = (Network::of(&[u32::MAX]), Network::of(&[u32::MAX]));
        assert_eq!((now.moving(&before).count(), now.unseen(&before).collect::<Vec<_>>()), (0, vec![u32::MAX]));
        // Who was not looked at before has nothing to compare.
        assert_eq!(now.unseen(&Network::default()).count(), 1);
    }
}
