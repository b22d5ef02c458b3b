//! The arguments of a datatype that a function with large counts made (MPI_Type_vector_c, …; MPI-4.0, 5.1.13).
//!
//! Since Open MPI 6.0 the library keeps arguments of the type MPI_Count apart from those of the type int, each sort in the
//! order of the call; displacements are then among the counts (`ompi_datatype_set_args`,
//! ompi/datatype/ompi_datatype_args.c, branch v6.0.x).

use super::envelope::{Combiner, Kind};

/// Whether the function with large counts takes this argument of a combiner as an MPI_Count.
fn is_count(combiner: Combiner, argument: &str) -> bool {
    match combiner {
        Combiner::Subarray => matches!(argument, "array_of_sizes" | "array_of_subsizes" | "array_of_starts"),
        Combiner::Darray => argument == "array_of_gsizes",
        _ => true,
    }
}

/// Puts the integers and the counts of a call together as integers and addresses in the call's order. Where one of them
/// was not read whole, ends there.
pub fn in_order_of_call(
    combiner: Combiner,
    arguments: &[(&str, Kind)],
    integers: &[i64],
    counts: &[i64],
) -> (Vec<i64>, Vec<i64>) {
    let (mut ints, mut counts) = (integers.iter().copied(), counts.iter().copied());
    let (mut numbers, mut addresses) = (Vec::new(), Vec::new());
    for &(name, kind) in arguments {
        let len_at = |index: usize| numbers.get(index).and_then(|len: &i64| usize::try_from(*len).ok());
        let wanted = match kind {
            Kind::Datatype | Kind::Datatypes => continue,
            Kind::Integer | Kind::Order | Kind::Address => Some(1),
            Kind::Integers(len) | Kind::Distributions(len) | Kind::DistributionArguments(len) => len_at(len),
            // Whatever has an address for each block begins with the number of blocks.
            Kind::Addresses => len_at(0),
        };
        let Some(wanted) = wanted else { break };
        let to = if matches!(kind, Kind::Address | Kind::Addresses) { &mut addresses } else { &mut numbers };
        let before = to.len();
        if is_count(combiner, name) {
            to.extend(counts.by_ref().take(wanted));
        } else {
            to.extend(ints.by_ref().take(wanted));
        }
        if to.len() - before < wanted {
            break;
        }
    }
    (numbers, addresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displacements_are_among_the_counts() {
        let arguments: &[(&str, Kind)] = &[
            ("count", Kind::Integer),
            ("array_of_blocklengths", Kind::Integers(0)),
            ("array_of_displacements", Kind::Addresses),
            ("oldtype", Kind::Datatype),
        ];
        let of = |counts: &[i64]| in_order_of_call(Combiner::Hindexed, arguments, &[], counts);
        assert_eq!(of(&[2, 10, 20, -8, 8]), (vec![2, 10, 20], vec![-8, 8]));
        assert_eq!(of(&[2, 10]), (vec![2, 10], vec![]));
        assert_eq!(of(&[-1, 10]), (vec![-1], vec![]));
        assert_eq!(of(&[]), (vec![], vec![]));
    }

    #[test]
    fn dimensions_of_arrays_stay_integers() {
        let arguments: &[(&str, Kind)] = &[
            ("ndims", Kind::Integer),
            ("array_of_sizes", Kind::Integers(0)),
            ("array_of_subsizes", Kind::Integers(0)),
            ("array_of_starts", Kind::Integers(0)),
            ("order", Kind::Order),
            ("oldtype", Kind::Datatype),
        ];
        let found = in_order_of_call(Combiner::Subarray, arguments, &[2, 56], &[4, 5, 2, 3, 0, 1]);
        assert_eq!(found, (vec![2, 4, 5, 2, 3, 0, 1, 56], vec![]));
    }
}
