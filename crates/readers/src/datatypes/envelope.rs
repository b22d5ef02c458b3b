//! How a datatype was made: its combiner and the arguments, as MPI_Type_get_contents gives them.

use super::large_counts;
use crate::ReaderError;
use target::address::TargetAddr;

/// No call has more arguments of a sort than this (1 Mi).
const MAX_ARGUMENTS: i64 = 1 << 20;

/// The numbers of mpi.h that arguments have; they are a part of the library's binary interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// `MPI_ORDER_C`; what is not it is Fortran's order.
    pub order_c: i64,
    /// `MPI_DISTRIBUTE_BLOCK`
    pub block: i64,
    /// `MPI_DISTRIBUTE_CYCLIC`; what is neither is not distributed.
    pub cyclic: i64,
    /// `MPI_DISTRIBUTE_DFLT_DARG`
    pub default_argument: i64,
}

/// What a library keeps of a call, each sort of arguments in the order of the call, or the first of them.
#[derive(Debug, Clone, Default)]
pub struct Kept {
    /// Where that stands, for sentences about it.
    pub at: TargetAddr,
    /// The number of the combiner.
    pub combiner: i64,
    /// Arguments of the type int.
    pub integers: Vec<i64>,
    /// Arguments of the type MPI_Aint.
    pub addresses: Vec<i64>,
    /// Arguments of the type MPI_Count, of a function with large counts.
    pub counts: Vec<i64>,
    /// Datatypes.
    pub datatypes: Vec<TargetAddr>,
    /// How many integers, addresses and datatypes there are in all.
    pub lens: [usize; 3],
    /// How many counts there are in all.
    pub counts_len: usize,
}

/// Lengths of arrays of arguments as a library keeps them.
///
/// # Errors
/// Where one cannot be: `at` is where they stand.
pub fn lengths<const N: usize>(at: TargetAddr, kept: [i64; N]) -> Result<[usize; N], ReaderError> {
    if kept.iter().any(|len| !(0..=MAX_ARGUMENTS).contains(len)) {
        let lens: Vec<String> = kept.iter().map(ToString::to_string).collect();
        let what = format!("the datatype's arguments at {at} have the lengths {}", lens.join(", "));
        return Err(ReaderError::Damaged(what));
    }
    Ok(kept.map(|len| len as usize))
}

/// The combiners of the MPI standard that the library can tell apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Combiner {
    Named,
    Dup,
    Contiguous,
    Vector,
    Hvector,
    Indexed,
    Hindexed,
    IndexedBlock,
    HindexedBlock,
    Struct,
    Subarray,
    Darray,
    Resized,
    F90Real,
    F90Complex,
    F90Integer,
    ValueIndex,
}

/// Where an argument stands among the integers, addresses and datatypes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The next integer.
    Integer,
    /// The next integers, as many as the integer with this index says.
    Integers(usize),
    /// The next integer: the order of an array's dimensions.
    Order,
    /// As `Integers`: how dimensions are distributed.
    Distributions(usize),
    /// As `Integers`: arguments of distributions.
    DistributionArguments(usize),
    /// The next address.
    Address,
    /// All addresses.
    Addresses,
    /// The next datatype.
    Datatype,
    /// All datatypes.
    Datatypes,
}

use Kind::{Address, Addresses, Datatype, Datatypes, DistributionArguments, Distributions, Integer, Integers, Order};

/// Each combiner: its constant, the function that it stands for, and the function's arguments by their names in the standard
/// (MPI-4.1, 5.1.2 and 5.1.13; MPICH has the last since 4.1). Open MPI's functions of MPI-1 call those of MPI-2 and so have the same combiners
/// (ompi/mpi/c/type_hvector.c, v4.1.4).
type Line = (Combiner, &'static str, &'static str, Arguments);
type Arguments = &'static [(&'static str, Kind)];

const HVECTOR: Arguments = &[("count", Integer), ("blocklength", Integer), ("stride", Address), ("oldtype", Datatype)];
const HINDEXED: Arguments = &[
    ("count", Integer),
    ("array_of_blocklengths", Integers(0)),
    ("array_of_displacements", Addresses),
    ("oldtype", Datatype),
];
const INDEXED_BLOCK: Arguments =
    &[("count", Integer), ("blocklength", Integer), ("array_of_displacements", Integers(0)), ("oldtype", Datatype)];
const STRUCT: Arguments = &[
    ("count", Integer),
    ("array_of_blocklengths", Integers(0)),
    ("array_of_displacements", Addresses),
    ("array_of_types", Datatypes),
];
const SUBARRAY: Arguments = &[
    ("ndims", Integer),
    ("array_of_sizes", Integers(0)),
    ("array_of_subsizes", Integers(0)),
    ("array_of_starts", Integers(0)),
    ("order", Order),
    ("oldtype", Datatype),
];
const DARRAY: Arguments = &[
    ("size", Integer),
    ("rank", Integer),
    ("ndims", Integer),
    ("array_of_gsizes", Integers(2)),
    ("array_of_distribs", Distributions(2)),
    ("array_of_dargs", DistributionArguments(2)),
    ("array_of_psizes", Integers(2)),
    ("order", Order),
    ("oldtype", Datatype),
];
const PRECISION: Arguments = &[("p", Integer), ("r", Integer)];
const VECTOR: Arguments = &[("count", Integer), ("blocklength", Integer), ("stride", Integer), ("oldtype", Datatype)];
const INDEXED: Arguments = &[
    ("count", Integer),
    ("array_of_blocklengths", Integers(0)),
    ("array_of_displacements", Integers(0)),
    ("oldtype", Datatype),
];
const HINDEXED_BLOCK: Arguments =
    &[("count", Integer), ("blocklength", Integer), ("array_of_displacements", Addresses), ("oldtype", Datatype)];
const CONTIGUOUS: Arguments = &[("count", Integer), ("oldtype", Datatype)];
const VALUE_INDEX: Arguments = &[("value_type", Datatype), ("index_type", Datatype)];
const RESIZED: Arguments = &[("oldtype", Datatype), ("lb", Address), ("extent", Address)];

const COMBINERS: &[Line] = &[
    (Combiner::Named, "MPI_COMBINER_NAMED", "", &[]),
    (Combiner::Dup, "MPI_COMBINER_DUP", "MPI_Type_dup", &[("oldtype", Datatype)]),
    (Combiner::Contiguous, "MPI_COMBINER_CONTIGUOUS", "MPI_Type_contiguous", CONTIGUOUS),
    (Combiner::Vector, "MPI_COMBINER_VECTOR", "MPI_Type_vector", VECTOR),
    (Combiner::Hvector, "MPI_COMBINER_HVECTOR", "MPI_Type_create_hvector", HVECTOR),
    (Combiner::Hvector, "MPI_COMBINER_HVECTOR_INTEGER", "MPI_TYPE_HVECTOR", HVECTOR),
    (Combiner::Indexed, "MPI_COMBINER_INDEXED", "MPI_Type_indexed", INDEXED),
    (Combiner::Hindexed, "MPI_COMBINER_HINDEXED", "MPI_Type_create_hindexed", HINDEXED),
    (Combiner::Hindexed, "MPI_COMBINER_HINDEXED_INTEGER", "MPI_TYPE_HINDEXED", HINDEXED),
    (Combiner::IndexedBlock, "MPI_COMBINER_INDEXED_BLOCK", "MPI_Type_create_indexed_block", INDEXED_BLOCK),
    (Combiner::HindexedBlock, "MPI_COMBINER_HINDEXED_BLOCK", "MPI_Type_create_hindexed_block", HINDEXED_BLOCK),
    (Combiner::Struct, "MPI_COMBINER_STRUCT", "MPI_Type_create_struct", STRUCT),
    (Combiner::Struct, "MPI_COMBINER_STRUCT_INTEGER", "MPI_TYPE_STRUCT", STRUCT),
    (Combiner::Subarray, "MPI_COMBINER_SUBARRAY", "MPI_Type_create_subarray", SUBARRAY),
    (Combiner::Darray, "MPI_COMBINER_DARRAY", "MPI_Type_create_darray", DARRAY),
    (Combiner::Resized, "MPI_COMBINER_RESIZED", "MPI_Type_create_resized", RESIZED),
    (Combiner::F90Real, "MPI_COMBINER_F90_REAL", "MPI_Type_create_f90_real", PRECISION),
    (Combiner::F90Complex, "MPI_COMBINER_F90_COMPLEX", "MPI_Type_create_f90_complex", PRECISION),
    (Combiner::F90Integer, "MPI_COMBINER_F90_INTEGER", "MPI_Type_create_f90_integer", &[("r", Integer)]),
    (Combiner::ValueIndex, "MPI_COMBINER_VALUE_INDEX", "MPI_Type_get_value_index", VALUE_INDEX),
];

/// The value of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Argument<'e> {
    /// A number.
    Number(i64),
    /// Numbers.
    Numbers(&'e [i64]),
    /// A datatype.
    Type(TargetAddr),
    /// Datatypes.
    Types(&'e [TargetAddr]),
}

/// The call that made a datatype.
#[derive(Debug, Clone)]
pub struct Envelope {
    line: &'static Line,
    /// The integers.
    pub integers: Vec<i64>,
    /// The addresses.
    pub addresses: Vec<i64>,
    /// The datatypes.
    pub datatypes: Vec<TargetAddr>,
    /// How many integers, addresses and datatypes there are, where fewer were read.
    pub lens: [usize; 3],
    /// What the numbers among the arguments mean.
    pub numbers: Numbers,
}

impl Envelope {
    /// The envelope of a predefined datatype, which no call made.
    pub const fn named() -> Self {
        Self {
            line: &COMBINERS[0],
            integers: Vec::new(),
            addresses: Vec::new(),
            datatypes: Vec::new(),
            lens: [0; 3],
            numbers: Numbers { order_c: 0, block: 0, cyclic: 1, default_argument: -1 },
        }
    }

    /// The envelope of a call of which a library keeps this; `constant` gives the numbers of combiners.
    ///
    /// # Errors
    /// Where it cannot be that of any call.
    pub fn new(kept: Kept, numbers: Numbers, constant: impl Fn(&str) -> Option<i64>) -> Result<Self, ReaderError> {
        let Kept { at, combiner, integers, addresses, counts, datatypes, lens, counts_len } = kept;
        let damaged = |what: String| ReaderError::Damaged(format!("the datatype's arguments at {at} {what}"));
        let line = COMBINERS.iter().find(|line| constant(line.1) == Some(combiner));
        let line = line.ok_or_else(|| damaged(format!("have the combiner {combiner}, which is not known")))?;
        let mut envelope = Self { line, integers, addresses, datatypes, lens, numbers };
        if counts_len > 0 {
            let (integers, addresses) = large_counts::in_order_of_call(line.0, line.3, &envelope.integers, &counts);
            (envelope.integers, envelope.addresses) = (integers, addresses);
            let whole = envelope.expected();
            let whole = whole.filter(|whole| whole[0] + whole[1] == lens[0] + counts_len && whole[2] == lens[2]);
            envelope.lens = whole.filter(|_| lens[1] == 0).ok_or_else(|| damaged(format!("do not fit {}", line.1)))?;
            return Ok(envelope);
        }
        if envelope.expected() != Some(lens) {
            return Err(damaged(format!("do not fit {}", line.1)));
        }
        Ok(envelope)
    }

    /// How many integers, addresses and datatypes the combiner's call has; `None` for a count that cannot be.
    fn expected(&self) -> Option<[usize; 3]> {
        let mut lens = [0_usize; 3];
        let len_at = |index: usize| self.integers.get(index).and_then(|len| usize::try_from(*len).ok());
        for (_, kind) in self.line.3 {
            match *kind {
                Integer | Order => lens[0] += 1,
                Integers(len) | Distributions(len) | DistributionArguments(len) => {
                    lens[0] = lens[0].checked_add(len_at(len)?)?;
                }
                Address => lens[1] += 1,
                // Whatever has an address for each block begins with the number of blocks.
                Addresses => lens[1] = len_at(0)?,
                Datatype => lens[2] += 1,
                Datatypes => lens[2] = len_at(0)?,
            }
        }
        Some(lens)
    }

    /// The combiner.
    pub const fn combiner(&self) -> Combiner {
        self.line.0
    }

    /// The combiner's name in the standard.
    pub const fn combiner_name(&self) -> &'static str {
        self.line.1
    }

    /// The function that made the datatype; empty for a predefined one.
    pub const fn call(&self) -> &'static str {
        self.line.2
    }

    /// Whether all arguments were read.
    pub const fn is_whole(&self) -> bool {
        self.integers.len() == self.lens[0]
            && self.addresses.len() == self.lens[1]
            && self.datatypes.len() == self.lens[2]
    }

    /// The arguments by their names in the standard, in the order of the call. Of arrays that were not read whole, what was.
    pub fn arguments(&self) -> Vec<(&'static str, Kind, Argument<'_>)> {
        let (mut integers, mut addresses) = (self.integers.as_slice(), self.addresses.iter());
        let mut datatypes = self.datatypes.iter();
        let take = |from: &mut &[i64], len: usize| -> (usize, usize) {
            let start = self.integers.len() - from.len();
            let len = len.min(from.len());
            *from = &from[len..];
            (start, start + len)
        };
        let mut found = Vec::new();
        for &(name, kind) in self.line.3 {
            let value = match kind {
                Integer | Order => {
                    let (start, end) = take(&mut integers, 1);
                    Argument::Number(self.integers[start..end].first().copied().unwrap_or_default())
                }
                Integers(len) | Distributions(len) | DistributionArguments(len) => {
                    let len = self.integers.get(len).and_then(|len| usize::try_from(*len).ok()).unwrap_or_default();
                    let (start, end) = take(&mut integers, len);
                    Argument::Numbers(&self.integers[start..end])
                }
                Address => Argument::Number(addresses.next().copied().unwrap_or_default()),
                Addresses => Argument::Numbers(&self.addresses),
                Datatype => Argument::Type(datatypes.next().copied().unwrap_or_default()),
                Datatypes => Argument::Types(&self.datatypes),
            };
            found.push((name, kind, value));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_call_with_large_counts_has_as_many_as_its_combiner_takes() {
        let made = |counts: &[i64], lens: [usize; 3]| {
            let kept = Kept {
                combiner: 3,
                counts: counts.to_vec(),
                datatypes: vec![TargetAddr::new(64)],
                lens,
                counts_len: counts.len(),
                ..Kept::default()
            };
            let constant = |name: &str| (name == "MPI_COMBINER_VECTOR").then_some(3);
            Envelope::new(kept, Envelope::named().numbers, constant)
        };
        let vector = made(&[3, 2, 5], [0, 0, 1]).unwrap();
        assert_eq!((vector.call(), vector.integers, vector.lens), ("MPI_Type_vector", vec![3, 2, 5], [3, 0, 1]));
        for (counts, lens) in
            [(&[3, 2][..], [0, 0, 1]), (&[3, 2, 5], [0, 0, 2]), (&[3, 2, 5], [0, 1, 1]), (&[3, 2, 5, 7], [0, 0, 1])]
        {
            assert!(made(counts, lens).unwrap_err().to_string().contains("do not fit MPI_COMBINER_VECTOR"));
        }
    }
}
