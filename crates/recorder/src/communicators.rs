//! The table of communicators: which they are, and what was done on each by all its members.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};

use record_format::{
    COLLECTIVES, COUNT_BITS, Call, Communicator, FORTRAN_HANDLE, FUNCTION_NUMBER, NOT_GIVEN, Thread,
    communicator_flags as flags, communicator_state as state, stage,
};

use crate::frames::Frame;
use crate::keys::{Keys, Spilled};
use crate::messages;
use crate::origins::{self, mixed};
use crate::record::{self, COMMUNICATORS, header, tables};
use crate::requests::SHARED;
use crate::words;
use crate::wrapper::{Creation, NO, Stage, Wrapper};

static SPILLED: Spilled = Spilled(AtomicBool::new(false));

/// Fortran's handles of communicators that C calls otherwise, each with its row and 1; 0: free.
static ALIASES: [[AtomicU64; 2]; COMMUNICATORS] = [const { [AtomicU64::new(0), AtomicU64::new(0)] }; COMMUNICATORS];

fn keys() -> Keys {
    Keys { first: tables().communicator_keys, count: COMMUNICATORS }
}

fn row(place: usize) -> *mut Communicator {
    // SAFETY: the place is below the number of rows, a power of two, whatever a program has written over the record.
    unsafe { tables().communicators.add(place & (COMMUNICATORS - 1)) }
}

/// The row of a communicator that a thread uses: mostly the one that it used before.
#[inline(always)]
pub fn place(thread: &mut Thread, word: u64) -> Option<usize> {
    let latest = thread.latest_row as usize & (COMMUNICATORS - 1);
    if thread.latest_communicator == word && is_still(latest, word) { Some(latest) } else { another(thread, word) }
}

#[inline(never)]
fn another(thread: &mut Thread, word: u64) -> Option<usize> {
    let place = place_of(word)?;
    thread.latest_communicator = word;
    thread.latest_row = place as u64;
    Some(place)
}

/// The row of a communicator as the record names it, which a program may have written over: MPI is never asked about it.
pub fn known(thread: &Thread, word: u64) -> Option<usize> {
    let latest = thread.latest_row as usize & (COMMUNICATORS - 1);
    if thread.latest_communicator == word && is_still(latest, word) {
        return Some(latest);
    }
    if words::is_no_communicator(word) {
        None
    } else if word & FORTRAN_HANDLE != 0 {
        aliased(word)
    } else {
        keys().find(word, &SPILLED)
    }
}

/// Says more of a communicator.
pub fn set_flags(place: usize, more: u32) {
    // SAFETY: a row of the table.
    unsafe { (*row(place)).flags |= more }
}

/// Of a message on a communicator it is not known from whom it is, or whether it was received.
pub fn untold(thread: &mut Thread, word: u64) {
    if let Some(place) = known(thread, word) {
        // SAFETY: a word of a row of the table.
        unsafe { AtomicU32::from_ptr(&raw mut (*row(place)).untold) }.fetch_add(1, Ordering::Relaxed);
    }
}

/// A collective begins on a communicator.
#[inline(never)]
pub fn collective(frame: &Frame, wrapper: &Wrapper, thread: &mut Thread, call: &Call, number_of_call: u64) {
    let Some(place) = place(thread, call.object) else { return };
    let row = row(place);
    let op = words::handle_of(frame, wrapper, wrapper.op);
    // SAFETY: all members, and so this one, do one collective after the other on a communicator: MPI demands it.
    unsafe {
        (*row).flags |= if wrapper.fortran { flags::FORTRAN } else { flags::C };
        let number = (*row).collectives.wrapping_add(1);
        let root = if (*row).flags & flags::INTER == 0 { call.peer } else { NOT_GIVEN };
        let function = wrapper.function & FUNCTION_NUMBER;
        (*row).order = mixed((*row).order, u64::from(function) << 32 | u64::from(root as u32));
        let count = call.count & ((1 << COUNT_BITS) - 1);
        let contents = mixed(mixed(count, words::same_everywhere(call.datatype)), words::same_everywhere(op));
        (*row).contents = mixed(mixed((*row).contents, (*row).order), contents);
        let written = tables().collectives.add(place * COLLECTIVES + (number.wrapping_sub(1) as usize) % COLLECTIVES);
        let whole = AtomicU64::from_ptr(&raw mut (*written).number);
        whole.store(0, Ordering::Relaxed);
        fence(Ordering::Release);
        (*written).call = number_of_call;
        (*written).site = call.site;
        (*written).caller = call.caller;
        (*written).count = call.count;
        (*written).datatype = call.datatype;
        (*written).op = op;
        (*written).root = call.peer;
        (*written).started = if wrapper.request == NO {
            0
        } else {
            (*row).started = (*row).started.wrapping_add(1);
            (*row).started
        };
        whole.store(number, Ordering::Release);
        AtomicU64::from_ptr(&raw mut (*row).collectives).store(number, Ordering::Release);
    }
}

/// Whether a row is that of this communicator: it may have been freed meanwhile, and the handle be another's.
#[inline(always)]
fn is_still(place: usize, word: u64) -> bool {
    // SAFETY: a row of the table.
    unsafe {
        let row = row(place);
        ((*row).handle == word || (*row).fortran == word) && (*row).state == state::LIVE
    }
}

/// The row of a communicator; one that was not seen when it was made is entered now.
fn place_of(word: u64) -> Option<usize> {
    if words::is_no_communicator(word) {
        return None;
    }
    if word & FORTRAN_HANDLE != 0 {
        return of_fortran(word);
    }
    if let Some(place) = keys().find(word, &SPILLED) {
        return Some(place);
    }
    let place = enter(word)?;
    // SAFETY: the row is new.
    unsafe {
        origins::members(row(place), word);
        (*row(place)).flags |= flags::NOT_SEEN_MADE | flags::OWN_NAME;
    }
    Some(place)
}

/// Fortran's handles are looked up apart, and MPI is asked once for each what C calls it, which is local.
fn of_fortran(word: u64) -> Option<usize> {
    let start = (word as usize).wrapping_mul(0x9e37_79b1) >> 7;
    let slots = (0..16).map(|step| &ALIASES[(start + step) % COMMUNICATORS]);
    let mut free = None;
    for slot in slots {
        let key = slot[0].load(Ordering::Acquire);
        if key == word {
            return (slot[1].load(Ordering::Acquire) as usize).checked_sub(1);
        }
        if key == 0 && free.is_none() {
            free = Some(slot);
        }
    }
    let place = place_of(origins::in_c(word)?)?;
    // SAFETY: a row of the table.
    unsafe { (*row(place)).fortran = word };
    if let Some(slot) = free {
        // Of two threads at once one finds no room; it asks again.
        if slot[0].compare_exchange(0, word, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            slot[1].store(place as u64 + 1, Ordering::Release);
        }
    }
    Some(place)
}

/// A fresh row for a communicator.
fn enter(word: u64) -> Option<usize> {
    let place = keys().find(word, &SPILLED).or_else(|| keys().take_any(word, SHARED.load(Ordering::Relaxed), &SPILLED));
    let Some(place) = place else {
        record::count(|header| {
            // SAFETY: a field of the mapping.
            unsafe { &raw mut (*header).lost_communicators }
        });
        return None;
    };
    let fresh = Communicator {
        handle: word,
        state: state::LIVE,
        flags: 0,
        identity: 0,
        parent: 0,
        children: 0,
        collectives: 0,
        order: 0,
        contents: 0,
        made: 0,
        site: 0,
        rank: -1,
        size: -1,
        remote_size: -1,
        color: NOT_GIVEN,
        occurrence: 0,
        origin: 0,
        fortran: 0,
        untold: 0,
        started: 0,
    };
    // SAFETY: the row is this communicator's.
    unsafe {
        row(place).write(fresh);
        (*tables().communicator_names.add(place))[0] = 0;
        for slot in 0..COLLECTIVES {
            (*tables().collectives.add(place * COLLECTIVES + slot)).number = 0;
        }
    }
    Some(place)
}

/// MPI has begun: what it brings with it.
pub fn begin(frame: &Frame, wrapper: &Wrapper) {
    // SAFETY: the record is there, and this is the only thread that calls MPI yet.
    unsafe {
        let header = header();
        (*header).stage = stage::RUNNING;
        let level = if wrapper.stage == Stage::SessionInit { None } else { words::returned(frame, wrapper.flag) };
        (*header).thread_level = level.unwrap_or(0);
        // Of all MPIs, MPI_THREAD_SINGLE, FUNNELED and SERIALIZED (the last three in the ABI of MPI 5).
        let alone = matches!((*header).thread_level, 0..=2 | 1024 | 2048);
        SHARED.store(!alone || wrapper.stage == Stage::SessionInit, Ordering::Relaxed);
        if wrapper.stage == Stage::SessionInit {
            return;
        }
        origins::world_is_there();
        for (word, identity) in [(words::world(), origins::WORLD), (words::own(), origins::OWN)] {
            let Some(place) = enter(word) else { continue };
            (*row(place)).identity = identity;
            origins::members(row(place), word);
            if word == words::world() {
                (*header).world_rank = (*row(place)).rank;
                (*header).world_size = (*row(place)).size;
            }
        }
    }
}

/// What a call has done to communicators.
pub fn results(frame: &Frame, wrapper: &Wrapper, call: &Call, number_of_call: u64) {
    if wrapper.frees {
        // What the function was given stands nowhere else any more.
        free(call.object);
    }
    if wrapper.name != NO {
        name(frame, wrapper, words::handle_of(frame, wrapper, wrapper.object));
    }
    if wrapper.creation != Creation::None {
        made(frame, wrapper, call, number_of_call);
    }
}

fn made(frame: &Frame, wrapper: &Wrapper, call: &Call, number_of_call: u64) {
    let of = words::handle_of(frame, wrapper, wrapper.object);
    let parent = if of == 0 { None } else { place_of(of) };
    // Also of those that get no communicator: they took part.
    let child = parent.filter(|_| matches!(wrapper.creation, Creation::Whole | Creation::Part)).map(|parent| {
        // SAFETY: a row of the table; all members make one communicator after the other of it.
        unsafe {
            (*row(parent)).children = (*row(parent)).children.wrapping_add(1);
            (*row(parent)).children
        }
    });
    let address = if wrapper.made == NO { 0 } else { frame.argument(wrapper.made) };
    if address == 0 {
        return;
    }
    // SAFETY: the function has written it.
    let word = unsafe { words::read(address, wrapper.fortran) };
    if words::is_no_communicator(word) {
        return;
    }
    if word & FORTRAN_HANDLE != 0 {
        forget_alias(word);
    }
    let Some(in_c) = (if word & FORTRAN_HANDLE == 0 { Some(word) } else { origins::in_c(word) }) else { return };
    let Some(place) = enter(in_c) else { return };
    // SAFETY: rows of the table, the first of which is new.
    unsafe {
        let new = row(place);
        (*new).made = number_of_call;
        (*new).site = call.site;
        (*new).color = words::integer_of(frame, wrapper, wrapper.color);
        origins::members(new, in_c);
        let parent_in_c = if of & FORTRAN_HANDLE == 0 { Some(of) } else { origins::in_c(of) };
        let parent = parent_in_c.zip(parent).map(|(handle, parent)| (handle, &*row(parent)));
        origins::name(new, in_c, parent, child, frame, wrapper);
    }
}

/// The program calls a communicator by a name; of a longer one the beginning is kept.
fn name(frame: &Frame, wrapper: &Wrapper, word: u64) {
    let (Some(place), address) = (place_of(word), frame.argument(wrapper.name)) else { return };
    let given = if wrapper.name_length == NO { usize::MAX } else { frame.argument(wrapper.name_length) as usize };
    // SAFETY: a row of the table.
    let kept = unsafe { &mut *tables().communicator_names.add(place) };
    let mut length = 0;
    while length < given.min(kept.len() - 1) {
        // SAFETY: the text ends in C, and has so many bytes in Fortran.
        let byte = unsafe { *((address as usize + length) as *const u8) };
        if byte == 0 {
            break;
        }
        kept[length] = byte;
        length += 1;
    }
    // Fortran's texts are filled up with blanks.
    while wrapper.fortran && length > 0 && kept[length - 1] == b' ' {
        length -= 1;
    }
    kept[length] = 0;
}

fn free(word: u64) {
    let in_c = if word & FORTRAN_HANDLE == 0 { Some(word) } else { alias(word) };
    let Some(place) = in_c.and_then(|word| keys().find(word, &SPILLED)) else { return };
    // SAFETY: a row of the table.
    if unsafe { (*row(place)).flags } & flags::MESSAGES != 0 {
        messages::forget(place);
    }
    // Whatever language frees it.
    for slot in ALIASES.iter().filter(|slot| slot[1].load(Ordering::Acquire) == place as u64 + 1) {
        slot[1].store(0, Ordering::Release);
        slot[0].store(0, Ordering::Release);
    }
    // SAFETY: a row of the table and its key. The row stays until another communicator takes it.
    unsafe {
        (*row(place)).state = state::FREED;
        (*tables().communicator_keys.add(place)).store(0, Ordering::Release);
    }
}

fn alias(word: u64) -> Option<u64> {
    // SAFETY: a row of the table.
    aliased(word).map(|place| unsafe { (*row(place)).handle })
}

fn aliased(word: u64) -> Option<usize> {
    let slot = ALIASES.iter().find(|slot| slot[0].load(Ordering::Acquire) == word)?;
    (slot[1].load(Ordering::Acquire) as usize).checked_sub(1)
}

/// The handle means another communicator now, or none.
fn forget_alias(word: u64) {
    for slot in ALIASES.iter().filter(|slot| slot[0].load(Ordering::Acquire) == word) {
        slot[1].store(0, Ordering::Release);
        slot[0].store(0, Ordering::Release);
    }
}

/// How many communicators were made in the same way before, as far as rows tell.
pub fn occurrences(origin: u64, except: *const Communicator) -> u64 {
    (0..COMMUNICATORS)
        .map(|place| {
            // SAFETY: a row of the table.
            unsafe {
                let one = row(place);
                if !std::ptr::eq(one, except) && (*one).origin == origin {
                    (*one).occurrence.wrapping_add(1)
                } else {
                    0
                }
            }
        })
        .max()
        .unwrap_or(0)
}
