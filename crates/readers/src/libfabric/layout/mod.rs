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

use std::sync::OnceLock;

use crate::ReaderError;
use crate::record::shape;
use layouts::{Layouts, Profile, shipped_for};
use target::TargetAbi;

/// What the profiles of libfabric are of.
const IMPLEMENTATION: &str = "libfabric";

shape!(
    /// What every endpoint begins with (include/rdma/fi_endpoint.h).
    EndpointShape = ["fid_ep"] { class: "fid.fclass", context: "fid.context" }
);
shape!(
    /// A provider (include/rdma/providers/fi_prov.h).
    ProviderShape = ["fi_provider"] { version: "version", name: "name" }
);
shape!(
    /// What most providers' endpoints begin with (include/ofi_util.h).
    UtilShape = ["util_ep"] { domain: "domain" }
);
shape!(
    /// A domain.
    DomainShape = ["util_domain"] { provider: "prov" }
);

/// The structures of one release. What a release does not have is `None`.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Layout {
    /// The profile's name.
    pub name: String,
    /// Beginnings of the releases that have these structures.
    pub fits: Vec<String>,
    pub classes: Classes,
    pub endpoint: EndpointShape,
    pub provider: ProviderShape,
    pub util: UtilShape,
    pub domain: DomainShape,
    pub array: Option<ArrayShape>,
    pub shared: Option<Shared>,
    pub rxm: Option<RxmShape>,
    pub rxm_queue: Option<(RxmQueueShape, RxmReceiveShape, RxmMessageShape)>,
    pub rxm_sends: Option<RxmSends>,
    pub tcp: Option<Tcp>,
    pub tcp_sends: Option<TcpSends>,
    pub shm: Option<ShmShape>,
    pub shm_queue: Option<Shm>,
    pub shm_sends: Option<ShmSends>,
    pub shm_answers: Option<ShmAnswers>,
    pub sm2: Option<Sm2Shape>,
    pub sm2_sends: Option<Sm2Sends>,
    pub sockets: Option<Sockets>,
    pub sockets_sends: Option<SocketsSends>,
    pub rxd: Option<(RxdShape, RxdReceiveShape, RxdMessageShape)>,
    pub rxd_sends: Option<RxdSends>,
    pub cxi: Option<Cxi>,
    pub cxi_sends: Option<CxiSends>,
}

/// What classes objects say that they are of (`FI_CLASS_*`, include/rdma/fabric.h).
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Classes {
    pub endpoint: u64,
    pub receives: u64,
    pub shared: u64,
}

impl Layout {
    /// Resolves the structures of a profile.
    ///
    /// # Errors
    /// Names the first type or field that the profile lacks of those that every release has.
    pub fn resolve(profile: Profile) -> Result<Self, ReaderError> {
        let (name, fits) = (profile.name.clone(), profile.identity.fits.clone());
        let layouts = &Layouts::new(vec![Box::new(profile)]);
        let class = |name: &str| Ok::<_, ReaderError>(u64::try_from(layouts.constant(name)?).unwrap_or(u64::MAX));
        let classes = Classes {
            endpoint: class("FI_CLASS_EP")?,
            receives: class("FI_CLASS_RX_CTX")?,
            shared: class("FI_CLASS_SRX_CTX")?,
        };
        Ok(Self {
            name,
            fits,
            classes,
            endpoint: EndpointShape::resolve(layouts)?,
            provider: ProviderShape::resolve(layouts)?,
            util: UtilShape::resolve(layouts)?,
            domain: DomainShape::resolve(layouts)?,
            array: ArrayShape::resolve(layouts).ok(),
            shared: Shared::resolve(layouts).ok(),
            rxm: RxmShape::resolve(layouts).ok(),
            rxm_queue: three(
                RxmQueueShape::resolve(layouts),
                RxmReceiveShape::resolve(layouts),
                RxmMessageShape::resolve(layouts),
            ),
            rxm_sends: RxmSends::resolve(layouts).ok(),
            tcp: Tcp::resolve(layouts).ok(),
            tcp_sends: TcpSends::resolve(layouts).ok(),
            shm: ShmShape::resolve(layouts).ok(),
            shm_queue: Shm::resolve(layouts).ok(),
            shm_sends: ShmSends::resolve(layouts).ok(),
            shm_answers: ShmAnswers::resolve(layouts).ok(),
            sm2: Sm2Shape::resolve(layouts).ok(),
            sm2_sends: Sm2Sends::resolve(layouts).ok(),
            sockets: Sockets::resolve(layouts).ok(),
            sockets_sends: SocketsSends::resolve(layouts).ok(),
            rxd: three(
                RxdShape::resolve(layouts),
                RxdReceiveShape::resolve(layouts),
                RxdMessageShape::resolve(layouts),
            ),
            rxd_sends: RxdSends::resolve(layouts).ok(),
            cxi: Cxi::resolve(layouts).ok(),
            cxi_sends: CxiSends::resolve(layouts).ok(),
        })
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

fn three<A, B, C, E>(first: Result<A, E>, second: Result<B, E>, third: Result<C, E>) -> Option<(A, B, C)> {
    Some((first.ok()?, second.ok()?, third.ok()?))
}
