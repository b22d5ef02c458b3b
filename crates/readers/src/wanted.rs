//! What is read of the structures of each MPI, and of the networks below: that is what the layout profiles hold.

use crate::{libfabric, mpich, openmpi, ucx};
use layouts::Wanted;

pub use libfabric::layout::LIBFABRIC;
pub use mpich::wanted::MPICH;
pub use openmpi::wanted::OPEN_MPI;
pub use ucx::layout::UCX;

/// Of every MPI.
pub static MPIS: &[&Wanted] = &[&OPEN_MPI, &MPICH];

/// Libraries below an MPI.
static NETWORKS: &[&Wanted] = &[&UCX, &LIBFABRIC];

/// What is wanted of an implementation, by its name in any case and with or without spaces. Of one that is not known,
/// what is wanted of all MPIs: it may be a vendor's edition of one of them.
pub fn wanted_of(implementation: &str) -> Vec<&'static Wanted> {
    let plain = |name: &str| name.replace([' ', '-', '_'], "").to_lowercase();
    match MPIS.iter().chain(NETWORKS).find(|wanted| plain(wanted.name) == plain(implementation)) {
        Some(known) => vec![known],
        None => MPIS.to_vec(),
    }
}

/// Whether some reader declares that it reads a field. What it does not declare, no profile has.
pub(crate) fn is_declared(type_name: &str, field: &str) -> bool {
    MPIS.iter().chain(NETWORKS).any(|wanted| wanted.reads(type_name, field))
}
