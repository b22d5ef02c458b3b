//! The profiles that this program carries. `make layouts` makes them.

use std::sync::LazyLock;

/// Name and text of a profile.
type Shipped = (&'static str, &'static str);

const OPEN_MPI: &[Shipped] = &[
    ("openmpi-4.1", include_str!("../../../layouts/openmpi-4.1.json")),
    ("openmpi-5.0", include_str!("../../../layouts/openmpi-5.0.json")),
    ("openmpi-6.0", include_str!("../../../layouts/openmpi-6.0.json")),
];

const MPICH: &[Shipped] = &[
    ("mpich-3.4-ch3-nemesis", include_str!("../../../layouts/mpich-3.4-ch3-nemesis.json")),
    ("mpich-3.4-ch4-ofi-ucx", include_str!("../../../layouts/mpich-3.4-ch4-ofi-ucx.json")),
    ("mpich-4.0-ch3-nemesis", include_str!("../../../layouts/mpich-4.0-ch3-nemesis.json")),
    ("mpich-4.0-ch3-nemesis-debuginfo", include_str!("../../../layouts/mpich-4.0-ch3-nemesis-debuginfo.json")),
    ("mpich-4.0-ch4-ofi", include_str!("../../../layouts/mpich-4.0-ch4-ofi.json")),
    ("mpich-4.0-ch4-ofi-ucx", include_str!("../../../layouts/mpich-4.0-ch4-ofi-ucx.json")),
    ("mpich-4.0-ch4-ucx", include_str!("../../../layouts/mpich-4.0-ch4-ucx.json")),
    ("mpich-4.1-ch3-nemesis", include_str!("../../../layouts/mpich-4.1-ch3-nemesis.json")),
    ("mpich-4.1-ch4-ofi", include_str!("../../../layouts/mpich-4.1-ch4-ofi.json")),
    ("mpich-4.1-ch4-ofi-ucx", include_str!("../../../layouts/mpich-4.1-ch4-ofi-ucx.json")),
    ("mpich-4.1-ch4-ucx", include_str!("../../../layouts/mpich-4.1-ch4-ucx.json")),
    ("mpich-4.2-ch3-nemesis", include_str!("../../../layouts/mpich-4.2-ch3-nemesis.json")),
    ("mpich-4.2-ch4-ofi", include_str!("../../../layouts/mpich-4.2-ch4-ofi.json")),
    ("mpich-4.2-ch4-ofi-ucx", include_str!("../../../layouts/mpich-4.2-ch4-ofi-ucx.json")),
    ("mpich-4.2-ch4-ucx", include_str!("../../../layouts/mpich-4.2-ch4-ucx.json")),
    ("mpich-4.3-ch3-nemesis", include_str!("../../../layouts/mpich-4.3-ch3-nemesis.json")),
    ("mpich-4.3-ch4-ofi", include_str!("../../../layouts/mpich-4.3-ch4-ofi.json")),
    ("mpich-4.3-ch4-ucx", include_str!("../../../layouts/mpich-4.3-ch4-ucx.json")),
    ("mpich-4.3-ch4-ucx-ofi", include_str!("../../../layouts/mpich-4.3-ch4-ucx-ofi.json")),
    ("mpich-5.0-ch3-nemesis", include_str!("../../../layouts/mpich-5.0-ch3-nemesis.json")),
    ("mpich-5.0-ch4-ofi", include_str!("../../../layouts/mpich-5.0-ch4-ofi.json")),
    ("mpich-5.0-ch4-ucx", include_str!("../../../layouts/mpich-5.0-ch4-ucx.json")),
    ("mpich-5.0-ch4-ucx-ofi", include_str!("../../../layouts/mpich-5.0-ch4-ucx-ofi.json")),
    ("mpich-5.0-ch4-ucx-ofi-abi", include_str!("../../../layouts/mpich-5.0-ch4-ucx-ofi-abi.json")),
    ("mpich-5.0-ch4-ucx-ucc", include_str!("../../../layouts/mpich-5.0-ch4-ucx-ucc.json")),
];

/// The network library under MPICH's ch4:ucx.
const UCX: &[Shipped] = &[
    ("ucx-1.13", include_str!("../../../layouts/ucx-1.13.json")),
    ("ucx-1.13-assertions", include_str!("../../../layouts/ucx-1.13-assertions.json")),
    ("ucx-1.18", include_str!("../../../layouts/ucx-1.18.json")),
    ("ucx-1.18-assertions", include_str!("../../../layouts/ucx-1.18-assertions.json")),
    ("ucx-1.19", include_str!("../../../layouts/ucx-1.19.json")),
    ("ucx-1.19-assertions", include_str!("../../../layouts/ucx-1.19-assertions.json")),
    ("ucx-1.20", include_str!("../../../layouts/ucx-1.20.json")),
    ("ucx-1.20-assertions", include_str!("../../../layouts/ucx-1.20-assertions.json")),
];

static ALL: LazyLock<Vec<Shipped>> = LazyLock::new(|| [OPEN_MPI, MPICH, UCX].concat());

/// The names and texts of all profiles that this build carries.
pub fn shipped_profiles() -> &'static [Shipped] {
    &ALL
}

/// Those of one implementation, by the name that [`super::Identity`] has.
pub fn shipped_for(implementation: &str) -> &'static [Shipped] {
    match implementation {
        "Open MPI" => OPEN_MPI,
        "MPICH" => MPICH,
        "UCX" => UCX,
        _ => &[],
    }
}
