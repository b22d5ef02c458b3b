//! The structures of Open MPI under their names, with members in made-up order and sizes.

use super::layout::{C, Order, Types};
use super::rng::Rng;
use target::TargetAbi;

/// Which optional members a build has.
#[derive(Debug, Clone, Copy, Default)]
pub struct Build {
    /// Message headers end with two bytes of padding (builds for mixed byte orders).
    pub padded: bool,
    /// The context id is a pair, and headers may be extended by it (since 5.0).
    pub extended: bool,
    /// The queues are those of custom matching.
    pub custom_matching: bool,
    /// Names of communicators are pointers.
    pub name_pointers: bool,
}

/// Types and constants of a made-up build.
pub fn types(abi: TargetAbi, build: Build, seed: u64) -> Types {
    let mut types = Types::new(abi, seed);
    basics(&mut types);
    handles(&mut types, build);
    requests(&mut types);
    matching(&mut types, build);
    over_ucx(&mut types);
    shared_memory(&mut types, build);
    over_cm(&mut types);
    constants(&mut types, build, seed);
    types
}

fn basics(types: &mut Types) {
    use C::{Chars, I, Ptr, Size, Struct, U};
    use Order::Shuffled;
    types.define("opal_object_t", Shuffled, &[("obj_magic_id", U(8)), ("obj_class", Ptr), ("obj_count", I(4))]);
    let list_item = [("super", Struct("opal_object_t")), ("opal_list_next", Ptr), ("opal_list_prev", Ptr)];
    types.define("opal_list_item_t", Shuffled, &[&list_item[..], &[("item_free", I(4))]].concat());
    let list = [("super", Struct("opal_object_t")), ("opal_list_sentinel", Struct("opal_list_item_t"))];
    types.define("opal_list_t", Shuffled, &[&list[..], &[("opal_list_length", Size)]].concat());
    let item = [("super", Struct("opal_list_item_t")), ("registration", Ptr), ("ptr", Ptr)];
    types.define("opal_free_list_item_t", Shuffled, &item);
    let pool = [
        ("super", Struct("opal_object_t")),
        ("fl_max_to_alloc", Size),
        ("fl_num_allocated", Size),
        ("fl_num_per_alloc", Size),
        ("fl_frag_size", Size),
        ("fl_frag_alignment", Size),
        ("fl_frag_class", Ptr),
        ("fl_allocations", Struct("opal_list_t")),
    ];
    types.define("opal_free_list_t", Shuffled, &pool);
    let array = [("super", Struct("opal_object_t")), ("lowest_free", I(4)), ("size", I(4)), ("addr", Ptr)];
    types.define("opal_pointer_array_t", Shuffled, &array);
    let component = [
        ("mca_project_name", Chars(16)),
        ("mca_component_name", Chars(64)),
        ("mca_component_major_version", I(4)),
        ("mca_component_minor_version", I(4)),
        ("mca_component_release_version", I(4)),
    ];
    types.define("mca_base_component_t", Shuffled, &component);
}

fn handles(types: &mut Types, build: Build) {
    use C::{Chars, I, Ptr, Size, Struct, U};
    use Order::{AsWritten, Shuffled};
    types.define("extended_cid", AsWritten, &[("cid_base", U(8)), ("cid_sub.u64", U(8))]);
    let mut comm = vec![
        ("super", Struct("opal_object_t")),
        ("c_name", if build.name_pointers { Ptr } else { Chars(64) }),
        ("c_my_rank", I(4)),
        ("c_flags", U(4)),
        ("c_assertions", U(4)),
        ("c_local_group", Ptr),
        ("c_remote_group", Ptr),
        ("c_local_comm", Ptr),
        ("c_pml_comm", Ptr),
        ("c_topo", Ptr),
    ];
    if build.extended {
        comm.extend([("c_contextid", Struct("extended_cid")), ("c_index", U(4))]);
    } else {
        comm.push(("c_contextid", U(4)));
    }
    types.define("ompi_communicator_t", Shuffled, &comm);
    types.define("sporadic", Shuffled, &[("grp_sporadic_list", Ptr), ("grp_sporadic_list_len", I(4))]);
    let strided = [("grp_strided_stride", I(4)), ("grp_strided_offset", I(4)), ("grp_strided_last_element", I(4))];
    types.define("strided", Shuffled, &strided);
    types.define("bitmap", Shuffled, &[("grp_bitmap_array", Ptr), ("grp_bitmap_array_len", I(4))]);
    let sparse =
        [("grp_sporadic", Struct("sporadic")), ("grp_strided", Struct("strided")), ("grp_bitmap", Struct("bitmap"))];
    types.define("sparse_data", Order::Union, &sparse);
    let group = [
        ("super", Struct("opal_object_t")),
        ("grp_proc_count", I(4)),
        ("grp_my_rank", I(4)),
        ("grp_proc_pointers", Ptr),
        ("grp_flags", U(4)),
        ("grp_parent_group_ptr", Ptr),
        ("sparse_data", Struct("sparse_data")),
    ];
    types.define("ompi_group_t", Shuffled, &group);
    types.define("ompi_group_sporadic_list_t", Shuffled, &[("length", I(4)), ("rank_first", I(4))]);
    types.define("process_name", AsWritten, &[("jobid", U(4)), ("vpid", U(4))]);
    let opal_proc = [("super", Struct("opal_list_item_t")), ("proc_arch", U(4)), ("proc_name", Struct("process_name"))];
    types.define("opal_proc_t", Shuffled, &opal_proc);
    types.define("ompi_proc_t", Shuffled, &[("super", Struct("opal_proc_t")), ("proc_endpoints", Chars(32))]);
    let opal_datatype = [("super", Struct("opal_object_t")), ("flags", U(2)), ("size", Size), ("lb", I(8))];
    types.define("opal_datatype_t", Shuffled, &opal_datatype);
    types.define(
        "ompi_datatype_t",
        Shuffled,
        &[("super", Struct("opal_datatype_t")), ("id", I(4)), ("name", Chars(64))],
    );
}

fn requests(types: &mut Types) {
    use C::{Chars, I, Ptr, Size, Struct, U};
    use Order::Shuffled;
    let status =
        [("MPI_SOURCE", I(4)), ("MPI_TAG", I(4)), ("MPI_ERROR", I(4)), ("_cancelled", I(4)), ("_ucount", Size)];
    types.define("ompi_status_public_t", Shuffled, &status);
    let request = [
        ("super", Struct("opal_free_list_item_t")),
        ("req_type", U(4)),
        ("req_status", Struct("ompi_status_public_t")),
        ("req_complete", Ptr),
        ("req_state", U(4)),
        ("req_persistent", U(1)),
        ("req_complete_cb_data", Ptr),
        ("req_f_to_c_index", I(4)),
    ];
    types.define("ompi_request_t", Shuffled, &request);
    let base = [
        ("req_ompi", Struct("ompi_request_t")),
        ("req_pml_complete", I(4)),
        ("req_free_called", I(4)),
        ("req_type", U(4)),
        ("req_comm", Ptr),
        ("req_datatype", Ptr),
        ("req_convertor", Chars(96)),
        ("req_addr", Ptr),
        ("req_count", Size),
        ("req_peer", I(4)),
        ("req_tag", I(4)),
        ("req_sequence", U(8)),
    ];
    types.define("mca_pml_base_request_t", Shuffled, &base);
    let send = [
        ("req_base", Struct("mca_pml_base_request_t")),
        ("req_addr", Ptr),
        ("req_bytes_packed", Size),
        ("req_send_mode", U(4)),
    ];
    types.define("mca_pml_base_send_request_t", Shuffled, &send);
    let send = [
        ("req_send", Struct("mca_pml_base_send_request_t")),
        ("req_state", I(4)),
        ("req_recv", U(8)),
        ("req_bytes_delivered", Size),
    ];
    types.define("mca_pml_ob1_send_request_t", Shuffled, &send);
    let receive = [("req_base", Struct("mca_pml_base_request_t")), ("req_bytes_packed", Size)];
    types.define("mca_pml_base_recv_request_t", Shuffled, &receive);
    let receive = [
        ("req_recv", Struct("mca_pml_base_recv_request_t")),
        ("req_bytes_received", Size),
        ("req_match_received", U(1)),
        ("req_lock", I(4)),
    ];
    types.define("mca_pml_ob1_recv_request_t", Shuffled, &receive);
}

fn matching(types: &mut Types, build: Build) {
    use C::{Array, Chars, I, Ptr, Size, Struct, U};
    use Order::{AsWritten, Shuffled, Union};
    let mut comm =
        vec![("super", Struct("opal_object_t")), ("recv_sequence", U(4)), ("procs", Ptr), ("num_procs", Size)];
    let mut proc = vec![
        ("super", Struct("opal_object_t")),
        ("expected_sequence", U(2)),
        ("send_sequence", I(4)),
        ("frags_cant_match", Ptr),
    ];
    if build.custom_matching {
        comm.extend([("prq", Ptr), ("umq", Ptr)]);
    } else {
        comm.push(("wild_receives", Struct("opal_list_t")));
        let lists = [("specific_receives", Struct("opal_list_t")), ("unexpected_frags", Struct("opal_list_t"))];
        proc.extend(lists);
    }
    types.define(if build.extended { "mca_pml_comm_t" } else { "mca_pml_ob1_comm_t" }, Shuffled, &comm);
    types.define("mca_pml_ob1_comm_proc_t", Shuffled, &proc);

    types.define("mca_pml_ob1_common_hdr_t", AsWritten, &[("hdr_type", U(1)), ("hdr_flags", U(1))]);
    // The sequence number stays at the end: it ends what is sent.
    let mut inner = vec![("hdr_ctx", U(2)), ("hdr_src", I(4)), ("hdr_tag", I(4))];
    types.rng.shuffle(&mut inner);
    let mut header = vec![("hdr_common", Struct("mca_pml_ob1_common_hdr_t"))];
    header.extend(inner);
    header.push(("hdr_seq", U(2)));
    if build.padded {
        header.push(("hdr_padding", Chars(2)));
    }
    types.define("mca_pml_ob1_match_hdr_t", AsWritten, &header);
    let rendezvous =
        [("hdr_match", Struct("mca_pml_ob1_match_hdr_t")), ("hdr_src_req", U(8)), ("hdr_msg_length", U(8))];
    types.define("mca_pml_ob1_rendezvous_hdr_t", AsWritten, &rendezvous);
    let mut all = vec![
        ("hdr_common", Struct("mca_pml_ob1_common_hdr_t")),
        ("hdr_match", Struct("mca_pml_ob1_match_hdr_t")),
        ("hdr_rndv", Struct("mca_pml_ob1_rendezvous_hdr_t")),
    ];
    if build.extended {
        let cid = [
            ("hdr_common", Struct("mca_pml_ob1_common_hdr_t")),
            ("hdr_cid", Struct("extended_cid")),
            ("hdr_src_comm_index", I(2)),
            ("hdr_src", I(4)),
        ];
        types.define("mca_pml_ob1_cid_hdr_t", AsWritten, &cid);
        let first = ("hdr_ext_cid", Struct("mca_pml_ob1_cid_hdr_t"));
        let extended = [first, ("hdr_match", Struct("mca_pml_ob1_match_hdr_t"))];
        types.define("mca_pml_ob1_ext_match_hdr_t", AsWritten, &extended);
        let extended = [first, ("hdr_rndv", Struct("mca_pml_ob1_rendezvous_hdr_t"))];
        types.define("mca_pml_ob1_ext_rendezvous_hdr_t", AsWritten, &extended);
        all.extend([
            ("hdr_cid", Struct("mca_pml_ob1_cid_hdr_t")),
            ("hdr_ext_match", Struct("mca_pml_ob1_ext_match_hdr_t")),
            ("hdr_ext_rndv", Struct("mca_pml_ob1_ext_rendezvous_hdr_t")),
        ]);
    }
    types.define("mca_pml_ob1_hdr_t", Union, &all);
    types.define("mca_btl_base_segment_t", Shuffled, &[("seg_addr", Ptr), ("seg_padding", U(4)), ("seg_len", U(8))]);
    let fragment = [
        ("super", Struct("opal_free_list_item_t")),
        ("hdr", Struct("mca_pml_ob1_hdr_t")),
        ("num_segments", Size),
        ("range", Ptr),
        ("segments", Array("mca_btl_base_segment_t", 3)),
    ];
    types.define("mca_pml_ob1_recv_frag_t", Shuffled, &fragment);
    let ob1 = [("super", Chars(64)), ("priority", I(4)), ("non_existing_communicator_pending", Struct("opal_list_t"))];
    types.define("mca_pml_ob1_t", Shuffled, &ob1);
}

fn shared_memory(types: &mut Types, build: Build) {
    use C::{I, Ptr, Size, Struct, U};
    use Order::Shuffled;
    let [component, endpoint, fragment, fifo] = match build.extended {
        false => ["mca_btl_vader_component_t", "mca_btl_vader_endpoint_t", "mca_btl_vader_hdr_t", "vader_fifo_t"],
        true => ["mca_btl_sm_component_t", "mca_btl_sm_endpoint_t", "mca_btl_sm_hdr_t", "sm_fifo_t"],
    };
    let own = [
        ("super", Struct("mca_base_component_t")),
        ("my_segment", Ptr),
        ("segment_size", Size),
        ("fbox_size", U(4)),
        ("endpoints", Ptr),
        ("fbox_in_endpoints", Ptr),
        ("num_fbox_in_endpoints", U(4)),
        ("my_fifo", Ptr),
    ];
    types.define(component, Shuffled, &own);
    types.define("fbox_in", Shuffled, &[("buffer", Ptr), ("start", U(4)), ("seq", U(2))]);
    let peer = [
        ("super", Struct("opal_list_item_t")),
        ("fbox_in", Struct("fbox_in")),
        ("peer_smp_rank", if build.extended { U(2) } else { I(4) }),
        ("segment_base", Ptr),
        ("fifo", Ptr),
    ];
    types.define(endpoint, Shuffled, &peer);
    types.define("iovec", Shuffled, &[("iov_base", Ptr), ("iov_len", Size)]);
    let header = [
        ("next", Size),
        ("frag", Ptr),
        ("tag", U(1)),
        ("flags", U(1)),
        ("len", I(4)),
        ("sc_iov", Struct("iovec")),
        ("fbox_base", Size),
    ];
    types.define(fragment, Shuffled, &header);
    types.define(fifo, Shuffled, &[("fifo_head", Size), ("fifo_tail", Size), ("fbox_available", I(4))]);
}

/// The pml ucx, and what it uses.
fn over_ucx(types: &mut Types) {
    use C::{Chars, I, Ptr, Size, Struct, U};
    use Order::{AsWritten, Shuffled};
    // What lies behind the table of datatypes is found there, wherever it is.
    let module = [
        ("super", Chars(64)),
        ("ucp_context", Ptr),
        ("ucp_worker", Ptr),
        ("predefined_types", Chars(80)),
        ("persistent_reqs", Struct("opal_free_list_t")),
        ("completed_send_req", Struct("ompi_request_t")),
        ("request_size", Size),
    ];
    types.define("mca_pml_ucx_module_t", AsWritten, &module);
    types.define("ucx_send", AsWritten, &[("mode", U(4)), ("ep", Ptr)]);
    types.define("ucx_recv", AsWritten, &[("tag_mask", U(8))]);
    let persistent = [
        ("ompi", Struct("ompi_request_t")),
        ("tmp_req", Ptr),
        ("flags", U(4)),
        ("buffer", Ptr),
        ("count", Size),
        ("ompi_datatype", Ptr),
        ("tag", U(8)),
        ("send", Struct("ucx_send")),
        ("recv", Struct("ucx_recv")),
    ];
    types.define("mca_pml_ucx_persistent_request_t", Shuffled, &persistent);
    types.define(
        "opal_convertor_t",
        Shuffled,
        &[("super", Struct("opal_object_t")), ("count", Size), ("pBaseBuf", Ptr), ("pDesc", Ptr)],
    );
    let convertor =
        [("super", Struct("opal_free_list_item_t")), ("datatype", Ptr), ("opal_conv", Struct("opal_convertor_t"))];
    types.define("mca_pml_ucx_convertor_t", Shuffled, &convertor);
    let message = [("super", Struct("opal_free_list_item_t")), ("comm", Ptr), ("req_ptr", Ptr), ("peer", I(4))];
    types.define("ompi_message_t", Shuffled, &[&message[..], &[("count", Size)]].concat());
}

/// The pml cm, and the mtl ofi.
fn over_cm(types: &mut Types) {
    use C::{Chars, I, Ptr, Size, Struct, U};
    use Order::{AsWritten, Shuffled};
    types.define("mca_mtl_request_t", AsWritten, &[("ompi_req", Ptr), ("completion_callback", Ptr)]);
    let base = [
        ("req_ompi", Struct("ompi_request_t")),
        ("req_pml_complete", I(4)),
        ("req_free_called", I(4)),
        ("req_pml_type", U(4)),
        ("req_comm", Ptr),
        ("req_datatype", Ptr),
        ("req_convertor", Struct("opal_convertor_t")),
    ];
    types.define("cm_request", Shuffled, &base);
    types.define("cm_send", AsWritten, &[("req_base", Struct("cm_request")), ("req_send_mode", U(4))]);
    let mtl = ("req_mtl", Struct("mca_mtl_request_t"));
    let more = [("req_addr", Ptr), ("req_count", Size), ("req_peer", I(4)), ("req_tag", I(4)), ("req_buff", Ptr), mtl];
    let (receive, send) = (("req_base", Struct("cm_request")), ("req_send", Struct("cm_send")));
    types.define("mca_pml_cm_thin_recv_request_t", AsWritten, &[receive, mtl]);
    types.define("mca_pml_cm_hvy_recv_request_t", AsWritten, &[&[receive][..], &more].concat());
    types.define("mca_pml_cm_thin_send_request_t", AsWritten, &[send, mtl]);
    types.define("mca_pml_cm_hvy_send_request_t", AsWritten, &[&[send][..], &more].concat());
    // Objects of the pools have room for the mtl's part.
    for (slot, request) in
        [("cm_send_slot", "mca_pml_cm_hvy_send_request_t"), ("cm_receive_slot", "mca_pml_cm_hvy_recv_request_t")]
    {
        types.define(slot, AsWritten, &[("request", Struct(request)), ("rest", Chars(320))]);
    }
    let request = [
        ("super", Struct("mca_mtl_request_t")),
        ("type", U(4)),
        ("ctx", Chars(64)),
        ("status", Struct("ompi_status_public_t")),
        ("match_state", I(4)),
        ("comm", Ptr),
        ("buffer", Ptr),
        ("length", Size),
        ("convertor", Ptr),
        ("match_bits", U(8)),
        ("remote_addr", U(8)),
        ("parent", Ptr),
    ];
    types.define("ompi_mtl_ofi_request_t", AsWritten, &request);
    let module = [
        ("base", Chars(64)),
        ("ofi_ctxt", Ptr),
        ("rx_ctx_bits", I(4)),
        ("total_ctxts_used", I(4)),
        ("any_addr", U(8)),
        ("fi_cq_data", U(1)),
        ("num_bits_source_rank", I(4)),
        ("mpi_tag_mask", U(8)),
        ("sync_send_ack", U(8)),
        ("sync_proto_mask", U(8)),
    ];
    types.define("mca_mtl_ofi_module_t", Shuffled, &module);
    types.define("mca_mtl_ofi_context_t", Shuffled, &[("tx_ep", Ptr), ("rx_ep", Ptr), ("cq", Ptr)]);
    let endpoint = [("super", Struct("opal_list_item_t")), ("mtl_ofi_module", Ptr), ("peer_fiaddr", U(8))];
    types.define("mca_mtl_ofi_endpoint_t", Shuffled, &endpoint);
    let kinds = [
        "MCA_PML_CM_REQUEST_SEND_HEAVY",
        "MCA_PML_CM_REQUEST_SEND_THIN",
        "MCA_PML_CM_REQUEST_RECV_HEAVY",
        "MCA_PML_CM_REQUEST_RECV_THIN",
    ];
    for (value, name) in (3..).zip(kinds) {
        types.constants.insert(name, value);
    }
}

/// Numbers that differ from the real ones and from one another.
fn constants(types: &mut Types, build: Build, seed: u64) {
    let mut rng = Rng::new(seed ^ 0xc0de);
    let mut number = |names: &[&'static str], make: &dyn Fn(u64) -> i64| {
        let mut values: Vec<u64> = (0..names.len() as u64 + 3).collect();
        rng.shuffle(&mut values);
        for (name, value) in names.iter().zip(values) {
            types.constants.insert(name, make(value));
        }
    };
    let bit = |value: u64| 1 << (value + 1);
    number(&["OMPI_COMM_INTER", "OMPI_COMM_NAMEISSET", "OMPI_COMM_INTRINSIC", "OMPI_COMM_ISFREED"], &bit);
    number(&["OMPI_COMM_ASSERT_ALLOW_OVERTAKE"], &bit);
    number(&["OMPI_GROUP_DENSE", "OMPI_GROUP_SPORADIC", "OMPI_GROUP_STRIDED", "OMPI_GROUP_BITMAP"], &bit);
    let plain = |value: u64| value as i64 + 3;
    number(&["OMPI_REQUEST_PML", "OMPI_REQUEST_IO"], &plain);
    let states = ["OMPI_REQUEST_INVALID", "OMPI_REQUEST_INACTIVE", "OMPI_REQUEST_ACTIVE", "OMPI_REQUEST_CANCELLED"];
    number(&states, &plain);
    number(
        &[
            "MCA_PML_REQUEST_SEND",
            "MCA_PML_REQUEST_RECV",
            "MCA_PML_REQUEST_PROBE",
            "MCA_PML_REQUEST_IPROBE",
            "MCA_PML_REQUEST_MPROBE",
            "MCA_PML_REQUEST_IMPROBE",
        ],
        &plain,
    );
    number(
        &[
            "MCA_PML_BASE_SEND_STANDARD",
            "MCA_PML_BASE_SEND_BUFFERED",
            "MCA_PML_BASE_SEND_SYNCHRONOUS",
            "MCA_PML_BASE_SEND_READY",
        ],
        &plain,
    );
    let mut kinds = vec!["MCA_PML_OB1_HDR_TYPE_MATCH", "MCA_PML_OB1_HDR_TYPE_RNDV", "MCA_PML_OB1_HDR_TYPE_RGET"];
    if build.extended {
        kinds.push("MCA_PML_OB1_HDR_TYPE_CID");
    }
    number(&kinds, &|value| value as i64 + 200);
    let flags = match build.extended {
        false => ["MCA_BTL_VADER_FLAG_SINGLE_COPY", "MCA_BTL_VADER_FLAG_COMPLETE", "MCA_BTL_VADER_FLAG_SETUP_FBOX"],
        true => ["MCA_BTL_SM_FLAG_SINGLE_COPY", "MCA_BTL_SM_FLAG_COMPLETE", "MCA_BTL_SM_FLAG_SETUP_FBOX"],
    };
    number(&flags, &bit);
    let tags = ["MCA_COLL_BASE_TAG_BCAST", "MCA_COLL_BASE_TAG_BARRIER", "MCA_COLL_BASE_TAG_REDUCE"];
    number(&tags, &|value| -200 - value as i64);
    types.constants.insert("MCA_COLL_BASE_TAG_NONBLOCKING_BASE", -300);
    types.constants.insert("MCA_COLL_BASE_TAG_NONBLOCKING_END", -900);
    types.constants.insert("MPI_ANY_SOURCE", -5);
    types.constants.insert("MPI_ANY_TAG", -6);
}
