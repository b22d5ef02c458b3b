//! The parameters of MPI functions, with the names of the MPI standard, for C and Fortran.

use functions::Array;

/// One parameter of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Whether the function of C gets an address.
    pub address: bool,
    /// The parameter with the number of elements, where it is an array of handles that the function is given.
    pub length: Option<&'static str>,
    /// Whether the address is that of one handle that the function is given.
    pub handle: bool,
    /// Bytes of an integer that the function of C gets (4: int; 8: MPI_Aint, MPI_Count, MPI_Offset); `None` for addresses,
    /// and for handles, in whose widths the MPIs differ.
    pub bytes: Option<u64>,
}

/// What a function of Fortran has behind the others.
pub(crate) const IERROR: Parameter =
    Parameter { name: "ierror", address: true, length: None, handle: false, bytes: None };

/// The parameters of a function by its name in C, or those of them that Fortran has, without `ierror`. `None`: it is no
/// function of the standard's.
pub fn parameters(function: &str, fortran: bool) -> Option<Vec<Parameter>> {
    let found = functions::find(function)?;
    let shown = |one: &&functions::Parameter| !fortran || one.in_fortran;
    Some(found.parameters.iter().filter(shown).map(parameter).collect())
}

fn parameter(one: &functions::Parameter) -> Parameter {
    let given = one.object().is_some_and(|object| one.gives(object));
    let length = match one.array {
        Some(Array::Counted(count)) if given => Some(count),
        _ => None,
    };
    Parameter {
        name: one.name,
        address: one.address,
        length,
        handle: given && one.address && one.array.is_none(),
        bytes: one.bytes.filter(|_| !one.address),
    }
}
