//! The TCP connections of this network, as the kernel lists them (sock_diag(7)).
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{FromRawFd as _, OwnedFd};

/// A longer answer (some 100,000 connections) is not gone through, in bytes.
const MOST_BYTES: usize = 32 << 20;

/// How long the kernel may take for a piece of its answer, in seconds.
const PATIENCE: i64 = 1;

/// The ends of a connection: port and address of one, then of the other, as they stand in a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ends {
    ports: [[u8; 2]; 2],
    addresses: [[u8; 16]; 2],
}

impl Ends {
    /// As the other end sees it.
    pub fn other_way(self) -> Self {
        let ([port, other_port], [address, other_address]) = (self.ports, self.addresses);
        Self { ports: [other_port, port], addresses: [other_address, address] }
    }
}

/// One end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    pub inode: u64,
    pub ends: Ends,
    /// The bytes that were sent and acknowledged, and that have arrived (since Linux 4.1).
    pub counts: Option<(u64, u64)>,
}

/// All that are open; `None` where the kernel does not tell all.
pub fn connections() -> Option<Vec<Connection>> {
    let mut all = Vec::new();
    for family in [libc::AF_INET, libc::AF_INET6] {
        let answer = answer(&request(u8::try_from(family).ok()?)).ok()?;
        read(&answer, &mut all)?;
    }
    Some(all)
}

/// The inodes of UNIX sockets, each with that of its peer (unix_diag, sock_diag(7)); `None` where the kernel does not tell all.
pub fn unix_peers() -> Option<Vec<(u64, u64)>> {
    /// `struct unix_diag_req` and `struct unix_diag_msg` (linux/unix_diag.h).
    const REQUEST: u32 = 24;
    const MESSAGE: usize = 16;
    const SHOW_PEER: u32 = 4;
    const PEER: u16 = 2;
    let mut bytes = head(REQUEST);
    bytes.extend([u8::try_from(libc::AF_UNIX).ok()?, 0, 0, 0]);
    for word in [u32::MAX, 0, SHOW_PEER, 0, 0] {
        bytes.extend(word.to_ne_bytes());
    }
    let answer = answer(&bytes).ok()?;
    let mut all = Vec::new();
    for (kind, body) in messages(&answer) {
        match kind {
            DONE => return Some(all),
            ERROR => return None,
            _ => {}
        }
        let inode = at(body, 4).map(u32::from_ne_bytes);
        let peer = attributes(body.get(MESSAGE..).unwrap_or_default()).find(|(kind, _)| *kind == PEER);
        let peer = peer.and_then(|(_, value)| at(value, 0)).map(u32::from_ne_bytes);
        all.extend(inode.zip(peer).map(|(inode, peer)| (u64::from(inode), u64::from(peer))));
    }
    None
}

/// `struct nlmsghdr` of a request of so many bytes.
fn head(request: u32) -> Vec<u8> {
    /// SOCK_DIAG_BY_FAMILY.
    const BY_FAMILY: u16 = 20;
    /// NLM_F_REQUEST | NLM_F_DUMP.
    const DUMP: u16 = 0x301;
    const SIZE: u32 = 16;
    let mut bytes = (SIZE + request).to_ne_bytes().to_vec();
    for half in [BY_FAMILY, DUMP] {
        bytes.extend(half.to_ne_bytes());
    }
    bytes.extend(1_u32.to_ne_bytes());
    bytes.extend(0_u32.to_ne_bytes());
    bytes
}

/// `struct inet_diag_req_v2`.
fn request(family: u8) -> Vec<u8> {
    const LENGTH: u32 = 56;
    const TCP: u8 = 6;
    /// TCP_ESTABLISHED and TCP_CLOSE_WAIT (include/net/tcp_states.h).
    const OPEN: u32 = 1 << 1 | 1 << 8;
    let mut bytes = head(LENGTH);
    bytes.extend([family, TCP, 1 << (INFO - 1), 0]);
    bytes.extend(OPEN.to_ne_bytes());
    // Which connection: all.
    bytes.extend([0; 48]);
    bytes
}

/// Asks the kernel.
fn answer(request: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut kernel = open()?;
    kernel.write_all(request)?;
    let (mut answer, mut piece) = (Vec::new(), vec![0; 1 << 16]);
    while answer.len() < MOST_BYTES {
        let read = kernel.read(&mut piece)?;
        let piece = piece.get(..read).unwrap_or_default();
        answer.extend_from_slice(piece);
        if read == 0 || messages(piece).any(|(kind, _)| matches!(kind, ERROR | DONE)) {
            break;
        }
    }
    Ok(answer)
}

fn open() -> std::io::Result<File> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: no memory is handed over; what comes back is checked.
    let number = unsafe { libc::socket(libc::AF_NETLINK, kind, libc::NETLINK_SOCK_DIAG) };
    if number < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the descriptor was made just now, and nobody else has it.
    let socket = unsafe { OwnedFd::from_raw_fd(number) };
    let limit = libc::timeval { tv_sec: PATIENCE, tv_usec: 0 };
    let size = libc::socklen_t::try_from(size_of::<libc::timeval>()).unwrap_or_default();
    // SAFETY: the kernel reads `size` bytes of `limit`, which lives until then.
    let set = unsafe { libc::setsockopt(number, libc::SOL_SOCKET, libc::SO_RCVTIMEO, (&raw const limit).cast(), size) };
    if set < 0 { Err(std::io::Error::last_os_error()) } else { Ok(File::from(socket)) }
}

/// NLMSG_ERROR, NLMSG_DONE.
const ERROR: u16 = 2;
const DONE: u16 = 3;

/// INET_DIAG_INFO.
const INFO: u16 = 2;

/// Adds those in an answer; `None` where it does not come to its end.
fn read(answer: &[u8], all: &mut Vec<Connection>) -> Option<()> {
    for (kind, body) in messages(answer) {
        match kind {
            DONE => return Some(()),
            ERROR => return None,
            _ => all.extend(of_message(body)),
        }
    }
    None
}

/// `struct inet_diag_msg` and its attributes.
fn of_message(body: &[u8]) -> Option<Connection> {
    const SIZE: usize = 72;
    /// `tcpi_bytes_acked` and `tcpi_bytes_received` (`struct tcp_info`).
    const COUNTS: usize = 120;
    let ends = Ends { ports: [at(body, 4)?, at(body, 6)?], addresses: [at(body, 8)?, at(body, 24)?] };
    let inode = u64::from(u32::from_ne_bytes(at(body, 68)?));
    let info = attributes(body.get(SIZE..)?).find(|(kind, _)| *kind == INFO).map(|(_, value)| value);
    let number = |value, place| Some(u64::from_ne_bytes(at(value, place)?));
    let counts = info.and_then(|info| Some((number(info, COUNTS)?, number(info, COUNTS + 8)?)));
    Some(Connection { inode, ends, counts })
}

fn at<const N: usize>(bytes: &[u8], place: usize) -> Option<[u8; N]> {
    bytes.get(place..)?.first_chunk().copied()
}

/// Kind and body of each message (`struct nlmsghdr`, aligned to 4: linux/netlink.h).
fn messages(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    parts(bytes, 16, |head| {
        Some((usize::try_from(u32::from_ne_bytes(at(head, 0)?)).ok()?, u16::from_ne_bytes(at(head, 4)?)))
    })
}

/// Kind and value of each attribute (`struct rtattr`).
fn attributes(bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    parts(bytes, 4, |head| Some((usize::from(u16::from_ne_bytes(at(head, 0)?)), u16::from_ne_bytes(at(head, 2)?))))
}

/// What follows heads of that size, which tell length and kind.
fn parts(
    bytes: &[u8],
    size: usize,
    head: impl Fn(&[u8]) -> Option<(usize, u16)>,
) -> impl Iterator<Item = (u16, &[u8])> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let (length, kind) = head(rest).filter(|(length, _)| *length >= size)?;
        let body = rest.get(size..length.min(rest.len()))?;
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, body))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_answers_end() {
        let cases: [&[u8]; 6] =
            [b"", &[0; 15], &[0; 64], &[0xff; 64], b"\x10\0\0\0xxxxxxxxxxxxxxxxxxxx", &b"\x11\0\0\0".repeat(9)];
        for bytes in cases {
            assert!(messages(bytes).count() <= 4 && attributes(bytes).count() <= 16, "{bytes:?}");
            let mut all = Vec::new();
            assert_eq!(read(bytes, &mut all), None);
            assert!(all.is_empty(), "{bytes:?}");
        }
    }
}
