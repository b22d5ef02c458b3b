//! Constants of MPI that applications name in calls; their values differ between the MPIs.

/// Which MPI's constants a program has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    /// Open MPI: ompi/include/mpi.h.in of v4.1.4 (the same in v5.0).
    OpenMpi,
    /// MPICH: src/include/mpi.h.in of v4.0.2 (the same in what is derived from it).
    Mpich,
    /// The ABI of MPI 5: src/binding/abi/mpi_abi.h of MPICH v5.0.1.
    Abi,
}

/// Ranks by the constants of MPI.
type Ranks = [(&'static str, i128); 3];

/// The address of a symbol of the program; `None` where it has none of that name, an error where that cannot be asked.
pub type Symbol<'s, E> = &'s dyn Fn(&str) -> Result<Option<i128>, E>;

const RANKS_OPENMPI: Ranks = [("MPI_ANY_SOURCE", -1), ("MPI_PROC_NULL", -2), ("MPI_ROOT", -4)];
const RANKS_MPICH: Ranks = [("MPI_ANY_SOURCE", -2), ("MPI_PROC_NULL", -1), ("MPI_ROOT", -3)];
const RANKS_ABI: Ranks = [("MPI_ANY_SOURCE", -1), ("MPI_PROC_NULL", -3), ("MPI_ROOT", -4)];

const ANY_TAG: &str = "MPI_ANY_TAG";

const RANK_PARAMETERS: [&str; 7] = ["source", "dest", "root", "rank", "target_rank", "local_leader", "remote_leader"];
const TAG_PARAMETERS: [&str; 3] = ["tag", "sendtag", "recvtag"];

impl Family {
    /// The MPI of a program, by symbols of its library; `libraries` are the names of all that are loaded. `None` where that
    /// is not known.
    ///
    /// A variable of mpi.h, which all that keep MPICH's ABI export whatever was stripped, tells MPICH (src/include/mpi.h.in,
    /// `MPI_UNWEIGHTED`); the version that older ones export is not there since 4.3.
    ///
    /// # Errors
    /// Those of `symbol`.
    pub fn of<E>(symbol: Symbol<'_, E>, libraries: &str) -> Result<Option<Self>, E> {
        if libraries.contains("libmpi_abi") {
            return Ok(Some(Self::Abi));
        }
        if symbol("ompi_mpi_comm_world")?.is_some() {
            return Ok(Some(Self::OpenMpi));
        }
        Ok(symbol("MPI_UNWEIGHTED")?.map(|_| Self::Mpich))
    }

    /// By its word: `openmpi`, `mpich`, `abi`.
    pub fn named(word: &str) -> Option<Self> {
        [Self::OpenMpi, Self::Mpich, Self::Abi].into_iter().find(|family| family.word() == word)
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::OpenMpi => "openmpi",
            Self::Mpich => "mpich",
            Self::Abi => "abi",
        }
    }

    /// The bytes of a handle of C.
    pub fn handle_bytes(self) -> u64 {
        if self == Self::Mpich { 4 } else { 8 }
    }

    fn ranks(self) -> &'static Ranks {
        match self {
            Self::OpenMpi => &RANKS_OPENMPI,
            Self::Mpich => &RANKS_MPICH,
            Self::Abi => &RANKS_ABI,
        }
    }

    /// MPI_ANY_SOURCE.
    pub fn any_source(self) -> i128 {
        self.ranks()[0].1
    }

    /// MPI_PROC_NULL.
    pub fn proc_null(self) -> i128 {
        self.ranks()[1].1
    }

    /// MPI_ANY_TAG.
    pub fn any_tag(self) -> i128 {
        if self == Self::Abi { -2 } else { -1 }
    }

    /// The number or handle that a constant is, `None` where it is not known here.
    ///
    /// # Errors
    /// Those of `symbol`.
    pub fn value<E>(self, constant: &str, fortran: bool, symbol: Symbol<'_, E>) -> Result<Option<i128>, E> {
        if let Some((_, rank)) = self.ranks().iter().find(|(name, _)| *name == constant) {
            return Ok(Some(*rank));
        }
        if constant == ANY_TAG {
            return Ok(Some(self.any_tag()));
        }
        if constant == "MPI_UNDEFINED" {
            // The same in all of them.
            return Ok(Some(-32766));
        }
        match self {
            Self::OpenMpi if fortran => Ok(index(constant)),
            Self::OpenMpi => variable(constant).map_or(Ok(None), symbol),
            // In MPICH those of Fortran are the same.
            Self::Mpich => Ok(number(constant, [0x4400_0000, 0x4400_0001, 0x0400_0000, 0x2C00_0000])),
            Self::Abi => Ok(number(constant, [0x101, 0x102, 0x100, 0x180])),
        }
    }

    /// What a number is called that was given as a rank or tag.
    pub fn meaning(self, parameter: &str, value: i128) -> Option<&'static str> {
        if TAG_PARAMETERS.contains(&parameter) && value == self.any_tag() {
            return Some(ANY_TAG);
        }
        let is_rank = RANK_PARAMETERS.contains(&parameter);
        let known = self.ranks().iter().find(|(_, number)| is_rank && *number == value);
        known.map(|(name, _)| *name)
    }
}

/// Handles whose values are known here.
const HANDLES: [&str; 4] = ["MPI_COMM_WORLD", "MPI_COMM_SELF", "MPI_COMM_NULL", "MPI_REQUEST_NULL"];

fn number(constant: &str, numbers: [i128; 4]) -> Option<i128> {
    HANDLES.iter().zip(numbers).find(|(name, _)| **name == constant).map(|(_, number)| number)
}

/// Handles of Open MPI are indices in Fortran (mpif-values.pl).
fn index(constant: &str) -> Option<i128> {
    number(constant, [0, 1, 2, 0])
}

/// Handles of Open MPI are addresses of these in C (ompi/include/mpi.h.in).
fn variable(constant: &str) -> Option<&'static str> {
    let variables = ["ompi_mpi_comm_world", "ompi_mpi_comm_self", "ompi_mpi_comm_null", "ompi_request_null"];
    HANDLES.iter().zip(variables).find(|(name, _)| **name == constant).map(|(_, variable)| variable)
}

/// Whether a word is a name of a constant that mpi.h defines; functions and types of MPI have small letters after the first.
pub fn is_constant(word: &str) -> bool {
    let rest = word.strip_prefix("MPI_").or_else(|| word.strip_prefix("MPIX_"));
    let is_part = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    rest.is_some_and(|rest| !rest.is_empty() && rest.chars().all(is_part))
}
