//! Memory that a running thread has at hand and that other processes have mapped, too: it may look there for what one of them writes.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::time::Instant;

use model::{Awaited, AwaitedKind, Frame, Text};
use target::address::TargetAddr;
use target::processes::place;
use target::{Mapping, PageCache, Target as _, printable};

use crate::peers::{self, KNOWN_FOR, MOST_OWNERS};
use crate::process::{Process, Thread};

/// A function that calls nothing keeps variables below its stack pointer (System V ABI for x86-64, 3.2.2), in bytes.
const RED_ZONE: u64 = 128;
/// So much of the stack above it is looked through.
const FRAME: usize = 256;

/// So many processes are looked at.
const MOST_PROCESSES: usize = 4096;

/// A file by the device and the number that the kernel has for it.
type File = (String, u64);

thread_local! {
    static KNOWN: RefCell<HashMap<File, (Instant, Vec<u32>)>> = RefCell::default();
}

/// The shared memory that a thread of the application has a pointer to, in its registers or in its frame, and who shares it.
pub(super) fn at_hand<P: Process>(memory: &PageCache<P>, thread: &Thread, frames: &[Frame]) -> Option<Awaited> {
    let process = memory.inner();
    let pid = process.here()?;
    // Libraries of MPI have such memory at hand always.
    frames.first().filter(|frame| frame.application == Some(true))?;
    let mappings = process.mappings();
    let shared = |address: u64| mappings.iter().find(|one| is_memory(one) && contains(one, address));
    let registers = thread.registers.all().iter().map(|(_, value)| *value);
    let mut bytes = [0; RED_ZONE as usize + FRAME];
    let top = thread.registers.stack_pointer().wrapping_sub(RED_ZONE);
    let frame = if memory.read(TargetAddr::new(top), &mut bytes).is_ok() { &bytes[..] } else { &[] };
    let words = frame.chunks_exact(8).map(|word| memory.abi().uint(word));
    registers.chain(words).filter_map(shared).find_map(|mapping| {
        let others: Vec<u32> = sharing(&mapping.file).into_iter().filter(|other| *other != pid).collect();
        (!others.is_empty()).then(|| Awaited {
            kind: AwaitedKind::SharedMemory,
            path: Some(Text::from(printable(mapping.name.as_encoded_bytes()).trim_end_matches(" (deleted)"))),
            owners: others.into_iter().take(MOST_OWNERS).map(|other| peers::named(i64::from(other))).collect(),
            ..Awaited::default()
        })
    })
}

/// Whether it is memory with a name, and not a device (of a GPU, of a network).
fn is_memory(mapping: &Mapping) -> bool {
    let name = mapping.name.as_encoded_bytes();
    let is_device = name.starts_with(b"/dev/") && !name.starts_with(b"/dev/shm/");
    mapping.shared && mapping.readable && !mapping.code && mapping.file.1 != 0 && !is_device
}

fn contains(mapping: &Mapping, address: u64) -> bool {
    (mapping.start.get()..mapping.end.get()).contains(&address)
}

/// The processes of this machine that have mapped a file, of those that may be looked into.
fn sharing(file: &File) -> Vec<u32> {
    let known = KNOWN.with_borrow(|known| known.get(file).cloned());
    if let Some((_, pids)) = known.filter(|(at, _)| at.elapsed() < KNOWN_FOR) {
        return pids;
    }
    // proc(5): address, rights, offset, device, number, path.
    let device_and_number = format!(" {} {} ", file.0, file.1);
    let maps = |pid: &u32| {
        let text = fs::read(place(*pid).join("maps")).unwrap_or_default();
        text.windows(device_and_number.len()).any(|part| part == device_and_number.as_bytes())
    };
    let pids: Vec<u32> = peers::all().take(MOST_PROCESSES).filter(maps).collect();
    KNOWN.with_borrow_mut(|known| {
        known.retain(|_, (at, _)| at.elapsed() < KNOWN_FOR);
        known.insert(file.clone(), (Instant::now(), pids.clone()))
    });
    pids
}
