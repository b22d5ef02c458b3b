//! Which provider an endpoint belongs to, of which release, and what it keeps.

use super::layout::Layout;
use super::{
    Listed, Message, Provider, Receive, Send, cxi, rxd, rxm, rxm_sends, shared, shm_sends, sm2_sends, sockets, tcp,
    tcp_sends,
};
use target::address::TargetAddr;
use target::{Reason, Target};

/// What one endpoint has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queues {
    /// The provider's name, such as `ofi_rxm`.
    pub provider: String,
    /// Receives with a tag that wait.
    pub receives: Listed<Receive>,
    /// Messages with a tag that nobody has asked for.
    pub messages: Listed<Message>,
    /// Sends with a tag that are not done.
    pub sends: Listed<Send>,
    /// Whether messages name their sends by what the MPI gave for them ([`Number::given`]), also those that are not listed any more.
    pub named_by_given: bool,
}

/// libfabric in one process.
pub struct Fabric<'a> {
    target: &'a dyn Target,
    layouts: Vec<Layout>,
}

/// A provider's name is shorter than this, in bytes.
const MAX_NAME: usize = 64;

/// Who an endpoint belongs to, by one layout.
struct Owner {
    name: String,
    release: String,
}

impl<'a> Fabric<'a> {
    /// With the layouts that this program carries.
    pub fn new(target: &'a dyn Target) -> Self {
        Self { target, layouts: Layout::shipped(target.abi()) }
    }

    /// The provider of the endpoint at `at` (`struct fid_ep`); `None` where it is not known, or its release is not.
    pub fn provider_of(&self, at: TargetAddr) -> Option<Provider> {
        let named = |layout: &Layout| {
            let owner = self.owner(layout, at).filter(|owner| layout.fits(&owner.release))?;
            Some(Provider::new(owner.name, layout))
        };
        let sockets = |layout: &Layout| {
            sockets::context(self.target, layout, at)?;
            Some(Provider::new(sockets::NAME.to_owned(), layout))
        };
        self.layouts.iter().find_map(named).or_else(|| self.layouts.iter().find_map(sockets))
    }

    /// What the endpoint at `at` (`struct fid_ep`) has.
    ///
    /// # Errors
    /// A sentence, where the provider or its release is not known, or the memory does not fit what they have.
    pub fn queues(&self, at: TargetAddr) -> Result<Queues, Reason> {
        let mut other: Option<Owner> = None;
        for layout in &self.layouts {
            let Some(owner) = self.owner(layout, at) else { continue };
            if !layout.fits(&owner.release) {
                other.get_or_insert(owner);
                continue;
            }
            return self.of_provider(layout, at, owner.name);
        }
        // Its objects name no release; their own pointers back say which layout fits.
        if let Some(queues) = self.layouts.iter().find_map(|layout| sockets::read(self.target, layout, at)) {
            return Ok(queues);
        }
        Err(match other {
            Some(Owner { name, release }) => {
                Reason::new(format!("where libfabric {release} keeps them (provider {name}) is not known"))
            }
            None => Reason::new("the provider of libfabric was not recognised, or its release is not known"),
        })
    }

    /// The provider that the endpoint's domain names; `None` where nothing is named by this layout.
    fn owner(&self, layout: &Layout, at: TargetAddr) -> Option<Owner> {
        let class = field(self.target, at, layout.endpoint.class.offset)?;
        if class != layout.classes.endpoint {
            return None;
        }
        let util = field(self.target, at, layout.util.domain.offset).map(TargetAddr::new);
        let by_cxi = || cxi::domain(self.target, layout.cxi.as_ref()?, at);
        util.and_then(|domain| self.provider(layout, domain)).or_else(|| self.provider(layout, by_cxi()?))
    }

    fn provider(&self, layout: &Layout, domain: TargetAddr) -> Option<Owner> {
        let provider = TargetAddr::new(field(self.target, domain, layout.domain.provider.offset)?);
        let version = layout.provider.version;
        let at = version.address_in(provider);
        let version = self.target.read_uint(at, version.size as u64).ok()?;
        // OFI_VERSION_DEF_PROV (include/ofi.h): 2.5.1 is 205.10.
        let (number, revision) = (version >> 16, version & 0xffff);
        let (major, minor) = (number / 100, number % 100);
        if !(1..=9).contains(&major) || revision > 999 {
            return None;
        }
        let name = TargetAddr::new(field(self.target, provider, layout.provider.name.offset)?);
        let name = self.target.read_c_string(name, MAX_NAME).ok()?;
        let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_;-".contains(byte);
        let name =
            String::from_utf8(name).ok().filter(|name| !name.is_empty() && name.bytes().all(|byte| plain(&byte)))?;
        Some(Owner { name, release: format!("{major}.{minor}.{}", revision / 10) })
    }

    fn of_provider(&self, layout: &Layout, at: TargetAddr, provider: String) -> Result<Queues, Reason> {
        let target = self.target;
        let ((receives, messages), sends) = match provider.as_str() {
            "ofi_rxm" => (rxm::read(target, layout, at)?, rxm_sends::read(target, layout, at)),
            "tcp" | "net" => (tcp::read(target, layout, at)?, tcp_sends::read(target, layout, at)),
            "shm" => (shared::read(target, layout, at, &provider)?, shm_sends::read(target, layout, at)),
            "sm2" => (shared::read(target, layout, at, &provider)?, sm2_sends::read(target, layout, at)),
            "ofi_rxd" => (rxd::read(target, layout, at)?, rxd::sends(target, layout, at)),
            "cxi" => (cxi::read(target, layout, at)?, cxi::sends(target, layout, at)),
            other => return Err(Reason::new(format!("the lists of libfabric's provider {other} are not read"))),
        };
        let sends = sends.unwrap_or_else(Listed::failed);
        let named_by_given = provider == "sm2" && layout.sm2_sends.is_some();
        Ok(Queues { provider, receives, messages, sends, named_by_given })
    }
}

/// The word at an offset behind an address.
pub fn field(target: &dyn Target, at: TargetAddr, offset: usize) -> Option<u64> {
    if at.is_null() {
        return None;
    }
    target.read_pointer(at.wrapping_add(offset as u64)).ok().map(TargetAddr::get)
}

/// The object that a field of an endpoint leads to.
///
/// # Errors
/// A sentence, where there is none.
pub fn behind(target: &dyn Target, at: TargetAddr, offset: usize, what: &str) -> Result<TargetAddr, Reason> {
    let found = field(target, at, offset).map(TargetAddr::new).filter(|found| !found.is_null());
    found.ok_or_else(|| Reason::new(format!("libfabric's endpoint at {at} has no {what}")))
}
