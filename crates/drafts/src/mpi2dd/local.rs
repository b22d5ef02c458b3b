//! The processes of this machine, read through `/proc`.

use std::fs;
use std::net::IpAddr;
use std::path::Path;

use super::processes::{NotOpened, Opened, Processes};
use target::files::about;
use target::{LiveProcess, TargetError, printable, processes};

/// What the kernel adds to the path of an executable whose file is gone (proc(5), /proc/PID/exe).
const DELETED: &str = " (deleted)";

/// This machine.
pub struct LocalProcesses {
    names: Vec<String>,
    addresses: Vec<IpAddr>,
    /// Whose the job is; `None` where that does not count.
    user: Option<u32>,
}

impl LocalProcesses {
    /// Only processes of the user who started the process `pid`: what a job's tables name may be anybody's, and what
    /// somebody else's process says of itself is nothing to go by.
    #[must_use]
    pub fn of_the_user_of(self, pid: i32) -> Self {
        Self { user: users(pid).map(|[real, ..]| real), ..self }
    }

    /// This machine has these names and addresses; those that every machine has need not be among them.
    pub fn new(hosts: &[String]) -> Self {
        let (mut names, mut addresses) = (vec!["localhost".to_owned()], Vec::new());
        for host in hosts {
            match address(host) {
                Some(address) => addresses.push(address),
                None => names.push(name(host)),
            }
        }
        Self { names, addresses, user: None }
    }
}

impl Processes for LocalProcesses {
    fn is_here(&self, host: &str) -> bool {
        if let Some(address) = address(host) {
            return address.is_loopback() || self.addresses.contains(&address);
        }
        let asked = name(host);
        let (asked_label, asked_domain) = label(&asked);
        self.names.iter().any(|known| {
            let (known_label, known_domain) = label(known);
            // Launchers name the same host with its domain or without.
            asked_label == known_label
                && (asked_domain == known_domain || asked_domain.is_empty() || known_domain.is_empty())
        })
    }

    fn open(&self, pid: i32, named: Option<&str>) -> Result<Opened, NotOpened> {
        let process = u32::try_from(pid).ok().filter(|&pid| pid > 0).ok_or(NotOpened::Ended)?;
        let live = LiveProcess::open(process).map_err(|error| match error {
            TargetError::Gone => NotOpened::Ended,
            other => NotOpened::Failed(other.to_string()),
        })?;
        if let Some(user) = self.user
            && let Some(users) = users(pid)
            && let Some(other) = users.into_iter().find(|&one| one != user)
        {
            return Err(NotOpened::Failed(format!("it is left out: it is user {other}'s, and the job user {user}'s")));
        }
        let runs = live.executable();
        let runs = runs.strip_suffix(DELETED).unwrap_or(runs).to_owned();
        let agrees = named.is_none_or(|named| is_same_file(process, &runs, named));
        Ok(Opened { target: Box::new(live), executable: printable(runs.as_bytes()), agrees })
    }
}

/// The real, effective and saved user of a process (proc(5), `Uid`); `None` for one that is gone.
fn users(pid: i32) -> Option<[u32; 3]> {
    let status = fs::read(format!("/proc/{pid}/status")).ok()?;
    let status = String::from_utf8_lossy(&status);
    let mut words = status.lines().find_map(|line| line.strip_prefix("Uid:"))?.split_whitespace().map(str::parse);
    let mut next = || words.next()?.ok();
    Some([next()?, next()?, next()?])
}

/// Whether a table's name for an executable means the file that a process runs: the same path, the same file by another
/// path (a link), or the same name elsewhere (file systems are mounted in several places).
fn is_same_file(pid: u32, runs: &str, named: &str) -> bool {
    if Path::new(runs).file_name() == Path::new(named).file_name() {
        return true;
    }
    // As the process sees it, from its own working directory.
    let own = processes::place(pid);
    let seen = match named.strip_prefix('/') {
        Some(inside) => own.join("root").join(inside.trim_start_matches('/')),
        None => own.join("cwd").join(named),
    };
    match (about(&seen), about(&own.join("exe"))) {
        (Ok(one), Ok(other)) => one.is_one(&other),
        _ => false,
    }
}

/// An address in any notation, without its zone and without the brackets that some write around it.
fn address(host: &str) -> Option<IpAddr> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let host = host.split_once('%').map_or(host, |(address, _)| address);
    host.parse().ok().map(|address: IpAddr| address.to_canonical())
}

fn name(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

fn label(name: &str) -> (&str, &str) {
    name.split_once('.').unwrap_or((name, ""))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic, clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_host_is_this_one_by_any_of_its_names_and_addresses() {
        let hosts = ["Node1.cluster", "10.0.0.7", "fe80::1%eth0"].map(ToOwned::to_owned);
        let here = LocalProcesses::new(&hosts);
        for host in [
            "node1",
            "NODE1.cluster.",
            "localhost",
            "localhost.localdomain",
            "127.0.0.1",
            "127.0.1.1",
            "::1",
            "[::1]",
            "0:0:0:0:0:0:0:1",
            "10.0.0.7",
            "::ffff:10.0.0.7",
            "FE80:0:0::1",
        ] {
            assert!(here.is_here(host), "{host}");
        }
        for host in ["node1.other", "node11", "node", "10.0.0.8", "fe80::2", "", ".cluster", "10.0.0.7.8"] {
            assert!(!here.is_here(host), "{host}");
        }
    }

    #[test]
    fn numbers_that_are_no_process_ids_have_no_process() {
        let here = LocalProcesses::new(&[]);
        for pid in [0, -1, i32::MIN, i32::MAX] {
            assert_eq!(here.open(pid, None).err(), Some(NotOpened::Ended));
        }
    }

    #[test]
    fn what_is_another_users_is_not_opened() {
        let own = i32::try_from(std::process::id()).unwrap();
        let here = || LocalProcesses::new(&[]);
        assert!(here().of_the_user_of(own).open(own, None).is_ok());
        // Nobody has the last number: the kernel takes it for none.
        let other = LocalProcesses { user: Some(u32::MAX), ..here() };
        let NotOpened::Failed(reason) = other.open(own, None).err().unwrap() else { panic!("it counts as ended") };
        assert!(reason.contains("it is left out: it is user "), "{reason}");
        // Where the first is gone, nothing is asked of the others.
        assert_eq!(here().of_the_user_of(i32::MAX).user, None);
    }

    #[test]
    fn the_executable_counts_by_its_name_and_by_its_file() {
        let here = LocalProcesses::new(&[]);
        let own = i32::try_from(std::process::id()).unwrap();
        let runs = here.open(own, None).unwrap();
        assert!(runs.agrees);
        assert!(here.open(own, Some(&runs.executable)).unwrap().agrees);
        assert!(here.open(own, Some("/proc/self/exe")).is_ok_and(|opened| opened.agrees));
        assert!(!here.open(own, Some("/bin/sh")).unwrap().agrees);
        assert!(!here.open(own, Some("")).unwrap().agrees);
    }
}
