//! The structures of Open MPI that the reader decodes, field by field.
//!
//! Names are those of the MPI's source (open-mpi/ompi, releases 4.1 and 5.0). Which file each stands in:
//! opal/class/opal_{object,list,free_list,pointer_array}.h, ompi/communicator/communicator.h, ompi/group/group.h,
//! ompi/proc/proc.h, ompi/mca/pml/base/pml_base_{request,sendreq,recvreq}.h,
//! ompi/mca/pml/ob1/pml_ob1_{comm,hdr,recvfrag,recvreq,sendreq}.h, ompi/datatype/ompi_datatype.h.

use crate::record::shape;
use layouts::{LayoutError, Layouts};

shape!(
    /// The header of every OPAL object.
    Object = ["opal_object_t"] { class: "obj_class" }
);
shape!(
    /// A table that maps small integers to pointers.
    PointerArray = ["opal_pointer_array_t"] { len: "size", addr: "addr" }
);
shape!(
    /// A link of a list.
    ListItem = ["opal_list_item_t"] { next: "opal_list_next" }
);
shape!(
    /// A circular list with a sentinel.
    List = ["opal_list_t"] { sentinel: "opal_list_sentinel", len: "opal_list_length" }
);
shape!(
    /// A pool of objects, allocated in chunks.
    FreeList = ["opal_free_list_t"] {
        allocated: "fl_num_allocated",
        per_alloc: "fl_num_per_alloc",
        item_size: "fl_frag_size",
        alignment: "fl_frag_alignment",
        class: "fl_frag_class",
        allocations: "fl_allocations",
    }
);
shape!(
    /// The head of each chunk of a pool.
    FreeListMemory = ["opal_free_list_memory_t", "opal_free_list_item_t"] {}
);
shape!(
    /// A communicator.
    Communicator = ["ompi_communicator_t"] {
        name: "c_name",
        my_rank: "c_my_rank",
        flags: "c_flags",
        local_group: "c_local_group",
        remote_group: "c_remote_group",
        local_comm: "c_local_comm",
        pml_comm: "c_pml_comm",
    } optional {
        // Until 4.1 the context id is one number; since 5.0 it is a pair, and the index is the number that ob1 sends.
        context: "c_contextid",
        context_base: "c_contextid.cid_base",
        context_sub: "c_contextid.cid_sub.u64",
        index: "c_index",
        // Only the bits to which a component has subscribed mean anything: nobody clears the others when a communicator is
        // made (ompi/communicator/comm_init.c, v4.1.4).
        assertions: "c_assertions",
        next_tag: "c_nbc_tag",
    }
);
shape!(
    /// A group of processes, dense or sparse.
    Group = ["ompi_group_t"] {
        count: "grp_proc_count",
        procs: "grp_proc_pointers",
        flags: "grp_flags",
        parent: "grp_parent_group_ptr",
        sporadic: "sparse_data.grp_sporadic.grp_sporadic_list",
        sporadic_len: "sparse_data.grp_sporadic.grp_sporadic_list_len",
        strided_offset: "sparse_data.grp_strided.grp_strided_offset",
        strided_stride: "sparse_data.grp_strided.grp_strided_stride",
        bitmap: "sparse_data.grp_bitmap.grp_bitmap_array",
        bitmap_len: "sparse_data.grp_bitmap.grp_bitmap_array_len",
    }
);
shape!(
    /// A range of ranks in a sporadic group.
    SporadicRange = ["ompi_group_sporadic_list_t"] { first: "rank_first", len: "length" }
);
shape!(
    /// A process.
    Proc = ["ompi_proc_t"] { job: "super.proc_name.jobid", vpid: "super.proc_name.vpid" }
);
shape!(
    /// What all point-to-point requests share.
    Request = ["mca_pml_base_request_t"] {
        kind: "req_ompi.req_type",
        status_source: "req_ompi.req_status.MPI_SOURCE",
        status_tag: "req_ompi.req_status.MPI_TAG",
        status_bytes: "req_ompi.req_status._ucount",
        cancelled: "req_ompi.req_status._cancelled",
        status_error: "req_ompi.req_status.MPI_ERROR",
        complete: "req_ompi.req_complete",
        state: "req_ompi.req_state",
        persistent: "req_ompi.req_persistent",
        pml_complete: "req_pml_complete",
        free_called: "req_free_called",
        pml_kind: "req_type",
        comm: "req_comm",
        datatype: "req_datatype",
        buffer: "req_addr",
        count: "req_count",
        peer: "req_peer",
        tag: "req_tag",
        sequence: "req_sequence",
    }
);
shape!(
    /// A send request of any pml.
    BaseSend = ["mca_pml_base_send_request_t"] { data: "req_addr", bytes: "req_bytes_packed", mode: "req_send_mode" }
);
shape!(
    /// A send request of ob1.
    Send = ["mca_pml_ob1_send_request_t"] { peer_request: "req_recv", moved: "req_bytes_delivered" }
);
shape!(
    /// A receive request of any pml.
    BaseReceive = ["mca_pml_base_recv_request_t"] { bytes: "req_bytes_packed" }
);
shape!(
    /// A receive request of ob1.
    Receive = ["mca_pml_ob1_recv_request_t"] { matched: "req_match_received", moved: "req_bytes_received" }
);
shape!(
    /// ob1's part of a communicator.
    PmlComm = ["mca_pml_ob1_comm_t", "mca_pml_comm_t"] {
        sequence: "recv_sequence",
        wild_receives: "wild_receives",
        procs: "procs",
        num_procs: "num_procs",
    }
);
shape!(
    /// ob1's state for one peer in one communicator.
    PmlProc = ["mca_pml_ob1_comm_proc_t"] {
        expected_sequence: "expected_sequence",
        send_sequence: "send_sequence",
        out_of_order: "frags_cant_match",
        specific_receives: "specific_receives",
        unexpected: "unexpected_frags",
    }
);
shape!(
    /// A message that has arrived.
    Fragment = ["mca_pml_ob1_recv_frag_t"] {
        header: "hdr",
        num_segments: "num_segments",
        range: "range",
        segments: "segments",
    }
);
shape!(
    /// The header that was sent with a message.
    Header = ["mca_pml_ob1_hdr_t"] {
        kind: "hdr_common.hdr_type",
        context: "hdr_match.hdr_ctx",
        source: "hdr_match.hdr_src",
        tag: "hdr_match.hdr_tag",
        sequence: "hdr_match.hdr_seq",
        rendezvous_bytes: "hdr_rndv.hdr_msg_length",
    } optional {
        // Only builds for mixed byte orders send these two bytes, since 5.0 debug builds too (pml_ob1_hdr.h, v4.1.4 and
        // v5.0.7).
        padding: "hdr_match.hdr_padding",
        // Since 5.0, a message for a communicator whose index the sender does not know yet has a longer header.
        extended_match: "hdr_ext_match.hdr_match",
        extended_base: "hdr_ext_match.hdr_ext_cid.hdr_cid.cid_base",
        extended_sub: "hdr_ext_match.hdr_ext_cid.hdr_cid.cid_sub.u64",
        extended_rendezvous_bytes: "hdr_ext_rndv.hdr_rndv.hdr_msg_length",
    }
);
shape!(
    /// A piece of a message's data.
    Segment = ["mca_btl_base_segment_t"] { addr: "seg_addr", len: "seg_len" }
);
shape!(
    /// A datatype.
    Datatype = ["ompi_datatype_t"] { name: "name", bytes: "super.size" }
);

/// All of them, and the constants. Each field is the shape of the structure of that name.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Shapes {
    pub object: Object,
    pub pointer_array: PointerArray,
    pub list_item: ListItem,
    pub list: List,
    pub communicator: Communicator,
    pub group: Group,
    pub sporadic_range: SporadicRange,
    pub proc: Proc,
    pub datatype: Datatype,
    pub constants: Constants,
}

/// What only the pml ob1 has; resolved only where ob1 is selected. Each field is the shape of that name.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Ob1Shapes {
    pub free_list: FreeList,
    pub free_list_memory: FreeListMemory,
    pub request: Request,
    pub base_send: BaseSend,
    pub send: Send,
    pub base_receive: BaseReceive,
    pub receive: Receive,
    pub pml_comm: PmlComm,
    pub pml_proc: PmlProc,
    pub fragment: Fragment,
    pub header: Header,
    pub segment: Segment,
}

/// Constants of the MPI's headers, under their own names.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Constants {
    pub comm_inter: u64,
    pub comm_name_is_set: u64,
    pub comm_intrinsic: u64,
    /// Since 5.0.
    pub comm_global_index: Option<u64>,
    /// Profiles of users that were made earlier do not have it.
    pub comm_may_overtake: Option<u64>,
    pub group_dense: u64,
    pub group_sporadic: u64,
    pub group_strided: u64,
    pub group_bitmap: u64,
    pub any_source: i64,
    pub any_tag: i64,
}

impl Shapes {
    /// Resolves every field and constant.
    ///
    /// # Errors
    /// Names the first that no layout source has.
    pub fn resolve(layouts: &Layouts) -> Result<Self, LayoutError> {
        let flag = |name: &str| layouts.constant(name).map(|value| value as u64);
        Ok(Self {
            object: Object::resolve(layouts)?,
            pointer_array: PointerArray::resolve(layouts)?,
            list_item: ListItem::resolve(layouts)?,
            list: List::resolve(layouts)?,
            communicator: Communicator::resolve(layouts)?,
            group: Group::resolve(layouts)?,
            sporadic_range: SporadicRange::resolve(layouts)?,
            proc: Proc::resolve(layouts)?,
            datatype: Datatype::resolve(layouts)?,
            constants: Constants {
                comm_inter: flag("OMPI_COMM_INTER")?,
                comm_name_is_set: flag("OMPI_COMM_NAMEISSET")?,
                comm_intrinsic: flag("OMPI_COMM_INTRINSIC")?,
                comm_global_index: flag("OMPI_COMM_GLOBAL_INDEX").ok(),
                comm_may_overtake: flag("OMPI_COMM_ASSERT_ALLOW_OVERTAKE").ok(),
                group_dense: flag("OMPI_GROUP_DENSE")?,
                group_sporadic: flag("OMPI_GROUP_SPORADIC")?,
                group_strided: flag("OMPI_GROUP_STRIDED")?,
                group_bitmap: flag("OMPI_GROUP_BITMAP")?,
                any_source: layouts.constant("MPI_ANY_SOURCE")?,
                any_tag: layouts.constant("MPI_ANY_TAG")?,
            },
        })
    }
}

impl Ob1Shapes {
    /// Resolves every field.
    ///
    /// # Errors
    /// Names the first that no layout source has.
    pub fn resolve(layouts: &Layouts) -> Result<Self, LayoutError> {
        Ok(Self {
            free_list: FreeList::resolve(layouts)?,
            free_list_memory: FreeListMemory::resolve(layouts)?,
            request: Request::resolve(layouts)?,
            base_send: BaseSend::resolve(layouts)?,
            send: Send::resolve(layouts)?,
            base_receive: BaseReceive::resolve(layouts)?,
            receive: Receive::resolve(layouts)?,
            pml_comm: PmlComm::resolve(layouts)?,
            pml_proc: PmlProc::resolve(layouts)?,
            fragment: Fragment::resolve(layouts)?,
            header: Header::resolve(layouts)?,
            segment: Segment::resolve(layouts)?,
        })
    }
}
