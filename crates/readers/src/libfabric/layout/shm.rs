//! shm (prov/shm/src/smr.h).

use super::shared::{EntryShape, Pool};
use crate::record::{composite, shapes};

shapes! {
    /// The endpoint of shm (prov/shm/src/smr.h).
    ShmShape = ["smr_ep"] { shared: "srx" };
    /// Its own receives and messages, until 1.18.
    ShmReceivesShape = ["smr_srx_ctx"] { receives: "trecv_queue.list", messages: "unexp_tagged_queue.list" };
    /// An entry of them.
    ShmEntryShape = ["smr_rx_entry"] { entry: "peer_entry", ignore: "ignore" };
    /// What a message came as.
    ShmCommandShape = ["smr_cmd_ctx"] {
        flags: "cmd.msg.hdr.op_flags",
        length: "cmd.msg.hdr.size",
        data: "cmd.msg.hdr.data",
    };
    /// Where the endpoint of shm has its sends and the processes, since 2.5.
    ShmSendsShape = ["smr_ep"] { pool: "pend_pool", processes: "map" };
    /// The processes.
    ShmProcessesShape = ["smr_map"] { first: "peers" };
    /// One of them.
    ShmProcessShape = ["smr_peer"] { address: "fiaddr" };
    /// What is not done: a send, or the copying of a message.
    ShmPendingShape = ["smr_pend_entry"] {
        kind: "type",
        command: "cmd",
        pieces: "iov",
        count: "iov_count",
        context: "comp_ctx",
    };
    /// How a message is announced.
    ShmHeaderShape = ["smr_cmd"] {
        sender: "hdr.tx_ctx",
        length: "hdr.size",
        tag: "hdr.tag",
        process: "hdr.tx_id",
        operation: "hdr.op",
    };
    /// Where a message that has arrived has its announcement.
    ShmArrivedShape = ["smr_cmd_ctx"] { command: "cmd" };
    /// Where the endpoint of shm has its part of shared memory, until 2.4.
    ShmOwnerShape = ["smr_ep"] { region: "region" };
    /// That part.
    ShmRegionShape = ["smr_region"] { processes: "map", answers: "resp_queue_offset" };
    /// The answers that are awaited, in the order in which their sends were posted (`OFI_DECLARE_CIRQUE`, include/ofi_rbuf.h).
    ShmAnswersShape = ["smr_resp_queue"] {
        count: "size",
        mask: "size_mask",
        read: "rcnt",
        written: "wcnt",
        first: "buf",
    };
    /// One of them.
    ShmAnswerShape = ["smr_resp"] { send: "msg_id" };
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
    };
    /// What a message came as that has arrived.
    ShmCameShape = ["smr_cmd_ctx"] { way: "cmd.msg.hdr.op_src", answer: "cmd.msg.hdr.src_data" };
}

composite! {
    /// The structures of sends.
    ShmSends {
        endpoint: ShmSendsShape,
        processes: ShmProcessesShape,
        process: ShmProcessShape,
        pending: ShmPendingShape,
        header: ShmHeaderShape,
        arrived: ShmArrivedShape,
        pool: Pool,
        /// What says that it is a send (`SMR_TX_ENTRY`).
        send: u64 = "SMR_TX_ENTRY",
    }
}

composite! {
    /// The structures of sends until 2.4.
    ShmAnswers {
        endpoint: ShmOwnerShape,
        region: ShmRegionShape,
        processes: ShmProcessesShape,
        process: ShmProcessShape,
        answers: ShmAnswersShape,
        answer: ShmAnswerShape,
        waiting: ShmWaitingShape,
        came: ShmCameShape,
        /// The ways of messages that nobody waits for.
        in_line: u64 = "smr_src_inline",
        injected: u64 = "smr_src_inject",
    }
}
composite! {
    /// The structures of shm's own queues.
    Shm {
        lists: ShmReceivesShape,
        whole: ShmEntryShape,
        entry: EntryShape,
        command: ShmCommandShape,
    }
}
