//! Choosing among the shipped profiles of MPICH by the sizes of pooled objects.

use layouts::{Candidate, ProfileError, Shipped, candidates, shipped_for};

fn of(series: Option<(u64, u64)>, version: &str, device: &str) -> Vec<Candidate<'static>> {
    candidates(shipped_for("MPICH"), series, Some(version), Some(device)).unwrap()
}

fn names<'a>(candidates: &'a [Candidate<'_>]) -> Vec<&'a str> {
    candidates.iter().map(|candidate| candidate.header.name.as_str()).collect()
}

type Measured = ((u64, u64), &'static str, &'static str, u64, u64, &'static str);

/// What was measured on running ranks of stripped libraries: version, device, bytes of a communicator and of a request.
const MEASURED: &[Measured] = &[
    ((3, 4), "3.4.3", "ch4:ofi,ucx", 1064, 456, "mpich-3.4-ch4-ofi-ucx"),
    ((4, 0), "4.0.2", "ch4:ucx", 872, 272, "mpich-4.0-ch4-ucx"),
    ((4, 0), "4.0.3", "ch4:ofi,ucx", 1048, 448, "mpich-4.0-ch4-ofi-ucx"),
    ((4, 1), "4.1.3", "ch4:ofi,ucx", 1712, 456, "mpich-4.1-ch4-ofi-ucx"),
    ((4, 2), "4.2.3", "ch4:ofi,ucx", 1792, 512, "mpich-4.2-ch4-ofi-ucx"),
    ((4, 3), "4.3.1", "ch4:ucx,ofi", 1912, 496, "mpich-4.3-ch4-ucx-ofi"),
    ((4, 3), "4.3.2", "ch4:ucx,ofi", 1912, 496, "mpich-4.3-ch4-ucx-ofi"),
    ((5, 0), "5.0.0", "ch4:ucx,ofi", 1832, 520, "mpich-5.0-ch4-ucx-ofi"),
    ((5, 0), "5.0.2", "ch4:ucx,ofi", 1832, 520, "mpich-5.0-ch4-ucx-ofi"),
    ((5, 0), "5.0.2", "ch4:ucx,ofi", 1832, 528, "mpich-5.0-ch4-ucx-ofi-abi"),
];

#[test]
fn the_first_profile_with_the_sizes_of_a_measured_library_is_the_one_for_its_device() {
    for (series, version, device, comm, request, expected) in MEASURED {
        let candidates = of(Some(*series), version, device);
        let found = [("MPIR_Comm", *comm), ("MPIR_Request", *request)];
        let fitting = candidates.iter().find(|candidate| candidate.differences(found).is_empty()).unwrap();
        assert_eq!(fitting.header.name, *expected, "{version} {device}");
        let profile = fitting.profile().unwrap();
        assert_eq!((profile.types["MPIR_Comm"].size, profile.types["MPIR_Request"].size), (*comm, *request));
    }
}

#[test]
fn profiles_of_the_same_device_come_first_and_differences_are_named() {
    let ucx = of(Some((4, 0)), "4.0.9", "ch4:ucx");
    let ch3 = of(Some((4, 0)), "4.0.9", "ch3:nemesis");
    // The sizes of ch4:ofi are those of ch4:ofi,ucx.
    assert_eq!(names(&of(Some((4, 0)), "4.0.3", "ch4:ofi"))[0], "mpich-4.0-ch4-ofi");
    assert_eq!((names(&ucx)[0], names(&ch3)[0]), ("mpich-4.0-ch4-ucx", "mpich-4.0-ch3-nemesis"));
    assert_eq!(ucx.len(), ch3.len());
    // Kinds that a process does not show, and those that no profile knows, are not compared.
    let differences = ucx[0].differences([("MPIR_Comm", 872), ("MPIR_Request", 296), ("VCONN", 8)]);
    let texts: Vec<String> = differences.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["MPIR_Request: 272 bytes in the profile, 296 bytes in the process"]);
}

#[test]
fn a_series_without_a_profile_has_no_candidates_and_an_unknown_one_has_all() {
    assert!(of(Some((40, 1)), "40.1", "ch4:ofi").is_empty());
    assert!(of(Some((4, 10)), "4.10.0", "ch4:ofi").is_empty());
    assert_eq!(of(None, "", "").len(), shipped_for("MPICH").len());
}

#[test]
fn a_damaged_profile_is_an_error() {
    let damaged = [Shipped::plain("broken", "{}")];
    assert!(matches!(candidates(&damaged, None, None, None), Err(ProfileError::Parse(_))));
}

#[test]
fn the_library_of_the_mpi_abi_has_the_constants_of_the_abi() {
    let constants = |index: usize| of(Some((5, 0)), "5.0.2", "ch4:ucx,ofi")[index].profile().unwrap().constants;
    // pmodels/mpich v5.0.1, src/binding/abi/mpi_abi.h and src/include/mpi.h.in.
    let three = |index: usize| ["MPI_ANY_SOURCE", "MPI_ANY_TAG", "MPI_PROC_NULL"].map(|name| constants(index)[name]);
    assert_eq!((three(0), three(1)), ([-2, -1, -1], [-1, -2, -3]));
}
