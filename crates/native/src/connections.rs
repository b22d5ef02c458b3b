//! What the kernel holds for the TCP connections of a live process: of its sockets (`/proc/PID/fd`, proc(5)) what the tables of its
//! network say (`/proc/PID/net/tcp` and `tcp6`: Documentation/networking/proc_net_tcp.rst of Linux).

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::network::Files;
use model::TcpConnections;
use target::{Reason, processes};

/// Longer tables (32 MiB, some 200,000 connections) are not gone through.
const MAX_TABLE: u64 = 32 << 20;

/// Connections that may still receive: established, and those whose other side has closed (include/net/tcp_states.h).
const OPEN: [&str; 2] = ["01", "08"];

/// Tables, by the network that they are of: the processes of a job mostly have one, and the kernel takes its time for each.
#[derive(Debug, Default)]
pub struct Tables(RefCell<HashMap<(PathBuf, &'static str), Rc<str>>>);

impl Tables {
    /// That of a process's network.
    fn of(&self, pid: u32, name: &'static str) -> Result<Rc<str>, Reason> {
        let network = fs::read_link(processes::place(pid).join("ns/net")).ok().map(|network| (network, name));
        if let Some(known) = network.as_ref().and_then(|network| self.0.borrow().get(network).cloned()) {
            return Ok(known);
        }
        let read: Rc<str> = text(&processes::place(pid).join("net").join(name))?.into();
        if let Some(network) = network {
            self.0.borrow_mut().insert(network, Rc::clone(&read));
        }
        Ok(read)
    }

    /// Time has passed.
    pub fn forget(&self) {
        self.0.borrow_mut().clear();
    }
}

/// What the kernel holds for the connections of a process.
pub fn connections(pid: u32, tables: &Tables) -> TcpConnections {
    let found = Files::of(pid).and_then(|Files { sockets, .. }| {
        let mut found = Counted::default();
        if !sockets.is_empty() {
            for table in ["tcp", "tcp6"] {
                found.add(&tables.of(pid, table)?, &sockets);
            }
        }
        Ok(found)
    });
    match found {
        Ok(found) => TcpConnections {
            open: Some(found.open),
            unread_bytes: Some(found.unread),
            unacknowledged_bytes: Some(found.unacknowledged),
            reason: None,
        },
        Err(reason) => TcpConnections { reason: Some(reason.to_string()), ..TcpConnections::default() },
    }
}

/// A table; empty where the kernel has none.
pub fn text(path: &Path) -> Result<String, Reason> {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(MAX_TABLE + 1).read_to_end(&mut bytes)) {
        Ok(_) if bytes.len() as u64 > MAX_TABLE => Err(Reason::new(format!("{} is too long", path.display()))),
        Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(Reason::new(format!("cannot read {}: {error}", path.display()))),
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Counted {
    open: i64,
    unread: i64,
    unacknowledged: i64,
}

impl Counted {
    /// Adds the connections in a table that are among these sockets.
    fn add(&mut self, table: &str, sockets: &HashSet<u64>) {
        for [state, queues, inode] in table.lines().filter_map(columns) {
            let known = OPEN.contains(&state) && inode.parse().is_ok_and(|inode| sockets.contains(&inode));
            let number = |text: &str| i64::from_str_radix(text, 16).ok().filter(|number| *number >= 0);
            let Some((sent, received)) = queues.split_once(':').filter(|_| known) else { continue };
            let (Some(sent), Some(received)) = (number(sent), number(received)) else { continue };
            self.open = self.open.saturating_add(1);
            self.unread = self.unread.saturating_add(received);
            self.unacknowledged = self.unacknowledged.saturating_add(sent);
        }
    }
}

/// The inodes in a table.
pub fn inodes(table: &str) -> impl Iterator<Item = u64> {
    table.lines().filter_map(columns).filter_map(|[.., inode]| inode.parse().ok())
}

/// State, queues and inode in a line: `sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode`.
fn columns(line: &str) -> Option<[&str; 3]> {
    let mut columns = line.split_ascii_whitespace();
    let (state, queues) = (columns.nth(3)?, columns.next()?);
    Some([state, queues, columns.nth(4)?])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn what_nobody_has_read_is_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (receiver, _) = listener.accept().unwrap();
        sender.write_all(&[7; 12_345]).unwrap();
        let now = || connections(std::process::id(), &Tables::default());
        let arrived = || now().unread_bytes.unwrap() >= 12_345;
        assert!((0..200).any(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            arrived()
        }));
        let found = now();
        assert!(found.open.unwrap() >= 2 && found.reason.is_none());
        drop(receiver);
    }

    #[test]
    fn a_process_that_is_not_there_has_a_reason() {
        let found = connections(u32::MAX, &Tables::default());
        assert!(found.open.is_none() && found.reason.unwrap().contains("cannot look into"));
    }

    #[test]
    fn only_open_connections_of_its_own_count() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
            0: 0100007F:0016 0100007F:1F90 01 00000010:00000100 00:00000000 00000000 0 0 11 1 0 20 4 30 10 -1\n\
            1: 0100007F:0016 0100007F:1F90 01 00000010:00000100 00:00000000 00000000 0 0 12 1 0 20 4 30 10 -1\n\
            2: 0100007F:0016 00000000:0000 0A 00000000:00000005 00:00000000 00000000 0 0 13 1 0 20 4 30 10 -1\n\
            3: 0100007F:0016 0100007F:1F90 08 00000000:00000001 00:00000000 00000000 0 0 14 1 0 20 4 30 10 -1\n\
            4: 0100007F:0016 0100007F:1F90 01 ffffffffffffffff:zz 00:00000000 00000000 0 0 11\n\
            5: 0100007F:0016 01\n\n\u{fffd}";
        let mut found = Counted::default();
        found.add(table, &HashSet::from([11, 13, 14]));
        assert_eq!(found, Counted { open: 2, unread: 0x101, unacknowledged: 0x10 });
        let mut most = Counted { unread: i64::MAX, ..Counted::default() };
        most.add(table, &HashSet::from([11]));
        assert_eq!(most.unread, i64::MAX);
    }
}
