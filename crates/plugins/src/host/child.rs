//! The helper process's side of the conversation, and its memory of the target.
//!
//! Everything here runs in the helper only, which has one thread.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::os::fd::RawFd;
use std::sync::Mutex;

use super::abi::INVALID_PROCESS;
use super::isolation::exit_now;
use super::message::{Message, Told};
use super::shared::{NOTE_LOST, Shared};
use super::wire::{HEAD, Kind, MAX_FETCH, MAX_PAYLOAD, PAGE, Put, RUN, RUN_PAGES, Take, first_frame};
use target::{ByteOrder, TargetAbi};

/// More runs than this (256 MiB) are forgotten and asked for again.
const MAX_RUNS: usize = 4096;

/// The connection to the host.
pub struct Link<'a> {
    socket: RawFd,
    /// What both sides can see.
    pub shared: &'a Shared,
    scratch: Vec<u8>,
    reply: Vec<u8>,
}

impl<'a> Link<'a> {
    /// A connection over `socket`.
    pub fn new(socket: RawFd, shared: &'a Shared) -> Self {
        Self { socket, shared, scratch: Vec::new(), reply: Vec::new() }
    }

    /// Tells the host something. It is sent when there is enough of it, or with the next request.
    pub fn event(&mut self, kind: Kind, write: impl FnOnce(&mut Vec<u8>)) {
        self.scratch.clear();
        write(&mut self.scratch);
        let mut head = [0; HEAD];
        head[..4].copy_from_slice(&(self.scratch.len() as u32).to_ne_bytes());
        head[4] = kind.0;
        if !self.shared.append([&head, &self.scratch]) {
            self.flush();
            if !self.shared.append([&head, &self.scratch]) {
                send_all(self.socket, self.shared, &head);
                send_all(self.socket, self.shared, &self.scratch);
            }
        }
    }

    /// The same, of a message.
    pub fn tell(&mut self, message: &impl Message) {
        self.event(message.kind(), |out| message.write(out));
    }

    /// Sends what has been collected.
    pub fn flush(&mut self) {
        let (socket, shared) = (self.socket, self.shared);
        shared.flush(|bytes| send_all(socket, shared, bytes));
    }

    /// Asks the host and waits for its answer.
    pub fn request(&mut self, kind: Kind, write: impl FnOnce(&mut Vec<u8>)) -> &[u8] {
        self.event(kind, write);
        self.flush();
        self.reply.clear();
        let mut needed = HEAD;
        let mut buf = [0; 16 * 1024];
        loop {
            let room = (needed - self.reply.len()).min(buf.len());
            // SAFETY: at most as many bytes as the buffer has.
            let got = unsafe { libc::read(self.socket, buf.as_mut_ptr().cast(), room) };
            match usize::try_from(got) {
                Ok(len) if len > 0 => self.reply.extend_from_slice(&buf[..len]),
                Err(_) if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => continue,
                _ => lost(self.shared),
            }
            if self.reply.len() < needed {
                continue;
            }
            if needed == HEAD {
                let len = Take(&self.reply).u32().map_or(usize::MAX, |len| len as usize);
                if len > MAX_PAYLOAD {
                    lost(self.shared);
                }
                needed += len;
                if len > 0 {
                    continue;
                }
            }
            break;
        }
        match first_frame(&self.reply) {
            Ok(Some((Kind::REPLY, payload, _))) => payload,
            _ => lost(self.shared),
        }
    }
}

fn lost(shared: &Shared) -> ! {
    shared.set_note(NOTE_LOST);
    exit_now(1)
}

fn send_all(socket: RawFd, shared: &Shared, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        // SAFETY: at most as many bytes as the slice has.
        let sent = unsafe { libc::write(socket, bytes.as_ptr().cast(), bytes.len()) };
        match usize::try_from(sent) {
            Ok(len) => bytes = &bytes[len..],
            Err(_) if std::io::Error::last_os_error().kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => lost(shared),
        }
    }
}

/// Spreads the numbers of runs: they are small and differ in their low bits.
#[derive(Default)]
pub struct RunHasher(u64);

impl Hasher for RunHasher {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

struct Run {
    number: u64,
    /// A bit for each page that can be read.
    readable: u16,
    bytes: Box<[u8]>,
}

/// The target's memory as far as it has been asked for.
#[derive(Default)]
pub struct Memory {
    runs: Vec<Run>,
    index: HashMap<u64, usize, BuildHasherDefault<RunHasher>>,
    last: usize,
}

impl Memory {
    /// Copies target memory to `buf`; `false` where some of it cannot be read.
    pub fn fetch(&mut self, link: &mut Link<'_>, addr: u64, buf: &mut [u8]) -> bool {
        let Some(last) = (buf.len() as u64).checked_sub(1) else { return true };
        if buf.len() > MAX_FETCH || addr.checked_add(last).is_none() {
            bad_fetch(link, addr, buf.len() as u64);
            return false;
        }
        let mut done = 0;
        while done < buf.len() {
            let at = addr + done as u64;
            let offset = (at % RUN as u64) as usize;
            let len = (RUN - offset).min(buf.len() - done);
            let run = self.run(link, at / RUN as u64);
            let pages = offset / PAGE..=(offset + len - 1) / PAGE;
            if !pages.into_iter().all(|page| run.readable & (1 << page) != 0) {
                // Not readable page by page; the host decides about exactly these bytes, and counts the failure.
                return read_exactly(link, addr, buf);
            }
            buf[done..done + len].copy_from_slice(&run.bytes[offset..offset + len]);
            done += len;
        }
        true
    }

    fn run(&mut self, link: &mut Link<'_>, number: u64) -> &Run {
        let known = match self.runs.get(self.last) {
            Some(run) if run.number == number => Some(self.last),
            _ => self.index.get(&number).copied(),
        };
        let at = known.unwrap_or_else(|| {
            if self.runs.len() >= MAX_RUNS {
                self.runs.clear();
                self.index.clear();
            }
            self.runs.push(ask_for_run(link, number));
            self.index.insert(number, self.runs.len() - 1);
            self.runs.len() - 1
        });
        self.last = at;
        &self.runs[at]
    }
}

/// The answer is a bit for each readable page, then those pages.
fn ask_for_run(link: &mut Link<'_>, number: u64) -> Run {
    let reply = link.request(Kind::RUN, |out| out.u64(number * RUN as u64));
    let mut take = Take(reply);
    let mut run = Run { number, readable: 0, bytes: vec![0; RUN].into_boxed_slice() };
    let readable = take.u32().unwrap_or(0);
    for page in 0..RUN_PAGES {
        if readable & (1 << page) != 0 {
            let Some(bytes) = take.bytes(PAGE) else { break };
            run.bytes[page * PAGE..(page + 1) * PAGE].copy_from_slice(bytes);
            run.readable |= 1 << page;
        }
    }
    run
}

fn read_exactly(link: &mut Link<'_>, addr: u64, buf: &mut [u8]) -> bool {
    let reply = link.request(Kind::READ, |out| {
        out.u64(addr);
        out.u32(buf.len() as u32);
    });
    match reply.split_first() {
        Some((1, bytes)) if bytes.len() == buf.len() => {
            buf.copy_from_slice(bytes);
            true
        }
        _ => false,
    }
}

/// Tells the host about a fetch that cannot be served at all.
pub fn bad_fetch(link: &mut Link<'_>, addr: u64, len: u64) {
    link.tell(&Told::BadFetch { addr, len });
}

/// A type that the plug-in has asked for.
pub struct KnownType {
    /// Its name.
    pub name: Vec<u8>,
    /// Its size in bytes.
    pub size: u64,
}

/// All that the callbacks need.
pub struct Child<'a> {
    /// The connection to the host.
    pub link: RefCell<Link<'a>>,
    /// What the host can see.
    pub shared: &'a Shared,
    /// The target's memory.
    pub memory: RefCell<Memory>,
    /// Types by handle; boxed, because the plug-in holds their addresses.
    #[allow(clippy::vec_box)]
    pub types: RefCell<Vec<Box<KnownType>>>,
    /// Lookups of types and fields that failed.
    pub misses: Cell<u32>,
    /// Lookups of fields that failed, also those of types that are not known: the plug-in has -1 for an offset.
    pub blind_offsets: Cell<u32>,
    /// What the plug-in has allocated and not freed: addresses and sizes. Locked, because a plug-in may have threads, and
    /// these allocate.
    pub allocations: Mutex<BTreeMap<usize, usize>>,
    /// What the plug-in hung on the image, the process and the job.
    pub infos: [Cell<*mut libc::c_void>; 3],
    /// What the target is like.
    pub facts: Facts,
}

impl<'a> Child<'a> {
    /// Over a connection; nothing has been asked yet.
    pub fn new(link: Link<'a>, facts: Facts) -> Self {
        Self {
            shared: link.shared,
            link: link.into(),
            memory: Memory::default().into(),
            types: Vec::new().into(),
            misses: 0.into(),
            blind_offsets: 0.into(),
            allocations: Mutex::default(),
            infos: Default::default(),
            facts,
        }
    }
}

impl Child<'_> {
    /// How many bytes there are at `addr` of what the plug-in has allocated; `None` where that is something else, or has
    /// been freed.
    pub fn allocated_at(&self, addr: usize) -> Option<usize> {
        let allocations = self.allocations.lock().ok()?;
        let (start, size) = allocations.range(..=addr).next_back()?;
        size.checked_sub(addr - start).filter(|left| *left > 0)
    }
}

/// What the callbacks tell of the target and its job.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts {
    /// Whether the target's byte order is not ours.
    pub swapped: bool,
    /// Width of the target's pointers, in bytes.
    pub pointer_size: i32,
    /// Rank in MPI_COMM_WORLD, -1 where it is not known.
    pub global_rank: i32,
    /// The debugger's number of the process, -1 where it has none.
    pub identity: i32,
}

impl Facts {
    /// What a target's ABI says; nothing is known of its job.
    pub fn of(abi: TargetAbi) -> Self {
        let host = if cfg!(target_endian = "little") { ByteOrder::Little } else { ByteOrder::Big };
        Self {
            swapped: abi.byte_order != host,
            pointer_size: i32::try_from(abi.pointer_width.bytes()).unwrap_or(8),
            global_rank: INVALID_PROCESS,
            identity: INVALID_PROCESS,
        }
    }
}
