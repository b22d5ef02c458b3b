//! The structures of ob1, field by field.
//!
//! Names are those of the MPI's source (open-mpi/ompi, releases 4.1 and 5.0), ompi/mca/pml/base/pml_base_{request,sendreq,recvreq}.h
//! and ompi/mca/pml/ob1/pml_ob1_{comm,hdr,recvfrag,recvreq,sendreq}.h.

use crate::record::{composite, shapes};

shapes! {
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
    };
    /// A send request of any pml.
    BaseSend = ["mca_pml_base_send_request_t"] { data: "req_addr", bytes: "req_bytes_packed", mode: "req_send_mode" };
    /// A send request of ob1.
    Send = ["mca_pml_ob1_send_request_t"] { peer_request: "req_recv", moved: "req_bytes_delivered" };
    /// A receive request of any pml.
    BaseReceive = ["mca_pml_base_recv_request_t"] { bytes: "req_bytes_packed" };
    /// A receive request of ob1.
    Receive = ["mca_pml_ob1_recv_request_t"] { matched: "req_match_received", moved: "req_bytes_received" };
    /// ob1's part of a communicator.
    PmlComm = ["mca_pml_ob1_comm_t", "mca_pml_comm_t"] {
        sequence: "recv_sequence",
        wild_receives: "wild_receives",
        procs: "procs",
        num_procs: "num_procs",
    };
    /// ob1's state for one peer in one communicator.
    PmlProc = ["mca_pml_ob1_comm_proc_t"] {
        expected_sequence: "expected_sequence",
        send_sequence: "send_sequence",
        out_of_order: "frags_cant_match",
        specific_receives: "specific_receives",
        unexpected: "unexpected_frags",
    };
    /// A message that has arrived.
    Fragment = ["mca_pml_ob1_recv_frag_t"] {
        header: "hdr",
        range: "range",
        segments: "segments",
    };
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
    };
    /// A piece of a message's data.
    Segment = ["mca_btl_base_segment_t"] { addr: "seg_addr", len: "seg_len" };
}
composite! {
    /// What only the pml ob1 has; resolved only where ob1 is selected. Each field is the shape of that name.
    Ob1Shapes {
        request: Request,
        base_send: BaseSend,
        send: Send,
        base_receive: BaseReceive,
        receive: Receive,
        pml_comm: PmlComm,
        pml_proc: PmlProc,
        fragment: Fragment,
        header: Header,
        segment: Segment,
    }
}
