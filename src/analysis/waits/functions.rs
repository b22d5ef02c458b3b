//! What the functions of MPI wait for, as the standard has it: a table, because there are hundreds of them and few ways to wait.

/// Whom a collective operation waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Everybody for everybody.
    All,
    /// The others for the root: MPI_Bcast, MPI_Scatter. The root may go on at once.
    FromRoot,
    /// The root for the others: MPI_Gather, MPI_Reduce. The others may go on at once.
    ToRoot,
    /// Some of the members, which ones the call alone does not tell: lower ranks, neighbours, a group.
    Some,
}

/// How a function waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Way {
    /// It never waits for another process.
    Local,
    /// It looks whether something has come about, and returns.
    Poll,
    /// For a message.
    Receive,
    /// For the message that a matched probe has found.
    MatchedReceive,
    /// Until its message is received, or kept by the library.
    Send,
    /// For both.
    SendReceive,
    /// For all requests that it was given.
    WaitAll,
    /// For any of them.
    WaitAny,
    /// For a message that it does not receive.
    Probe,
    /// For other members of its communicator.
    Collective(Reach),
    /// For others in the epochs of a window.
    Epoch,
    /// For the rest of the job to start.
    Init,
    /// For the rest of the job to end.
    Finalize,
    /// It ends the job.
    Abort,
    /// For the messages in the buffer of MPI_Bsend.
    BufferDetach,
    /// For processes that are not of this job yet.
    Connect,
    /// Not in the table.
    Unknown,
}

const TABLE: &[(Way, &[&str])] = &[
    (Way::Receive, &["Recv"]),
    (Way::MatchedReceive, &["Mrecv"]),
    (Way::Send, &["Send", "Ssend", "Rsend"]),
    (Way::SendReceive, &["Sendrecv", "Sendrecv_replace"]),
    (Way::WaitAll, &["Wait", "Waitall"]),
    (Way::WaitAny, &["Waitany", "Waitsome"]),
    (Way::Probe, &["Probe", "Mprobe"]),
    (
        Way::Poll,
        &[
            "Test",
            "Testall",
            "Testany",
            "Testsome",
            "Iprobe",
            "Improbe",
            "Request_get_status",
            "Request_get_status_all",
            "Request_get_status_any",
            "Request_get_status_some",
            "Parrived",
            "Win_test",
        ],
    ),
    (
        Way::Collective(Reach::All),
        &[
            "Barrier",
            "Allgather",
            "Allgatherv",
            "Allreduce",
            "Alltoall",
            "Alltoallv",
            "Alltoallw",
            "Reduce_scatter",
            "Reduce_scatter_block",
            "Comm_dup",
            "Comm_dup_with_info",
            "Comm_create",
            "Comm_split",
            "Comm_split_type",
            "Comm_disconnect",
            "Intercomm_merge",
            "Cart_create",
            "Cart_sub",
            "Graph_create",
            "Dist_graph_create",
            "Dist_graph_create_adjacent",
            "Win_create",
            "Win_allocate",
            "Win_allocate_shared",
            "Win_create_dynamic",
            "Win_free",
            "Win_fence",
            "File_open",
            "File_close",
            "File_set_view",
            "File_set_size",
            "File_preallocate",
            "File_set_atomicity",
            "File_sync",
        ],
    ),
    (Way::Collective(Reach::FromRoot), &["Bcast", "Scatter", "Scatterv"]),
    (Way::Collective(Reach::ToRoot), &["Gather", "Gatherv", "Reduce"]),
    (
        Way::Collective(Reach::Some),
        &[
            "Scan",
            "Exscan",
            "Neighbor_allgather",
            "Neighbor_allgatherv",
            "Neighbor_alltoall",
            "Neighbor_alltoallv",
            "Neighbor_alltoallw",
            "Comm_create_group",
            "Comm_create_from_group",
            "Intercomm_create",
            "Intercomm_create_from_groups",
            "Comm_free",
            "File_read_all",
            "File_read_at_all",
            "File_read_all_begin",
            "File_read_all_end",
            "File_read_at_all_begin",
            "File_read_at_all_end",
            "File_read_ordered",
            "File_read_ordered_begin",
            "File_read_ordered_end",
            "File_write_all",
            "File_write_at_all",
            "File_write_all_begin",
            "File_write_all_end",
            "File_write_at_all_begin",
            "File_write_at_all_end",
            "File_write_ordered",
            "File_write_ordered_begin",
            "File_write_ordered_end",
            "File_seek_shared",
            "File_read_shared",
            "File_write_shared",
        ],
    ),
    (
        Way::Epoch,
        &[
            "Win_start",
            "Win_complete",
            "Win_post",
            "Win_wait",
            "Win_lock",
            "Win_lock_all",
            "Win_unlock",
            "Win_unlock_all",
            "Win_flush",
            "Win_flush_all",
            "Win_flush_local",
            "Win_flush_local_all",
        ],
    ),
    (Way::Init, &["Init", "Init_thread", "Session_init"]),
    (Way::Finalize, &["Finalize", "Session_finalize"]),
    (Way::Abort, &["Abort"]),
    (Way::BufferDetach, &["Buffer_detach", "Comm_detach_buffer", "Session_detach_buffer", "Buffer_flush"]),
    (
        Way::Connect,
        &["Comm_spawn", "Comm_spawn_multiple", "Comm_accept", "Comm_connect", "Comm_join", "Open_port", "Lookup_name"],
    ),
];

/// Beginnings of the names of functions that return without another process.
const LOCAL: &[&str] = &[
    "Add_",
    "Address",
    "Aint_",
    "Alloc_mem",
    "Attr_",
    "Bsend",
    "Buffer_attach",
    "Cancel",
    "Cart",
    "Comm_",
    "Dims_create",
    "Err",
    "Fetch_and_op",
    "File_",
    "Finalized",
    "Free_mem",
    "Get",
    "Graph",
    "Group_",
    "Grequest_",
    "Info_",
    "Initialized",
    "Is_thread_main",
    "Keyval",
    "Op_",
    "Pack",
    "Pcontrol",
    "Pready",
    "Psend",
    "Precv",
    "Put",
    "Query_thread",
    "Register",
    "Request_",
    "Session_",
    "Start",
    "Status_",
    "T_",
    "Topo_test",
    "Type_",
    "Unpack",
    "Unpublish",
    "Publish",
    "Win_",
    "Wtick",
    "Wtime",
    "Accumulate",
    "Compare_and_swap",
    "Raccumulate",
    "Rget",
    "Rput",
    "Close_port",
    "Dist_graph",
];

/// How a function waits, by its name in C (`Call::c_name`).
pub fn way(c_name: &str) -> Way {
    let name = plain(c_name);
    let listed = TABLE.iter().find(|(_, names)| names.contains(&name));
    if let Some((way, _)) = listed {
        return *way;
    }
    // MPI_Isend, MPI_Ibarrier: names of non-blocking functions are those of others in small letters after an I. Persistent
    // ones end in _init.
    let mut letters = name.chars();
    let non_blocking = letters.next() == Some('I')
        && letters.next().is_some_and(|letter| letter.is_ascii_lowercase())
        && !name.starts_with("Info")
        && !name.starts_with("Init");
    if non_blocking || name.ends_with("_init") || LOCAL.iter().any(|prefix| name.starts_with(prefix)) {
        return Way::Local;
    }
    Way::Unknown
}

/// The name without its prefix and without the mark of functions with large counts.
fn plain(c_name: &str) -> &str {
    let name = c_name.strip_prefix("MPI_").or_else(|| c_name.strip_prefix("MPIX_")).unwrap_or(c_name);
    name.strip_suffix("_c").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_of_functions() {
        for (name, expected) in [
            ("MPI_Recv", Way::Receive),
            ("MPI_Recv_c", Way::Receive),
            ("MPI_Irecv", Way::Local),
            ("MPI_Ibarrier", Way::Local),
            ("MPI_Iprobe", Way::Poll),
            ("MPI_Init", Way::Init),
            ("MPI_Init_thread", Way::Init),
            ("MPI_Initialized", Way::Local),
            ("MPI_Info_set", Way::Local),
            ("MPI_Intercomm_create", Way::Collective(Reach::Some)),
            ("MPI_Comm_rank", Way::Local),
            ("MPI_Comm_split", Way::Collective(Reach::All)),
            ("MPI_Send_init", Way::Local),
            ("MPI_Bsend", Way::Local),
            ("MPI_Win_wait", Way::Epoch),
            ("MPI_Win_get_attr", Way::Local),
            ("MPI_Frobnicate", Way::Unknown),
            ("", Way::Unknown),
        ] {
            assert_eq!(way(name), expected, "{name}");
        }
    }
}
