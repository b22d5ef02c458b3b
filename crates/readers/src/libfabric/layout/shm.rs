//! shm (prov/shm/src/smr.h).

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

shape!(
    /// Where the endpoint of shm has its part of shared memory, until 2.4.
    ShmOwnerShape = ["smr_ep"] { region: "region" }
);
shape!(
    /// That part.
    ShmRegionShape = ["smr_region"] { processes: "map", answers: "resp_queue_offset" }
);
shape!(
    /// The answers that are awaited, in the order in which their sends were posted (`OFI_DECLARE_CIRQUE`, include/ofi_rbuf.h).
    ShmAnswersShape = ["smr_resp_queue"] {
        count: "size",
        mask: "size_mask",
        read: "rcnt",
        written: "wcnt",
        first: "buf",
    }
);
shape!(
    /// One of them.
    ShmAnswerShape = ["smr_resp"] { send: "msg_id" }
);
shape!(
    /// A send that waits for its answer.
    ShmWaitingShape = ["smr_tx_entry"] {
        operation: "cmd.msg.hdr.op",
        length: "cmd.msg.hdr.size",
        answer: "cmd.msg.hdr.src_data",
        tag: "cmd.msg.hdr.tag",
        process: "peer_id",
        context: "context",
        pieces: "iov",
        count: "iov_count",
    }
);
shape!(
    /// What a message came as that has arrived.
    ShmCameShape = ["smr_cmd_ctx"] { way: "cmd.msg.hdr.op_src", answer: "cmd.msg.hdr.src_data" }
);

/// The structures of sends until 2.4.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct ShmAnswers {
    pub endpoint: ShmOwnerShape,
    pub region: ShmRegionShape,
    pub processes: ShmProcessesShape,
    pub process: ShmProcessShape,
    pub answers: ShmAnswersShape,
    pub answer: ShmAnswerShape,
    pub waiting: ShmWaitingShape,
    pub came: ShmCameShape,
    /// The ways of messages that nobody waits for (`smr_src_inline`, `smr_src_inject`).
    pub copied: [u64; 2],
}

impl ShmAnswers {
    pub(super) fn resolve(layouts: &Layouts) -> Result<Self, ReaderError> {
        let way = |name: &str| Ok::<_, ReaderError>(u64::try_from(layouts.constant(name)?).unwrap_or(u64::MAX));
        Ok(Self {
            endpoint: ShmOwnerShape::resolve(layouts)?,
            region: ShmRegionShape::resolve(layouts)?,
            processes: ShmProcessesShape::resolve(layouts)?,
            process: ShmProcessShape::resolve(layouts)?,
            answers: ShmAnswersShape::resolve(layouts)?,
            answer: ShmAnswerShape::resolve(layouts)?,
            waiting: ShmWaitingShape::resolve(layouts)?,
            came: ShmCameShape::resolve(layouts)?,
            copied: [way("smr_src_inline")?, way("smr_src_inject")?],
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
