//! Predefined datatypes that go together.

/// What the elements of predefined datatypes are, with their sizes where these do not depend on the machine; names of C and
/// Fortran for the same thing are equal. Derived datatypes and those that match others (MPI_PACKED, and MPI_BYTE, which
/// programs send for anything) are none.
const ELEMENTS: &[(&str, &str)] = &[
    ("MPI_CHAR", "character"),
    ("MPI_SIGNED_CHAR", "character"),
    ("MPI_UNSIGNED_CHAR", "character"),
    ("MPI_CHARACTER", "character"),
    ("MPI_SHORT", "short integer"),
    ("MPI_INT16_T", "short integer"),
    ("MPI_INT", "integer"),
    ("MPI_INTEGER", "integer"),
    ("MPI_INTEGER4", "integer"),
    ("MPI_INT32_T", "integer"),
    ("MPI_UNSIGNED", "integer"),
    ("MPI_UINT32_T", "integer"),
    ("MPI_LONG", "long integer"),
    ("MPI_UNSIGNED_LONG", "long integer"),
    ("MPI_LONG_LONG", "long integer"),
    ("MPI_LONG_LONG_INT", "long integer"),
    ("MPI_UNSIGNED_LONG_LONG", "long integer"),
    ("MPI_INT64_T", "long integer"),
    ("MPI_UINT64_T", "long integer"),
    ("MPI_INTEGER8", "long integer"),
    ("MPI_AINT", "long integer"),
    ("MPI_COUNT", "long integer"),
    ("MPI_OFFSET", "long integer"),
    ("MPI_FLOAT", "float"),
    ("MPI_REAL", "float"),
    ("MPI_REAL4", "float"),
    ("MPI_DOUBLE", "double"),
    ("MPI_DOUBLE_PRECISION", "double"),
    ("MPI_REAL8", "double"),
    ("MPI_LONG_DOUBLE", "long double"),
    ("MPI_COMPLEX", "complex"),
    ("MPI_C_COMPLEX", "complex"),
    ("MPI_C_FLOAT_COMPLEX", "complex"),
    ("MPI_DOUBLE_COMPLEX", "double complex"),
    ("MPI_C_DOUBLE_COMPLEX", "double complex"),
];

/// What its elements are; `None` where that is not known, or they match others.
pub fn element(datatype: Option<&str>) -> Option<&'static str> {
    ELEMENTS.iter().find(|(name, _)| Some(*name) == datatype).map(|(_, element)| *element)
}

/// The bytes of one, where these do not depend on the machine (those of 64 bits are alike); `None` where that is not known.
pub fn bytes(datatype: &str) -> Option<i64> {
    Some(match (element(Some(datatype)), datatype) {
        (Some("character"), _) | (None, "MPI_BYTE" | "MPI_INT8_T" | "MPI_UINT8_T") => 1,
        (Some("short integer"), _) => 2,
        (Some("integer" | "float"), _) => 4,
        (Some("long integer" | "double" | "complex"), _) => 8,
        (Some("double complex"), _) => 16,
        _ => return None,
    })
}
