//! What readers, and the hosts of plug-ins, need to know of the structures of each MPI, and the profiles that are shipped for
//! it. A further one is a file, and a line in [`MPIS`].

mod libfabric;
mod mpich;
mod openmpi;
mod ucx;

use libfabric::LIBFABRIC;
pub use mpich::MPICH;
pub use openmpi::OPEN_MPI;
use ucx::UCX;

use super::shipped::{Shipped, shipped};

/// What a profile of one implementation holds. Types have all their fields; not every release has everything.
#[derive(Debug)]
#[non_exhaustive]
pub struct Wanted {
    /// The implementation, as [`super::Identity`] names it.
    pub name: &'static str,
    /// A type that only a library with debug information has whole.
    pub probed: &'static str,
    /// Types by typedef or structure tag.
    pub types: &'static [&'static str],
    /// Macros and enumerators. A name that ends in `*` is a prefix.
    pub constants: &'static [&'static str],
    /// Fields without which nothing can be read of any release; a profile that lacks one says so.
    pub fields: &'static [(&'static str, &'static [&'static str])],
    /// Whether a profile holds these fields alone, as far as its release has them, of types that have many others: every
    /// program carries it.
    pub only_fields: bool,
    /// Types whose objects lie in pools, so that their size can be measured in a process without debug information.
    pub pooled: &'static [&'static str],
    /// The profiles that this program carries. `make layouts` makes them.
    pub shipped: &'static [Shipped],
}

static MPIS: &[&Wanted] = &[&OPEN_MPI, &MPICH];

/// Libraries below an MPI.
static NETWORKS: &[&Wanted] = &[&UCX, &LIBFABRIC];

fn all() -> impl Iterator<Item = &'static Wanted> {
    MPIS.iter().chain(NETWORKS).copied()
}

/// What is wanted of an implementation, by its name in any case and with or without spaces. Of one that is not known,
/// what is wanted of all MPIs: it may be a vendor's edition of one of them.
pub fn wanted_of(implementation: &str) -> Vec<&'static Wanted> {
    let plain = |name: &str| name.replace([' ', '-', '_'], "").to_lowercase();
    match all().find(|wanted| plain(wanted.name) == plain(implementation)) {
        Some(known) => vec![known],
        None => MPIS.to_vec(),
    }
}

/// All profiles that this build carries.
pub fn shipped_profiles() -> impl Iterator<Item = &'static Shipped> {
    all().flat_map(|wanted| wanted.shipped)
}

/// The one of a name.
pub fn shipped_named(name: &str) -> Option<&'static Shipped> {
    shipped_profiles().find(|shipped| shipped.name == name)
}

/// Those of one implementation, by the name that [`super::Identity`] has.
pub fn shipped_for(implementation: &str) -> &'static [Shipped] {
    all().find(|wanted| wanted.name == implementation).map_or(&[], |wanted| wanted.shipped)
}
