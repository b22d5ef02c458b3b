//! Where libfabric's structures have their fields, by release.

mod cxi;
mod rxd;
mod rxm;
mod shared;
mod shm;
mod sm2;
mod sockets;
mod tcp;

pub use cxi::{Cxi, CxiMessageShape, CxiRequestShape, CxiSends};
pub use rxd::{RxdMessageShape, RxdReceiveShape, RxdSends, RxdShape};
pub use rxm::{RxmMessageShape, RxmQueueShape, RxmReceiveShape, RxmSends, RxmShape};
pub use shared::{ArrayShape, EntryShape, MapShape, Pool, Shared};
pub use shm::{Shm, ShmAnswers, ShmProcessShape, ShmProcessesShape, ShmSends, ShmShape};
pub use sm2::{Sm2Sends, Sm2Shape};
pub use sockets::{Sockets, SocketsEntryShape, SocketsSends};
pub use tcp::{Tcp, TcpEntryShape, TcpSends};

use std::ops::Deref;
use std::sync::OnceLock;

use crate::record::{composite, shapes};
use layouts::{LayoutError, Layouts, Profile, Wanted, shipped_for};
use target::TargetAbi;

/// What the profiles of libfabric are of.
const IMPLEMENTATION: &str = "libfabric";

shapes! {
    /// What every endpoint begins with (include/rdma/fi_endpoint.h).
    EndpointShape = ["fid_ep"] { class: "fid.fclass", context: "fid.context" };
    /// A provider (include/rdma/providers/fi_prov.h).
    ProviderShape = ["fi_provider"] { version: "version", name: "name" };
    /// What most providers' endpoints begin with (include/ofi_util.h).
    UtilShape = ["util_ep"] { domain: "domain" };
    /// A domain.
    DomainShape = ["util_domain"] { provider: "prov" };
}

/// What a profile of libfabric holds (ofiwg/libfabric, releases 1.15 to 2.6). No release has all of it.
pub static LIBFABRIC: Wanted = Wanted {
    name: IMPLEMENTATION,
    probed: "util_domain",
    structures: &[&[
        STRUCTURES,
        shared::STRUCTURES,
        rxm::STRUCTURES,
        tcp::STRUCTURES,
        shm::STRUCTURES,
        sm2::STRUCTURES,
        sockets::STRUCTURES,
        rxd::STRUCTURES,
        cxi::STRUCTURES,
    ]],
    sized: &[],
    constants: &[
        "FI_CLASS_EP",
        "FI_CLASS_RX_CTX",
        "FI_CLASS_SRX_CTX",
        "CXIP_REQ_RECV",
        "CXIP_REQ_SEND",
        "RXD_TAGGED",
        "RXM_DEFERRED_TX_SAR_SEG",
        "SMR_TX_ENTRY",
        "smr_src_inline",
        "smr_src_inject",
        "sm2_proto_cma",
        "sm2_proto_ipc",
    ],
    pooled: &[],
};

composite! {
    /// What classes objects say that they are of (include/rdma/fabric.h).
    Classes {
        endpoint: u64 = "FI_CLASS_EP",
        receives: u64 = "FI_CLASS_RX_CTX",
        shared: u64 = "FI_CLASS_SRX_CTX",
    }
}
composite! {
    /// The structures of one release. What a release does not have is `None`.
    Structures {
        classes: Classes,
        endpoint: EndpointShape,
        provider: ProviderShape,
        util: UtilShape,
        domain: DomainShape,
        array: Option<ArrayShape>,
        shared: Option<Shared>,
        rxm: Option<RxmShape>,
        rxm_queue: Option<(RxmQueueShape, RxmReceiveShape, RxmMessageShape)>,
        rxm_sends: Option<RxmSends>,
        tcp: Option<Tcp>,
        tcp_sends: Option<TcpSends>,
        shm: Option<ShmShape>,
        shm_queue: Option<Shm>,
        shm_sends: Option<ShmSends>,
        shm_answers: Option<ShmAnswers>,
        sm2: Option<Sm2Shape>,
        sm2_sends: Option<Sm2Sends>,
        sockets: Option<Sockets>,
        sockets_sends: Option<SocketsSends>,
        rxd: Option<(RxdShape, RxdReceiveShape, RxdMessageShape)>,
        rxd_sends: Option<RxdSends>,
        cxi: Option<Cxi>,
        cxi_sends: Option<CxiSends>,
    }
}

/// The structures that a profile has.
#[derive(Debug, Clone)]
pub struct Layout {
    /// The profile's name.
    pub name: String,
    /// Beginnings of the releases that have these structures.
    pub fits: Vec<String>,
    structures: Structures,
}

impl Deref for Layout {
    type Target = Structures;

    fn deref(&self) -> &Structures {
        &self.structures
    }
}

impl Layout {
    /// Resolves the structures of a profile.
    ///
    /// # Errors
    /// Names the first type or field that the profile lacks of those that every release has.
    pub fn resolve(profile: Profile) -> Result<Self, LayoutError> {
        let (name, fits) = (profile.name.clone(), profile.identity.fits.clone());
        Ok(Self { name, fits, structures: Structures::resolve(&Layouts::new(vec![Box::new(profile)]))? })
    }

    /// Whether these are the structures of a release, such as `2.1.0`.
    pub fn fits(&self, release: &str) -> bool {
        let rest = |beginning: &String| release.strip_prefix(beginning.as_str());
        self.fits.iter().filter_map(rest).any(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// Those that this program carries for a kind of machine.
    pub fn shipped(abi: TargetAbi) -> Vec<Self> {
        // Every rank is asked by all of them: their text is taken apart once.
        static ALL: OnceLock<Vec<(TargetAbi, Layout)>> = OnceLock::new();
        let all = ALL.get_or_init(|| {
            let profiles = shipped_for(IMPLEMENTATION).iter().filter_map(|shipped| shipped.profile().ok());
            profiles.filter_map(|profile| Some((profile.target, Self::resolve(profile).ok()?))).collect()
        });
        all.iter().filter(|(target, _)| *target == abi).map(|(_, layout)| layout.clone()).collect()
    }
}
