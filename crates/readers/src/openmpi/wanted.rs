//! What is read of Open MPI's structures, by its reader and by its plug-in.

use super::{cm, detect, handles, ob1, pml_ucx, shapes};
use layouts::{Structure, Wanted};

/// What a profile of Open MPI holds.
pub static OPEN_MPI: Wanted = Wanted {
    name: "Open MPI",
    probed: "mca_pml_base_request_t",
    structures: &[STRUCTURES, handles::wanted::STRUCTURES, &[BY_NAME, BY_PLUGIN]],
    sized: SIZED,
    constants: CONSTANTS,
    pooled: &[],
};

/// By file.
const STRUCTURES: &[&[Structure]] = &[
    shapes::STRUCTURES,
    detect::STRUCTURES,
    ob1::shapes::STRUCTURES,
    ob1::shared_memory::shapes::STRUCTURES,
    pml_ucx::shapes::STRUCTURES,
    cm::shapes::STRUCTURES,
    cm::messages::STRUCTURES,
];

/// Fields whose names are put together where they are read, or that are read alone.
const BY_NAME: &[Structure] = &[
    Structure::probed(&["ompi_communicator_t"], &["c_f_to_c_index", "super.s_subscriber_table.super.obj_class"]),
    Structure::probed(
        &["ompi_datatype_t"],
        &["d_f_to_c_index", "packed_description", "super.desc.desc", "super.opt_desc.desc", "super.ptypes"],
    ),
    Structure::probed(&["ompi_errhandler_t"], &["eh_f_to_c_index"]),
    Structure::probed(&["ompi_file_t"], &["f_f_to_c_index", "super.s_subscriber_table.super.obj_class"]),
    Structure::probed(&["ompi_group_t"], &["grp_f_to_c_index"]),
    Structure::probed(
        &["ompi_info_t"],
        &[
            "i_f_to_c_index",
            "super.super.opal_list_sentinel",
            "super.super.opal_list_sentinel.opal_list_next",
            "super.super.opal_list_sentinel.opal_list_prev",
        ],
    ),
    Structure::probed(&["ompi_instance_t"], &["i_f_to_c_index", "super.s_subscriber_table.super.obj_class"]),
    Structure::probed(&["ompi_message_t"], &["m_f_to_c_index"]),
    Structure::probed(&["ompi_op_t"], &["o_f_to_c_index"]),
    Structure::probed(&["ompi_win_t"], &["w_f_to_c_index", "super.s_subscriber_table.super.obj_class"]),
    Structure::probed(
        &["ompi_osc_rdma_module_t", "ompi_osc_pt2pt_module_t"],
        &[
            "all_sync",
            "all_sync.type",
            "all_sync.epoch_active",
            "all_sync.sync.pscw.group",
            "comm",
            "flavor",
            "no_locks",
            "outstanding_lock_array",
            "outstanding_locks",
            "pw_group",
            "win",
        ],
    ),
    Structure::probed(
        &["ompi_osc_rdma_sync_t", "ompi_osc_pt2pt_sync_t"],
        &["type", "module", "sync.lock.target", "sync.lock.type"],
    ),
    Structure::probed(&["ompi_osc_sm_module_t"], &["comm", "flavor", "outstanding_locks", "post_group", "start_group"]),
    Structure::probed(&["mca_pml_ob1_t"], &["non_existing_communicator_pending"]),
    Structure::probed(&["mca_pml_ob1_comm_t", "mca_pml_comm_t"], &["prq"]),
    Structure::probed(&["ompi_coll_libnbc_component_t"], &["requests"]),
    Structure::probed(
        &["ompi_coll_base_nbc_request_t"],
        &["data.op.op", "data.op.datatype", "data.refcounted.op.op", "data.refcounted.op.datatype"],
    ),
];

/// What Open MPI's plug-in asks for (ompi/debuggers/ompi_common_dll.c, v4.1.4 and v5.0.7).
const BY_PLUGIN: &[Structure] = &[
    Structure::probed(&["opal_list_item_t"], &["opal_list_next", "opal_list_prev"]),
    Structure::probed(&["opal_list_t"], &["opal_list_sentinel"]),
    Structure::probed(
        &["opal_free_list_t"],
        &[
            "fl_mpool",
            "fl_allocations",
            "fl_frag_class",
            "fl_frag_size",
            "fl_frag_alignment",
            "fl_max_to_alloc",
            "fl_num_per_alloc",
            "fl_num_allocated",
        ],
    ),
    Structure::probed(&["opal_hash_table_t"], &["ht_table", "ht_size"]),
    Structure::probed(&["opal_pointer_array_t"], &["lowest_free", "number_free", "size", "addr"]),
    Structure::probed(
        &["ompi_request_t"],
        &["req_type", "req_status", "req_complete", "req_state", "req_f_to_c_index", "req_persistent"],
    ),
    Structure::probed(
        &["mca_pml_base_request_t"],
        &[
            "req_addr",
            "req_count",
            "req_peer",
            "req_tag",
            "req_comm",
            "req_datatype",
            "req_proc",
            "req_sequence",
            "req_type",
            "req_pml_complete",
        ],
    ),
    Structure::probed(&["mca_pml_base_send_request_t"], &["req_addr", "req_bytes_packed", "req_send_mode"]),
    Structure::probed(&["mca_pml_base_recv_request_t"], &["req_bytes_packed"]),
    Structure::probed(
        &["ompi_communicator_t"],
        &[
            "c_name",
            "c_contextid",
            "c_my_rank",
            "c_local_group",
            "c_remote_group",
            "c_flags",
            "c_f_to_c_index",
            "c_topo",
            "c_keyhash",
            "c_pml_comm",
        ],
    ),
    Structure::probed(&["mca_topo_base_module_t"], &["mtc", "reorder"]),
    Structure::probed(&["mca_topo_base_comm_cart_2_2_0_t"], &["ndims", "dims", "periods", "coords"]),
    Structure::probed(&["mca_topo_base_comm_graph_2_2_0_t"], &["nnodes", "index", "edges"]),
    Structure::probed(
        &["mca_topo_base_comm_dist_graph_2_2_0_t"],
        &["in", "inw", "out", "outw", "indegree", "outdegree", "weighted"],
    ),
    Structure::probed(
        &["ompi_group_t"],
        &["grp_proc_count", "grp_proc_pointers", "grp_my_rank", "grp_flags", "sparse_data"],
    ),
    Structure::probed(&["ompi_status_public_t"], &["MPI_SOURCE", "MPI_TAG", "MPI_ERROR", "_ucount", "_cancelled"]),
    Structure::probed(&["ompi_datatype_t"], &["name", "super"]),
    Structure::probed(&["opal_datatype_t"], &["size"]),
];

/// Types of which only the size is looked at: it tells whether a profile fits, or where the next operation of a schedule is.
const SIZED: &[&str] = &[
    "opal_lifo_t",
    "opal_infosubscriber_t",
    "opal_proc_t",
    "mca_pml_base_component_t",
    "mca_pml_base_module_t",
    "mca_pml_ob1_buffer_t",
    "attribute_value_t",
    "NBC_Args_copy",
    "NBC_Args_unpack",
];

/// Macros and enumerators. A name that ends in `*` is a prefix.
const CONSTANTS: &[&str] = &[
    "OMPI_COMM_INTER",
    "OMPI_COMM_NAMEISSET",
    "OMPI_COMM_INTRINSIC",
    "OMPI_COMM_CART",
    "OMPI_COMM_GRAPH",
    "OMPI_COMM_DIST_GRAPH",
    "OMPI_COMM_GLOBAL_INDEX",
    "OMPI_COMM_ASSERT_ALLOW_OVERTAKE",
    "OMPI_GROUP_INTRINSIC",
    "OMPI_GROUP_DENSE",
    "OMPI_GROUP_SPORADIC",
    "OMPI_GROUP_STRIDED",
    "OMPI_GROUP_BITMAP",
    "OMPI_REQUEST_*",
    "MCA_PML_REQUEST_*",
    "MCA_PML_BASE_SEND_*",
    "MCA_PML_OB1_HDR_TYPE_*",
    "MCA_BTL_VADER_FLAG_*",
    "MCA_BTL_SM_FLAG_*",
    "MCA_PML_CM_REQUEST_*",
    "MCA_COLL_BASE_TAG_*",
    "OMPI_DATATYPE_FLAG_*",
    "OPAL_DATATYPE_FLAG_*",
    "OMPI_WIN_*",
    "OMPI_FILE_*",
    "OMPI_OP_FLAGS_*",
    "OMPI_ERRHANDLER_*",
    "OMPI_ATTRIBUTE_*",
    "OMPI_OSC_PT2PT_SYNC_TYPE_*",
    "OMPI_OSC_RDMA_SYNC_TYPE_*",
    "OMPI_OSC_PT2PT_HDR_TYPE_*",
    // ompi_osc_sm_locktype_t
    "lock_*",
    "MPI_ANY_SOURCE",
    "MPI_ANY_TAG",
    "MPI_PROC_NULL",
    "MPI_COMBINER_*",
    "MPI_MODE_*",
    "MPI_SUCCESS",
    "MPI_ERR_*",
    "MPI_LOCK_*",
    "MPI_WIN_*",
    "MPI_ORDER_*",
    "MPI_DISTRIBUTE_*",
    "MPI_UNDEFINED",
    "MPI_ROOT",
    // the keyvals of predefined attributes; those of windows are among MPI_WIN_*
    "MPI_TAG_UB",
    "MPI_HOST",
    "MPI_IO",
    "MPI_WTIME_IS_GLOBAL",
    "MPI_APPNUM",
    "MPI_LASTUSEDCODE",
    "MPI_UNIVERSE_SIZE",
    "MPI_FT",
];
