//! The datatypes and operators that mpi.h of Open MPI defines: variables of its library in C, small numbers in Fortran
//! (open-mpi/ompi, ompi/include/mpi.h.in and mpif-values.pl, v4.1.4; the same in v5.0).

use std::borrow::Cow;

/// Operators: the number in Fortran, and the name. The variable is called `ompi_mpi_op_` and the rest of the name.
const OPS: &[(u32, &str)] = &[
    (1, "MPI_MAX"),
    (2, "MPI_MIN"),
    (3, "MPI_SUM"),
    (4, "MPI_PROD"),
    (5, "MPI_LAND"),
    (6, "MPI_BAND"),
    (7, "MPI_LOR"),
    (8, "MPI_BOR"),
    (9, "MPI_LXOR"),
    (10, "MPI_BXOR"),
    (11, "MPI_MAXLOC"),
    (12, "MPI_MINLOC"),
    (13, "MPI_REPLACE"),
    (14, "MPI_NO_OP"),
];

/// Datatypes: the number in Fortran, the name, and the variable, where it is not `ompi_` and the name.
const DATATYPES: &[(u32, &str, Option<&str>)] = &[
    (1, "MPI_BYTE", None),
    (2, "MPI_PACKED", None),
    (5, "MPI_CHARACTER", None),
    (6, "MPI_LOGICAL", None),
    (7, "MPI_INTEGER", None),
    (8, "MPI_INTEGER1", None),
    (9, "MPI_INTEGER2", None),
    (10, "MPI_INTEGER4", None),
    (11, "MPI_INTEGER8", None),
    (12, "MPI_INTEGER16", None),
    (13, "MPI_REAL", None),
    (14, "MPI_REAL4", None),
    (15, "MPI_REAL8", None),
    (16, "MPI_REAL16", None),
    (17, "MPI_DOUBLE_PRECISION", Some("ompi_mpi_dblprec")),
    (18, "MPI_COMPLEX", Some("ompi_mpi_cplex")),
    (19, "MPI_COMPLEX8", None),
    (20, "MPI_COMPLEX16", None),
    (21, "MPI_COMPLEX32", None),
    (22, "MPI_DOUBLE_COMPLEX", Some("ompi_mpi_dblcplex")),
    (23, "MPI_2REAL", None),
    (24, "MPI_2DOUBLE_PRECISION", Some("ompi_mpi_2dblprec")),
    (25, "MPI_2INTEGER", None),
    (26, "MPI_2COMPLEX", Some("ompi_mpi_2cplex")),
    (27, "MPI_2DOUBLE_COMPLEX", Some("ompi_mpi_2dblcplex")),
    (29, "MPI_LOGICAL1", None),
    (30, "MPI_LOGICAL2", None),
    (31, "MPI_LOGICAL4", None),
    (32, "MPI_LOGICAL8", None),
    (33, "MPI_WCHAR", None),
    (34, "MPI_CHAR", None),
    (35, "MPI_UNSIGNED_CHAR", None),
    (36, "MPI_SIGNED_CHAR", None),
    (37, "MPI_SHORT", None),
    (38, "MPI_UNSIGNED_SHORT", None),
    (39, "MPI_INT", None),
    (40, "MPI_UNSIGNED", None),
    (41, "MPI_LONG", None),
    (42, "MPI_UNSIGNED_LONG", None),
    (43, "MPI_LONG_LONG_INT", None),
    (44, "MPI_UNSIGNED_LONG_LONG", None),
    (45, "MPI_FLOAT", None),
    (46, "MPI_DOUBLE", None),
    (47, "MPI_LONG_DOUBLE", None),
    (48, "MPI_FLOAT_INT", None),
    (49, "MPI_DOUBLE_INT", None),
    (50, "MPI_LONG_DOUBLE_INT", Some("ompi_mpi_longdbl_int")),
    (51, "MPI_LONG_INT", None),
    (52, "MPI_2INT", None),
    (53, "MPI_SHORT_INT", None),
    (54, "MPI_CXX_BOOL", None),
    (55, "MPI_CXX_COMPLEX", Some("ompi_mpi_cxx_cplex")),
    (56, "MPI_CXX_DOUBLE_COMPLEX", Some("ompi_mpi_cxx_dblcplex")),
    (57, "MPI_CXX_LONG_DOUBLE_COMPLEX", Some("ompi_mpi_cxx_ldblcplex")),
    (58, "MPI_INT8_T", None),
    (59, "MPI_UINT8_T", None),
    (60, "MPI_INT16_T", None),
    (61, "MPI_UINT16_T", None),
    (62, "MPI_INT32_T", None),
    (63, "MPI_UINT32_T", None),
    (64, "MPI_INT64_T", None),
    (65, "MPI_UINT64_T", None),
    (66, "MPI_AINT", None),
    (67, "MPI_OFFSET", None),
    (68, "MPI_C_BOOL", None),
    (69, "MPI_C_COMPLEX", Some("ompi_mpi_c_float_complex")),
    (70, "MPI_C_DOUBLE_COMPLEX", None),
    (71, "MPI_C_LONG_DOUBLE_COMPLEX", None),
    (72, "MPI_COUNT", None),
];

/// The name of a datatype, by its number in Fortran.
pub fn datatype_in_fortran(number: u64) -> Option<&'static str> {
    DATATYPES.iter().find(|entry| u64::from(entry.0) == number).map(|entry| entry.1)
}

/// The name of an operator, by its number in Fortran.
pub fn op_in_fortran(number: u64) -> Option<&'static str> {
    OPS.iter().find(|entry| u64::from(entry.0) == number).map(|entry| entry.1)
}

/// All names, with the variables whose addresses they are in C.
pub fn variables() -> impl Iterator<Item = (&'static str, Cow<'static, str>)> {
    let usual = |start: &str, name: &str| Cow::Owned(format!("{start}{}", name.to_ascii_lowercase()));
    let ops = OPS.iter().map(move |(_, name)| (*name, usual("ompi_mpi_op_", name.trim_start_matches("MPI_"))));
    let datatypes = DATATYPES
        .iter()
        .map(move |(_, name, variable)| (*name, variable.map_or_else(|| usual("ompi_", name), Cow::Borrowed)));
    ops.chain(datatypes)
}
