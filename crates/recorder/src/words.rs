//! Handles as words: how wide they are in each MPI, and what its constants are.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use record_format::{FORTRAN_HANDLE, family};

use crate::frames::{Frame, NO_HANDLE};
use crate::real;
use crate::wrapper::{NO, Wrapper};

static FAMILY: AtomicU32 = AtomicU32::new(family::UNKNOWN);
/// The bits of an argument that are a handle of C's.
static HANDLE: AtomicU64 = AtomicU64::new(u64::MAX);
/// What is set in one of Fortran's.
static OF_FORTRAN: AtomicU64 = AtomicU64::new(0);

/// Constants of an MPI, in C.
struct Constants {
    world: AtomicU64,
    own: AtomicU64,
    no_communicator: AtomicU64,
    no_request: AtomicU64,
    /// What is returned for an operation that is complete already.
    complete: AtomicU64,
}

static CONSTANTS: Constants = Constants {
    world: AtomicU64::new(0),
    own: AtomicU64::new(0),
    no_communicator: AtomicU64::new(0),
    no_request: AtomicU64::new(0),
    complete: AtomicU64::new(0),
};

/// Finds out which MPI this is, by the library that has its functions of C.
pub fn detect() -> u32 {
    let address = |name: &'static std::ffi::CStr| real::variable(name) as u64;
    let (found, constants) =
        if real::library_of(real::find(b"PMPI_Initialized\0") as u64).windows(10).any(|part| part == b"libmpi_abi") {
            // src/binding/abi/mpi_abi.h of MPICH v5.0.1.
            (family::ABI, [0x101, 0x102, 0x100, 0x180, 0])
        } else if address(c"ompi_mpi_comm_world") != 0 {
            // ompi/include/mpi.h.in of Open MPI v4.1.4; ompi/request/request.h for the complete one.
            let names = [
                c"ompi_mpi_comm_world",
                c"ompi_mpi_comm_self",
                c"ompi_mpi_comm_null",
                c"ompi_request_null",
                c"ompi_request_empty",
            ];
            (family::OPEN_MPI, names.map(address))
        } else {
            // src/include/mpi.h.in of MPICH v4.0.2.
            (family::MPICH, [0x4400_0000, 0x4400_0001, 0x0400_0000, 0x2c00_0000, 0])
        };
    let all =
        [&CONSTANTS.world, &CONSTANTS.own, &CONSTANTS.no_communicator, &CONSTANTS.no_request, &CONSTANTS.complete];
    for (place, value) in all.into_iter().zip(constants) {
        place.store(value, Ordering::Relaxed);
    }
    FAMILY.store(found, Ordering::Relaxed);
    if found == family::MPICH {
        HANDLE.store(u64::from(u32::MAX), Ordering::Relaxed);
    } else {
        OF_FORTRAN.store(FORTRAN_HANDLE, Ordering::Relaxed);
    }
    found
}

/// MPI_COMM_WORLD.
pub fn world() -> u64 {
    CONSTANTS.world.load(Ordering::Relaxed)
}

/// MPI_COMM_SELF.
pub fn own() -> u64 {
    CONSTANTS.own.load(Ordering::Relaxed)
}

/// Whether a word is MPI_COMM_NULL.
pub fn is_no_communicator(word: u64) -> bool {
    if word & FORTRAN_HANDLE != 0 {
        // ompi/include/mpif-values.pl of Open MPI v4.1.4; the ABI has its constants in Fortran as well.
        return matches!(word ^ FORTRAN_HANDLE, 2 | 0x100);
    }
    word == 0 || word == CONSTANTS.no_communicator.load(Ordering::Relaxed)
}

/// Whether a request stands for something that goes on: not MPI_REQUEST_NULL, and not what stands for all that is complete.
#[inline(always)]
pub fn is_open_request(word: u64) -> bool {
    // MPICH's kinds of handles (src/include/mpir_objects.h, v4.0.2): 0 is of no object, 1 of one that is built in, such as
    // the request of every send that is complete at once.
    const KINDS: u32 = 30;
    match FAMILY.load(Ordering::Relaxed) {
        family::MPICH => word >> KINDS >= 2,
        family::ABI => {
            let number = word & !FORTRAN_HANDLE;
            number > 0xfff && (number > u64::from(u32::MAX) || number >> KINDS >= 2)
        }
        // Of Fortran 0 and 1 (the first that are entered: ompi/request/request.c of Open MPI v4.1.4).
        _ if word & FORTRAN_HANDLE != 0 => word ^ FORTRAN_HANDLE > 1,
        _ => {
            word != 0
                && word != CONSTANTS.no_request.load(Ordering::Relaxed)
                && word != CONSTANTS.complete.load(Ordering::Relaxed)
        }
    }
}

/// MPI_ANY_SOURCE and MPI_ANY_TAG by family: ompi/include/mpi.h.in of Open MPI v4.1.4, src/include/mpi.h.in of MPICH v4.0.2,
/// src/binding/abi/mpi_abi.h of MPICH v5.0.1.
fn any() -> (i32, i32) {
    match FAMILY.load(Ordering::Relaxed) {
        family::MPICH => (-2, -1),
        family::ABI => (-1, -2),
        _ => (-1, -1),
    }
}

/// Whether a receive takes messages of any source or any tag.
pub fn is_from_any(peer: i32, tag: i32) -> bool {
    let (any_source, any_tag) = any();
    peer == any_source || peer >= 0 && tag == any_tag
}

/// Where the source and the tag stand in a status, and how long that is (bytes): the same headers. Fortran's has the same
/// numbers in the same order.
pub fn status() -> (usize, usize, usize) {
    match FAMILY.load(Ordering::Relaxed) {
        family::MPICH => (8, 12, 20),
        family::ABI => (0, 4, 32),
        _ => (0, 4, 24),
    }
}

/// The same number in all processes for a predefined datatype or operator; 0 for one that the program made. Open MPI's are
/// variables of its library, which lie at the same distance in all processes of one program.
#[inline(always)]
pub fn same_everywhere(word: u64) -> u64 {
    const FAR: u64 = 1 << 22;
    match FAMILY.load(Ordering::Relaxed) {
        family::MPICH => {
            if word >> 30 == 1 {
                word
            } else {
                0
            }
        }
        family::ABI => {
            if word < 0x1000 {
                word
            } else {
                0
            }
        }
        _ if word & FORTRAN_HANDLE != 0 => word,
        _ => {
            let distance = word.wrapping_sub(world()).wrapping_add(FAR);
            if distance < 2 * FAR { distance } else { 0 }
        }
    }
}

/// The bytes of a handle in memory.
#[inline(always)]
pub fn bytes(fortran: bool) -> usize {
    if fortran || FAMILY.load(Ordering::Relaxed) == family::MPICH { 4 } else { 8 }
}

/// A handle in memory.
///
/// # Safety
/// One stands there.
#[inline(always)]
pub unsafe fn read(address: u64, fortran: bool) -> u64 {
    // SAFETY: as the caller says.
    unsafe {
        if bytes(fortran) == 8 {
            return *(address as *const u64);
        }
        of_fortran(*(address as *const u32), fortran)
    }
}

/// The word of a handle of 32 bits.
#[inline(always)]
fn of_fortran(number: u32, fortran: bool) -> u64 {
    u64::from(number) | if fortran { OF_FORTRAN.load(Ordering::Relaxed) } else { 0 }
}

/// The handle that a function was given, which has a word of the frame or is [`NO_HANDLE`].
#[inline(always)]
pub fn handle<const IS_FORTRAN: bool>(frame: &Frame, word: u8) -> u64 {
    let argument = frame.argument(word);
    if IS_FORTRAN {
        // Its constant is there, but no handle.
        // SAFETY: the function reads it as well.
        return if word == NO_HANDLE { 0 } else { unsafe { of_fortran(*(argument as *const u32), true) } };
    }
    argument & HANDLE.load(Ordering::Relaxed)
}

/// The integer that a function was given, which has a word of the frame or is [`crate::frames::NO_INTEGER`].
#[inline(always)]
pub fn integer<const IS_FORTRAN: bool>(frame: &Frame, word: u8) -> i32 {
    let argument = frame.argument(word);
    // SAFETY: the function reads it as well.
    if IS_FORTRAN { unsafe { *(argument as *const i32) } } else { argument as i32 }
}

/// The number of elements that a function was given, which has a word of the frame or is [`NO_HANDLE`].
#[inline(always)]
pub fn number<const IS_FORTRAN: bool>(frame: &Frame, word: u8, wide: bool) -> u64 {
    let argument = frame.argument(word);
    if IS_FORTRAN {
        // SAFETY: the function reads it as well; the constant has 64 bits.
        return unsafe { if wide { *(argument as *const u64) } else { i64::from(*(argument as *const i32)) as u64 } };
    }
    if wide { argument } else { i64::from(argument as i32) as u64 }
}

/// The integer that a function was given; not given where it has none.
pub fn integer_of(frame: &Frame, wrapper: &Wrapper, word: u8) -> i32 {
    match (word, wrapper.fortran) {
        (NO, _) => record_format::NOT_GIVEN,
        (_, true) => integer::<true>(frame, word),
        (_, false) => integer::<false>(frame, word),
    }
}

/// The handle that a function was given; 0 where it has none.
pub fn handle_of(frame: &Frame, wrapper: &Wrapper, word: u8) -> u64 {
    match (word, wrapper.fortran) {
        (NO, _) => 0,
        (_, true) => handle::<true>(frame, word),
        (_, false) => handle::<false>(frame, word),
    }
}

/// The integer that a function has returned at a place.
pub fn returned(frame: &Frame, place: u8) -> Option<i32> {
    let address = if place == NO { 0 } else { frame.argument(place) };
    // SAFETY: the function has written it.
    (address != 0).then(|| unsafe { *(address as *const i32) })
}
