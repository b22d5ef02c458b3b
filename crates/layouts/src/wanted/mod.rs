//! What readers, and the hosts of plug-ins, need to know of the structures of each MPI.

mod mpich;
mod openmpi;
mod ucx;

pub use openmpi::TYPES as READER_TYPES;

/// What a profile of one MPI implementation holds. Types have all their fields; not every release has everything.
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
    /// Types whose objects lie in pools, so that their size can be measured in a process without debug information.
    pub pooled: &'static [&'static str],
}

/// Of Open MPI.
pub static OPEN_MPI: Wanted = Wanted {
    name: "Open MPI",
    probed: "mca_pml_base_request_t",
    types: openmpi::TYPES,
    constants: openmpi::CONSTANTS,
    fields: openmpi::FIELDS,
    pooled: &[],
};

/// Of MPICH.
pub static MPICH: Wanted = Wanted {
    name: "MPICH",
    probed: "MPIR_Comm",
    types: mpich::TYPES,
    constants: mpich::CONSTANTS,
    fields: mpich::FIELDS,
    pooled: mpich::POOLED,
};

static UCX: Wanted = Wanted {
    name: "UCX",
    probed: "ucp_request",
    types: ucx::TYPES,
    constants: ucx::CONSTANTS,
    fields: ucx::FIELDS,
    pooled: &[],
};

/// What is wanted of an implementation, by its name in any case and with or without spaces. Of one that is not known,
/// what is wanted of all MPIs: it may be a vendor's edition of one of them.
pub fn wanted_of(implementation: &str) -> Vec<&'static Wanted> {
    let plain = |name: &str| name.replace([' ', '-', '_'], "").to_lowercase();
    let all = [&OPEN_MPI, &MPICH];
    match all.iter().chain([&&UCX]).find(|wanted| plain(wanted.name) == plain(implementation)) {
        Some(known) => vec![known],
        None => all.to_vec(),
    }
}
