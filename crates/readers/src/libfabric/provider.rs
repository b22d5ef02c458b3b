//! What a provider of libfabric has of sends.

use super::layout::Layout;
use super::sockets;

/// A provider whose lists are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// Such as `ofi_rxm`.
    pub name: String,
    /// Whether its sends are read.
    pub sends: bool,
}

impl Provider {
    /// That of a name, with the structures of its release.
    pub fn new(name: String, layout: &Layout) -> Self {
        let sends = match name.as_str() {
            "ofi_rxm" => layout.rxm_sends.is_some(),
            "tcp" | "net" => layout.tcp_sends.is_some(),
            "shm" => layout.shm_sends.is_some() || layout.shm_answers.is_some(),
            "sm2" => layout.sm2_sends.is_some(),
            "ofi_rxd" => layout.rxd_sends.is_some(),
            "cxi" => layout.cxi_sends.is_some(),
            sockets::NAME => layout.sockets_sends.is_some(),
            _ => false,
        };
        Self { name, sends }
    }

    /// Whether it keeps of every send to which process it goes.
    pub fn keeps_destinations(&self) -> bool {
        self.sends && matches!(self.name.as_str(), "tcp" | "net" | "shm" | sockets::NAME | "ofi_rxd" | "cxi")
    }

    /// Whether all that waits at the sender is found.
    pub fn lists_all_sends(&self) -> bool {
        self.sends && !self.has_own_thread() && !self.hands_back()
    }

    /// Whether its sends were read in a process; else only as its published structures say.
    pub fn is_tried(&self) -> bool {
        !matches!(self.name.as_str(), "cxi")
    }

    /// Whether it has nothing of a long send any more as soon as its receiver's library has looked, which then has all of it; its
    /// message names it by what the MPI gave.
    pub fn hands_back(&self) -> bool {
        matches!(self.name.as_str(), "sm2")
    }

    /// Whether it has a synchronous send of any length for as long as the answer is waited for, as docs/mpis.md measures.
    pub fn keeps_until_answered(&self) -> bool {
        self.sends && matches!(self.name.as_str(), "shm")
    }

    /// Whether a thread of its own completes what the application does not look at (prov/sockets/src/sock_progress.c).
    pub fn has_own_thread(&self) -> bool {
        matches!(self.name.as_str(), sockets::NAME)
    }
}
