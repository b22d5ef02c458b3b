//! What communicators are called, so that all processes that have one call it the same: from what it was made of, which each
//! member knows by itself. MPI is asked only when one is made, and only what needs no other process.

use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use record_format::{Communicator, FORTRAN_HANDLE, communicator_flags as flags};

use crate::communicators::occurrences;
use crate::frames::Frame;
use crate::real;
use crate::words;
use crate::wrapper::{Creation, NO, Wrapper};

/// The names of MPI_COMM_WORLD and MPI_COMM_SELF.
pub const WORLD: u64 = 1;
pub const OWN: u64 = 2;

/// Two numbers as one, which others give with no likelihood.
pub fn mixed(one: u64, other: u64) -> u64 {
    let mut hash = one.rotate_left(29) ^ other.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash = (hash ^ hash >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ hash >> 29
}

/// A function of MPI, by its other name, which no tool is in the way of.
struct Asked {
    name: &'static [u8],
    found: AtomicPtr<c_void>,
}

impl Asked {
    const fn new(name: &'static [u8]) -> Self {
        Self { name, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    fn function(&self) -> Option<*mut c_void> {
        let mut found = self.found.load(Ordering::Relaxed);
        if found.is_null() {
            found = real::find(self.name);
            self.found.store(found, Ordering::Relaxed);
        }
        (!found.is_null()).then_some(found)
    }

    /// Of a handle, an integer.
    ///
    /// # Safety
    /// The function takes a handle and the address of an int.
    unsafe fn of(&self, handle: u64) -> Option<i32> {
        let mut found: c_int = 0;
        // SAFETY: as the caller says. A handle of 32 bits stands in the lower half of the same register.
        let status = unsafe {
            let function: extern "C" fn(u64, *mut c_int) -> c_int = std::mem::transmute(self.function()?);
            function(handle, &mut found)
        };
        (status == 0).then_some(found)
    }

    /// Of a handle, another one.
    ///
    /// # Safety
    /// The function takes a handle and the address of one.
    unsafe fn handle_of(&self, handle: u64) -> Option<u64> {
        let mut found: u64 = 0;
        // SAFETY: as the caller says, and as above.
        let status = unsafe {
            let function: extern "C" fn(u64, *mut u64) -> c_int = std::mem::transmute(self.function()?);
            function(handle, &mut found)
        };
        (status == 0).then_some(found)
    }
}

static COMM_RANK: Asked = Asked::new(b"PMPI_Comm_rank\0");
static COMM_SIZE: Asked = Asked::new(b"PMPI_Comm_size\0");
static COMM_TEST_INTER: Asked = Asked::new(b"PMPI_Comm_test_inter\0");
static COMM_REMOTE_SIZE: Asked = Asked::new(b"PMPI_Comm_remote_size\0");
static COMM_GROUP: Asked = Asked::new(b"PMPI_Comm_group\0");
static COMM_REMOTE_GROUP: Asked = Asked::new(b"PMPI_Comm_remote_group\0");
static GROUP_SIZE: Asked = Asked::new(b"PMPI_Group_size\0");
static TRANSLATE: Asked = Asked::new(b"PMPI_Group_translate_ranks\0");
static GROUP_FREE: Asked = Asked::new(b"PMPI_Group_free\0");
static COMM_F2C: Asked = Asked::new(b"PMPI_Comm_f2c\0");

/// Whether there is an MPI_COMM_WORLD.
static HAS_WORLD: AtomicBool = AtomicBool::new(false);

/// MPI_Init has returned.
pub fn world_is_there() {
    HAS_WORLD.store(true, Ordering::Relaxed);
}

/// What C calls a communicator of Fortran's.
pub fn in_c(word: u64) -> Option<u64> {
    let function = COMM_F2C.function()?;
    // SAFETY: MPI_Comm_f2c takes an integer of Fortran's.
    let found = unsafe {
        let function: extern "C" fn(c_int) -> u64 = std::mem::transmute(function);
        function((word & !FORTRAN_HANDLE) as c_int)
    };
    (!words::is_no_communicator(found)).then_some(found)
}

/// Asks who is in a communicator.
///
/// # Safety
/// The row is its own, and the handle is one of C's.
pub unsafe fn members(row: *mut Communicator, handle: u64) {
    // SAFETY: as the caller says, and the functions are what their names say.
    unsafe {
        (*row).rank = COMM_RANK.of(handle).unwrap_or(-1);
        (*row).size = COMM_SIZE.of(handle).unwrap_or(-1);
        if COMM_TEST_INTER.of(handle).unwrap_or(0) != 0 {
            (*row).flags |= flags::INTER;
            (*row).remote_size = COMM_REMOTE_SIZE.of(handle).unwrap_or(-1);
        }
    }
}

/// A group that is given back.
struct Group(u64);

impl Group {
    fn of(communicator: u64, ask: &Asked) -> Option<Self> {
        // SAFETY: both functions take a communicator and the address of a group.
        unsafe { ask.handle_of(communicator) }.map(Self)
    }

    /// What members are in another group: negative for those who are not in it.
    fn in_other(&self, from: i32, ranks: &mut [i32], other: &Self) -> Option<()> {
        const MOST: usize = 128;
        let mut own = [0; MOST];
        let count = ranks.len().min(MOST);
        for (place, rank) in own.iter_mut().take(count).enumerate() {
            *rank = from + place as i32;
        }
        let function = TRANSLATE.function()?;
        // SAFETY: MPI_Group_translate_ranks, with so many ranks in both arrays.
        let status = unsafe {
            let function: extern "C" fn(u64, c_int, *const c_int, u64, *mut c_int) -> c_int =
                std::mem::transmute(function);
            function(self.0, count as c_int, own.as_ptr(), other.0, ranks.as_mut_ptr())
        };
        (status == 0).then_some(())
    }

    /// What its first member is in another group.
    fn leader_in(&self, other: &Self) -> Option<i32> {
        let mut leader = [0];
        self.in_other(0, &mut leader, other)?;
        (leader[0] >= 0).then_some(leader[0])
    }

    /// All its members by what they are in another group, as one number.
    fn all_in(&self, other: &Self) -> Option<u64> {
        // SAFETY: MPI_Group_size takes a group and the address of an int.
        let size = unsafe { GROUP_SIZE.of(self.0) }?;
        let mut hash = size as u64;
        let mut ranks = [0; 128];
        let mut from = 0;
        while from < size {
            let part = &mut ranks[..128.min((size - from) as usize)];
            self.in_other(from, part, other)?;
            if part.iter().any(|rank| *rank < 0) {
                return None;
            }
            hash = part.iter().fold(hash, |hash, rank| mixed(hash, *rank as u64));
            from += part.len() as i32;
        }
        Some(hash)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(function) = GROUP_FREE.function() {
            // SAFETY: MPI_Group_free takes the address of a group, of which it reads as much as it has.
            unsafe {
                let function: extern "C" fn(*mut u64) -> c_int = std::mem::transmute(function);
                function(&mut self.0);
            }
        }
    }
}

/// Calls a new communicator. `child` says the how manieth it is that all members of `parent` made of it, which is the handle
/// of that and its row.
///
/// # Safety
/// The row is the communicator's own, and the handles are C's.
pub unsafe fn name(
    row: *mut Communicator,
    handle: u64,
    parent: Option<(u64, &Communicator)>,
    child: Option<u64>,
    frame: &Frame,
    wrapper: &Wrapper,
) {
    let known = parent.filter(|(_, parent)| parent.identity != 0);
    let parent = parent.map(|(_, parent)| parent);
    let origin = match wrapper.creation {
        Creation::Whole => known.zip(child).map(|((_, parent), child)| mixed(mixed(parent.identity, child), 1)),
        Creation::Part => known.zip(child).and_then(|((in_c, parent), child)| {
            let leader = Group::of(handle, &COMM_GROUP)?.leader_in(&Group::of(in_c, &COMM_GROUP)?)?;
            Some(mixed(mixed(mixed(parent.identity, child), 2), leader as u64))
        }),
        Creation::Group => known.and_then(|(in_c, parent)| {
            let members = Group::of(handle, &COMM_GROUP)?.all_in(&Group::of(in_c, &COMM_GROUP)?)?;
            let tag = words::integer_of(frame, wrapper, wrapper.tag);
            Some(mixed(mixed(mixed(parent.identity, 3), members), tag as u64))
        }),
        Creation::FromGroup => from_group(handle, frame, wrapper),
        Creation::Inter => {
            between(handle, words::integer_of(frame, wrapper, wrapper.tag)).map(|(origin, is_second)| {
                if is_second {
                    // SAFETY: as the caller says.
                    unsafe { (*row).flags |= flags::SECOND };
                }
                origin
            })
        }
        Creation::Elsewhere | Creation::None => None,
    };
    // SAFETY: as the caller says.
    unsafe {
        (*row).parent = parent.map_or(0, |parent| parent.identity);
        // Of an intercommunicator that is made of another one the sides are the same.
        let is_like = wrapper.creation != Creation::Inter && (*row).flags & flags::INTER != 0;
        let inherits = if is_like { flags::OWN_NAME | flags::SECOND } else { flags::OWN_NAME };
        let inherited = parent.map_or(0, |parent| parent.flags & inherits);
        match origin {
            Some(origin) => {
                (*row).flags |= inherited;
                let repeats = matches!(wrapper.creation, Creation::Group | Creation::FromGroup | Creation::Inter);
                (*row).origin = origin;
                (*row).occurrence = if repeats { occurrences(origin, row) } else { 0 };
                (*row).identity = mixed(origin, (*row).occurrence);
            }
            None => {
                (*row).flags |= flags::OWN_NAME;
                (*row).identity = mixed(mixed((*row).parent, child.unwrap_or(0)), (*row).made);
            }
        }
    }
}

/// All members give the same text; the group by ranks of MPI_COMM_WORLD where there is one.
fn from_group(handle: u64, frame: &Frame, wrapper: &Wrapper) -> Option<u64> {
    if wrapper.fortran || wrapper.string_tag == NO || !HAS_WORLD.load(Ordering::Relaxed) {
        return None;
    }
    let members = Group::of(handle, &COMM_GROUP)?.all_in(&Group::of(words::world(), &COMM_GROUP)?)?;
    // SAFETY: the function was given a text that ends.
    let text = unsafe { std::ffi::CStr::from_ptr(frame.argument(wrapper.string_tag) as *const _) };
    Some(text.to_bytes().iter().fold(mixed(4, members), |hash, byte| mixed(hash, u64::from(*byte))))
}

/// Both sides call an intercommunicator by the members of both, as they are in MPI_COMM_WORLD; and whether this side is the
/// second of them.
fn between(handle: u64, tag: i32) -> Option<(u64, bool)> {
    if !HAS_WORLD.load(Ordering::Relaxed) {
        return None;
    }
    let world = Group::of(words::world(), &COMM_GROUP)?;
    let own = Group::of(handle, &COMM_GROUP)?.all_in(&world)?;
    let others = Group::of(handle, &COMM_REMOTE_GROUP)?.all_in(&world)?;
    Some((mixed(mixed(mixed(5, own.min(others)), own.max(others)), tag as u64), own > others))
}
