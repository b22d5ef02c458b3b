//! The modes of sends, and the functions that they go with (MPI-4.1, 3.4).

use model::Remark;

/// How a message is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SendMode {
    Standard,
    Buffered,
    Synchronous,
    Ready,
}

impl SendMode {
    /// The function that makes a persistent request of this mode.
    pub const fn init(self) -> &'static str {
        match self {
            Self::Standard => "MPI_Send_init",
            Self::Buffered => "MPI_Bsend_init",
            Self::Synchronous => "MPI_Ssend_init",
            Self::Ready => "MPI_Rsend_init",
        }
    }

    /// The function that starts a nonblocking send of this mode.
    pub const fn nonblocking(self) -> &'static str {
        match self {
            Self::Standard => "MPI_Isend",
            Self::Buffered => "MPI_Ibsend",
            Self::Synchronous => "MPI_Issend",
            Self::Ready => "MPI_Irsend",
        }
    }

    /// Its word in the standard.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Buffered => "buffered",
            Self::Synchronous => "synchronous",
            Self::Ready => "ready",
        }
    }

    /// What is worth a remark about a send.
    pub const fn remark(self) -> Option<Remark> {
        match self {
            Self::Standard => None,
            Self::Buffered => Some(Remark::BufferedSend),
            Self::Synchronous => Some(Remark::SynchronousSend),
            Self::Ready => Some(Remark::ReadySend),
        }
    }
}
