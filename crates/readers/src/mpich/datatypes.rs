//! Names and sizes of datatypes from their handles.

use std::collections::HashMap;
use std::sync::Arc;

use super::handle_value::{HandleValue, ObjectKind, Place};
use super::pools::Pools;
use super::shapes::Datatype;
use crate::record::Record;
use model::{Operation, Unwritten};
use target::{Target, printable};

/// What a datatype is, as far as its handle and object say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownDatatype {
    /// Its name, where it has one.
    pub name: Option<Arc<str>>,
    /// Bytes of data in one element.
    pub bytes: Option<u64>,
    /// Its handle, where it is one.
    pub value: Option<u32>,
}

impl KnownDatatype {
    /// Makes it the datatype of an operation.
    pub fn put_into(self, operation: &mut Operation) {
        operation.datatype = self.name.map(Into::into);
        operation.datatype_value = Unwritten(self.value);
    }
}

/// The predefined datatypes by the lowest byte of their handle, 0x4c00SSnn with SS the size (pmodels/mpich,
/// src/include/mpi.h.in, v3.4 to v5.0; v5.0 has its own types 0x4c8XSSnn in requests, with the same lowest byte:
/// src/mpi/datatype/typeutil.c).
const NAMES: &[(u8, &str)] = &[
    (0x01, "MPI_CHAR"),
    (0x02, "MPI_UNSIGNED_CHAR"),
    (0x03, "MPI_SHORT"),
    (0x04, "MPI_UNSIGNED_SHORT"),
    (0x05, "MPI_INT"),
    (0x06, "MPI_UNSIGNED"),
    (0x07, "MPI_LONG"),
    (0x08, "MPI_UNSIGNED_LONG"),
    (0x09, "MPI_LONG_LONG_INT"),
    (0x0a, "MPI_FLOAT"),
    (0x0b, "MPI_DOUBLE"),
    (0x0c, "MPI_LONG_DOUBLE"),
    (0x0d, "MPI_BYTE"),
    (0x0e, "MPI_WCHAR"),
    (0x0f, "MPI_PACKED"),
    (0x10, "MPI_LB"),
    (0x11, "MPI_UB"),
    (0x16, "MPI_2INT"),
    (0x18, "MPI_SIGNED_CHAR"),
    (0x19, "MPI_UNSIGNED_LONG_LONG"),
    (0x1a, "MPI_CHARACTER"),
    (0x1b, "MPI_INTEGER"),
    (0x1c, "MPI_REAL"),
    (0x1d, "MPI_LOGICAL"),
    (0x1e, "MPI_COMPLEX"),
    (0x1f, "MPI_DOUBLE_PRECISION"),
    (0x20, "MPI_2INTEGER"),
    (0x21, "MPI_2REAL"),
    (0x22, "MPI_DOUBLE_COMPLEX"),
    (0x23, "MPI_2DOUBLE_PRECISION"),
    (0x26, "MPI_REAL2"),
    (0x27, "MPI_REAL4"),
    (0x28, "MPI_COMPLEX8"),
    (0x29, "MPI_REAL8"),
    (0x2a, "MPI_COMPLEX16"),
    (0x2b, "MPI_REAL16"),
    (0x2c, "MPI_COMPLEX32"),
    (0x2d, "MPI_INTEGER1"),
    (0x2e, "MPI_COMPLEX4"),
    (0x2f, "MPI_INTEGER2"),
    (0x30, "MPI_INTEGER4"),
    (0x31, "MPI_INTEGER8"),
    (0x32, "MPI_INTEGER16"),
    (0x33, "MPI_CXX_BOOL"),
    (0x34, "MPI_CXX_FLOAT_COMPLEX"),
    (0x35, "MPI_CXX_DOUBLE_COMPLEX"),
    (0x36, "MPI_CXX_LONG_DOUBLE_COMPLEX"),
    (0x37, "MPI_INT8_T"),
    (0x38, "MPI_INT16_T"),
    (0x39, "MPI_INT32_T"),
    (0x3a, "MPI_INT64_T"),
    (0x3b, "MPI_UINT8_T"),
    (0x3c, "MPI_UINT16_T"),
    (0x3d, "MPI_UINT32_T"),
    (0x3e, "MPI_UINT64_T"),
    (0x3f, "MPI_C_BOOL"),
    (0x40, "MPI_C_FLOAT_COMPLEX"),
    (0x41, "MPI_C_DOUBLE_COMPLEX"),
    (0x42, "MPI_C_LONG_DOUBLE_COMPLEX"),
    (0x43, "MPI_AINT"),
    (0x44, "MPI_OFFSET"),
    (0x45, "MPI_COUNT"),
    (0x46, "MPIX_C_FLOAT16"),
    (0x47, "MPI_LOGICAL1"),
    (0x48, "MPI_LOGICAL2"),
    (0x49, "MPI_LOGICAL4"),
    (0x4a, "MPI_LOGICAL8"),
    (0x4b, "MPI_LOGICAL16"),
    (0x4c, "MPIX_BFLOAT16"),
];

/// The name of a predefined datatype, by its handle; `None` for one that is none.
pub fn predefined_name(handle: HandleValue) -> Option<&'static str> {
    if handle.kind() != Some(ObjectKind::Datatype) || handle.place() != Place::Builtin {
        return None;
    }
    let index = (handle.index() & 0xff) as u8;
    NAMES.iter().find(|(number, _)| *number == index).map(|(_, name)| *name)
}

/// Datatypes that were asked for, each read once.
pub struct Datatypes<'a> {
    target: &'a dyn Target,
    pools: &'a Pools,
    shape: &'a Datatype,
    known: HashMap<u32, KnownDatatype>,
}

/// Longest name in bytes (`MPI_MAX_OBJECT_NAME` is 128).
const MAX_NAME: usize = 256;

/// An application that has more datatypes in use than this is asked for the rest again and again.
const MAX_KNOWN: usize = 1 << 16;

impl<'a> Datatypes<'a> {
    /// None is known yet.
    pub fn new(target: &'a dyn Target, pools: &'a Pools, shape: &'a Datatype) -> Self {
        Self { target, pools, shape, known: HashMap::new() }
    }

    /// The datatype of a handle; nothing is known of what is no datatype.
    pub fn of(&mut self, handle: u32) -> KnownDatatype {
        if let Some(known) = self.known.get(&handle) {
            return known.clone();
        }
        let known = self.read(HandleValue(handle));
        if self.known.len() < MAX_KNOWN {
            self.known.insert(handle, known.clone());
        }
        known
    }

    fn read(&self, handle: HandleValue) -> KnownDatatype {
        if handle.kind() != Some(ObjectKind::Datatype) {
            return KnownDatatype::default();
        }
        match handle.place() {
            Place::Invalid => KnownDatatype::default(),
            // The size stands in the handle (MPIR_Datatype_get_basic_size, src/include/mpir_datatype.h).
            Place::Builtin => KnownDatatype {
                name: predefined_name(handle).map(Into::into),
                bytes: Some(u64::from(handle.index() >> 8 & 0xff)),
                value: Some(handle.0),
            },
            Place::Direct | Place::Indirect => self.object(handle).unwrap_or_default(),
        }
    }

    fn object(&self, handle: HandleValue) -> Option<KnownDatatype> {
        let at = self.pools.address_of(self.target, handle)?;
        let record = Record::owned(self.target, at, self.shape.size).ok()?;
        let name = record.text(self.shape.name, MAX_NAME, self.target).ok().filter(|name| !name.is_empty());
        Some(KnownDatatype {
            name: name.map(|name| printable(&name).into()),
            bytes: u64::try_from(record.int(self.shape.bytes)).ok(),
            value: Some(handle.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn predefined_names() {
        assert_eq!(predefined_name(HandleValue(0x4c00_0405)), Some("MPI_INT"));
        assert_eq!(predefined_name(HandleValue(0x4c83_080b)), Some("MPI_DOUBLE"));
        assert_eq!(predefined_name(HandleValue(0x4c00_10ff)), None);
        assert_eq!(predefined_name(HandleValue(0x8c00_0001)), None);
        assert_eq!(predefined_name(HandleValue(0x4400_0000)), None);
    }
}
