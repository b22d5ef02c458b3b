//! The structures of MPICH that every reader of it decodes, field by field.
//!
//! Names are those of MPICH's source (pmodels/mpich, releases 3.2 to 5.0): src/include/mpir_{objects,comm,group,datatype}.h.

use crate::record::{composite, shapes};

shapes! {
    /// What every object begins with, and what a free one holds.
    Header = ["MPIR_Handle_common"] { handle: "handle", references: "ref_count", next: "next" };
    /// A communicator.
    Communicator = ["MPIR_Comm"] {
        handle: "handle",
        references: "ref_count",
        context: "context_id",
        receive_context: "recvcontext_id",
        rank: "rank",
        group_size: "local_size",
        remote_size: "remote_size",
        kind: "comm_kind",
        local_group: "local_group",
        remote_group: "remote_group",
        local_comm: "local_comm",
        node_comm: "node_comm",
        node_roots_comm: "node_roots_comm",
        name: "name",
    } optional { on_node: "num_local", next_tag: "next_sched_tag" };
    /// A datatype.
    Datatype = ["MPIR_Datatype"] { handle: "handle", bytes: "size", name: "name" };
}

composite! {
    /// All of them, and the constants. Each field is the shape of the structure of that name.
    Shapes {
        header: Header,
        communicator: Communicator,
        datatype: Datatype,
        /// `MPIR_COMM_KIND__INTERCOMM`.
        intercommunicator: i64 = "MPIR_COMM_KIND__INTERCOMM",
    }
}
