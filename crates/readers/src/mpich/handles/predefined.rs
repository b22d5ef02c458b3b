//! The handles that have names in mpi.h: pmodels/mpich, src/include/mpi.h.in (v3.4.3 to v5.0.1, where they are the same
//! numbers) and, for the ABI of MPI 5, src/binding/abi/mpi_abi.h (v5.0.1).

use super::super::datatypes::predefined_name;
use super::super::handle_value::{HandleValue, Place};
use model::HandleKind;

/// A named handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Predefined {
    /// Its kind.
    pub kind: HandleKind,
    /// Its value in the C interface of MPICH.
    pub value: u32,
    /// Its value in the ABI of MPI 5.
    pub abi: u32,
    /// Its name.
    pub name: &'static str,
}

const fn named(kind: HandleKind, value: u32, abi: u32, name: &'static str) -> Predefined {
    Predefined { kind, value, abi, name }
}

/// All but datatypes.
const NAMED: &[Predefined] = &[
    named(HandleKind::Comm, 0x0400_0000, 0x100, "MPI_COMM_NULL"),
    named(HandleKind::Comm, 0x4400_0000, 0x101, "MPI_COMM_WORLD"),
    named(HandleKind::Comm, 0x4400_0001, 0x102, "MPI_COMM_SELF"),
    named(HandleKind::Datatype, 0x0c00_0000, 0x200, "MPI_DATATYPE_NULL"),
    named(HandleKind::Errhandler, 0x1400_0000, 0x140, "MPI_ERRHANDLER_NULL"),
    named(HandleKind::Errhandler, 0x5400_0000, 0x141, "MPI_ERRORS_ARE_FATAL"),
    named(HandleKind::Errhandler, 0x5400_0001, 0x143, "MPI_ERRORS_RETURN"),
    // Since 4.0; until then the number is no error handler's.
    named(HandleKind::Errhandler, 0x5400_0003, 0x142, ERRORS_ABORT),
    named(HandleKind::File, 0, 0x118, "MPI_FILE_NULL"),
    named(HandleKind::Group, 0x0800_0000, 0x108, "MPI_GROUP_NULL"),
    named(HandleKind::Group, 0x4800_0000, 0x109, "MPI_GROUP_EMPTY"),
    named(HandleKind::Info, 0x1c00_0000, 0x130, "MPI_INFO_NULL"),
    named(HandleKind::Info, 0x5c00_0001, 0x131, "MPI_INFO_ENV"),
    named(HandleKind::Message, 0x2c00_0000, 0x128, "MPI_MESSAGE_NULL"),
    named(HandleKind::Message, 0x6c00_0000, 0x129, "MPI_MESSAGE_NO_PROC"),
    named(HandleKind::Op, 0x1800_0000, 0x20, "MPI_OP_NULL"),
    named(HandleKind::Op, 0x5800_0001, 0x23, "MPI_MAX"),
    named(HandleKind::Op, 0x5800_0002, 0x22, "MPI_MIN"),
    named(HandleKind::Op, 0x5800_0003, 0x21, "MPI_SUM"),
    named(HandleKind::Op, 0x5800_0004, 0x24, "MPI_PROD"),
    named(HandleKind::Op, 0x5800_0005, 0x30, "MPI_LAND"),
    named(HandleKind::Op, 0x5800_0006, 0x28, "MPI_BAND"),
    named(HandleKind::Op, 0x5800_0007, 0x31, "MPI_LOR"),
    named(HandleKind::Op, 0x5800_0008, 0x29, "MPI_BOR"),
    named(HandleKind::Op, 0x5800_0009, 0x32, "MPI_LXOR"),
    named(HandleKind::Op, 0x5800_000a, 0x2a, "MPI_BXOR"),
    named(HandleKind::Op, 0x5800_000b, 0x38, "MPI_MINLOC"),
    named(HandleKind::Op, 0x5800_000c, 0x39, "MPI_MAXLOC"),
    named(HandleKind::Op, 0x5800_000d, 0x3c, "MPI_REPLACE"),
    named(HandleKind::Op, 0x5800_000e, 0x3d, "MPI_NO_OP"),
    named(HandleKind::Request, 0x2c00_0000, 0x180, "MPI_REQUEST_NULL"),
    named(HandleKind::Session, 0x3800_0000, 0x120, "MPI_SESSION_NULL"),
    named(HandleKind::Win, 0x2000_0000, 0x110, "MPI_WIN_NULL"),
];

/// The only name that a release of those read here lacks.
pub const ERRORS_ABORT: &str = "MPI_ERRORS_ABORT";

/// The values that predefined datatypes have in the ABI of MPI 5, by the lowest byte of their handles in MPICH's C
/// interface; what the bytes stand for: `datatypes::predefined_name`.
const DATATYPES: &[(u32, u32)] = &[
    (0x01, 0x243),
    (0x02, 0x245),
    (0x03, 0x208),
    (0x04, 0x20c),
    (0x05, 0x209),
    (0x06, 0x20d),
    (0x07, 0x20a),
    (0x08, 0x20e),
    (0x09, 0x20b),
    (0x0a, 0x210),
    (0x0b, 0x214),
    (0x0c, 0x220),
    (0x0d, 0x247),
    (0x0e, 0x23c),
    (0x0f, 0x207),
    (0x16, 0x22b),
    (0x18, 0x244),
    (0x19, 0x20f),
    (0x1a, 0x21e),
    (0x1b, 0x219),
    (0x1c, 0x21a),
    (0x1d, 0x218),
    (0x1e, 0x21b),
    (0x1f, 0x21c),
    (0x20, 0x232),
    (0x21, 0x230),
    (0x22, 0x21d),
    (0x23, 0x231),
    (0x26, 0x2ca),
    (0x27, 0x2d2),
    (0x28, 0x2db),
    (0x29, 0x2da),
    (0x2a, 0x2e3),
    (0x2b, 0x2e2),
    (0x2c, 0x2eb),
    (0x2d, 0x2c1),
    (0x2e, 0x2d3),
    (0x2f, 0x2c9),
    (0x30, 0x2d1),
    (0x31, 0x2d9),
    (0x32, 0x2e1),
    (0x33, 0x239),
    (0x34, 0x213),
    (0x35, 0x217),
    (0x36, 0x225),
    (0x37, 0x240),
    (0x38, 0x248),
    (0x39, 0x250),
    (0x3a, 0x258),
    (0x3b, 0x241),
    (0x3c, 0x249),
    (0x3d, 0x251),
    (0x3e, 0x259),
    (0x3f, 0x238),
    (0x40, 0x212),
    (0x41, 0x216),
    (0x42, 0x224),
    (0x43, 0x201),
    (0x44, 0x203),
    (0x45, 0x202),
    (0x47, 0x2c0),
    (0x48, 0x2c8),
    (0x49, 0x2d0),
    (0x4a, 0x2d8),
    (0x4b, 0x2e0),
];

/// Pairs of numbers whose structure has gaps: the first objects of the pool of datatypes.
const PAIRS: &[(u32, u32, &str)] = &[
    (0, 0x228, "MPI_FLOAT_INT"),
    (1, 0x229, "MPI_DOUBLE_INT"),
    (2, 0x22a, "MPI_LONG_INT"),
    (3, 0x22c, "MPI_SHORT_INT"),
    (4, 0x22d, "MPI_LONG_DOUBLE_INT"),
];

const FIRST_DATATYPE: u32 = 0x4c00_0000;
const FIRST_PAIR: u32 = 0x8c00_0000;

/// The named handle of that value; not of predefined datatypes.
pub fn by_value(kind: HandleKind, value: HandleValue) -> Option<&'static Predefined> {
    NAMED.iter().find(|named| named.kind == kind && named.value == value.0)
}

/// The named handle that the ABI of MPI 5 has for a number; not of predefined datatypes.
pub fn by_abi(kind: HandleKind, abi: u64) -> Option<&'static Predefined> {
    NAMED.iter().find(|named| named.kind == kind && u64::from(named.abi) == abi)
}

/// The name of a predefined datatype.
pub fn datatype_name(value: HandleValue) -> Option<&'static str> {
    predefined_name(value).or_else(|| pair(value).map(|entry| entry.2))
}

/// The number that the ABI of MPI 5 has for a predefined datatype.
pub fn datatype_abi(value: HandleValue) -> Option<u32> {
    if let Some(entry) = pair(value) {
        return Some(entry.1);
    }
    if value.0 & 0xffff_0000 != FIRST_DATATYPE {
        return None;
    }
    DATATYPES.iter().find(|entry| entry.0 == value.0 & 0xff).map(|entry| entry.1)
}

/// The handle, without its size, of the predefined datatype that the ABI of MPI 5 has for a number.
pub fn datatype_of_abi(abi: u64) -> Option<HandleValue> {
    let plain = DATATYPES.iter().find(|entry| u64::from(entry.1) == abi).map(|entry| FIRST_DATATYPE | entry.0);
    let pair = || PAIRS.iter().find(|entry| u64::from(entry.1) == abi).map(|entry| FIRST_PAIR | entry.0);
    plain.or_else(pair).map(HandleValue)
}

fn pair(value: HandleValue) -> Option<&'static (u32, u32, &'static str)> {
    let index = value.0.checked_sub(FIRST_PAIR)?;
    PAIRS.iter().find(|entry| entry.0 == index)
}

/// The name of the predefined handle of that value, whatever its kind.
pub fn name_of(value: HandleValue) -> Option<&'static str> {
    // The null request, which stands last, is better known than the null message of the same number.
    NAMED.iter().rfind(|named| named.value == value.0).map(|named| named.name).or_else(|| datatype_name(value))
}

/// The name of the handle that the ABI of MPI 5 has for a number, whatever its kind.
pub fn name_of_abi(abi: u64) -> Option<&'static str> {
    let named = NAMED.iter().find(|named| u64::from(named.abi) == abi).map(|named| named.name);
    named.or_else(|| datatype_of_abi(abi).and_then(datatype_name))
}

/// The handle of a name; not of predefined datatypes.
pub fn by_name(name: &str) -> Option<&'static Predefined> {
    NAMED.iter().find(|named| named.name == name)
}

/// The named handles of a kind that stand for objects; not predefined datatypes.
pub fn objects(kind: HandleKind) -> impl Iterator<Item = HandleValue> {
    NAMED
        .iter()
        .filter(move |named| named.kind == kind)
        .map(|named| HandleValue(named.value))
        .filter(|value| value.place() != Place::Invalid)
}
