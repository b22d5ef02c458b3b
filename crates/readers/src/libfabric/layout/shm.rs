//! shm (prov/shm/src/smr.h) and sm2 (prov/sm2/src/sm2.h).

use super::shared::{EntryShape, Pool};
use crate::ReaderError;
use crate::record::shape;
use layouts::Layouts;

shape!(
    /// The endpoint of shm (prov/shm/src/smr.h).
    ShmShape = ["smr_ep"] { shared: "srx" }
);
shape!(
    /// Its own receives and messages, until 1.18.
    ShmReceivesShape = ["smr_srx_ctx"] { receives: "trecv_queue.list", messages: "unexp_tagged_queue.list" }
);
shape!(
    /// An entry of them.
    ShmEntryShape = ["smr_rx_entry"] { entry: "peer_entry", ignore: "ignore" }
);
shape!(
    /// What a message came as.
    ShmCommandShape = ["smr_cmd_ctx"] {
        flags: "cmd.msg.hdr.op_flags",
        length: "cmd.msg.hdr.size",
        data: "cmd.msg.hdr.data",
    }
);
shape!(
    /// The endpoint of sm2 (prov/sm2/src/sm2.h).
    Sm2Shape = ["sm2_ep"] { shared: "srx" }
);
shape!(
    /// Where the endpoint of shm has its sends and the processes, since 2.5.
    ShmSendsShape = ["smr_ep"] { pool: "pend_pool", processes: "map" }
);
shape!(
    /// The processes.
    ShmProcessesShape = ["smr_map"] { first: "peers" }
);
shape!(
    /// One of them.
    ShmProcessShape = ["smr_peer"] { address: "fiaddr" }
);
shape!(
    /// What is not done: a send, or the copying of a message.
    ShmPendingShape = ["smr_pend_entry"] {
        kind: "type",
        command: "cmd",
        pieces: "iov",
        count: "iov_count",
        context: "comp_ctx",
    }
);
shape!(
    /// How a message is announced.
    ShmHeaderShape = ["smr_cmd"] {
        sender: "hdr.tx_ctx",
        length: "hdr.size",
        tag: "hdr.tag",
        process: "hdr.tx_id",
        operation: "hdr.op",
    }
);
shape!(
    /// Where a message that has arrived has its announcement.
    ShmArrivedShape = ["smr_cmd_ctx"] { command: "cmd" }
);

/// The structures of sends.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct ShmSends {
    pub endpoint: ShmSendsShape,
    pub processes: ShmProcessesShape,
    pub process: ShmProcessShape,
    pub pending: ShmPendingShape,
    pub header: ShmHeaderShape,
    pub arrived: ShmArrivedShape,
    pub pool: Pool,
    /// What says that it is a send (`SMR_TX_ENTRY`).
    pub send: u64,
}

impl ShmSends {
    pub(super) fn resolve(layouts: &Layouts) -> Result<Self, ReaderError> {
        Ok(Self {
            endpoint: ShmSendsShape::resolve(layouts)?,
            processes: ShmProcessesShape::resolve(layouts)?,
            process: ShmProcessShape::resolve(layouts)?,
            pending: ShmPendingShape::resolve(layouts)?,
            header: ShmHeaderShape::resolve(layouts)?,
            arrived: ShmArrivedShape::resolve(layouts)?,
            pool: Pool::resolve(layouts)?,
            send: u64::try_from(layouts.constant("SMR_TX_ENTRY")?).unwrap_or(u64::MAX),
        })
    }
}

/// The structures of shm's own queues.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Shm {
    pub lists: ShmReceivesShape,
    pub whole: ShmEntryShape,
    pub entry: EntryShape,
    pub command: ShmCommandShape,
}

impl Shm {
    pub(super) fn resolve(layouts: &Layouts) -> Result<Self, ReaderError> {
        Ok(Self {
            lists: ShmReceivesShape::resolve(layouts)?,
            whole: ShmEntryShape::resolve(layouts)?,
            entry: EntryShape::resolve(layouts)?,
            command: ShmCommandShape::resolve(layouts)?,
        })
    }
}
