//! The structures of the pml cm and of the mtl ofi below it, field by field.
//!
//! Names are those of the MPI's source (open-mpi/ompi, releases 4.1 and 5.0), ompi/mca/pml/cm/pml_cm_{request,sendreq,recvreq}.h and
//! ompi/mca/mtl/ofi/mtl_ofi_{types,request,endpoint}.h.

use crate::record::{composite, shapes};

shapes! {
    /// What all requests of cm share, which begin with it.
    Request = ["mca_pml_cm_thin_recv_request_t"] {
        kind: "req_base.req_ompi.req_type",
        status_source: "req_base.req_ompi.req_status.MPI_SOURCE",
        status_tag: "req_base.req_ompi.req_status.MPI_TAG",
        status_bytes: "req_base.req_ompi.req_status._ucount",
        cancelled: "req_base.req_ompi.req_status._cancelled",
        status_error: "req_base.req_ompi.req_status.MPI_ERROR",
        complete: "req_base.req_ompi.req_complete",
        state: "req_base.req_ompi.req_state",
        persistent: "req_base.req_ompi.req_persistent",
        pml_complete: "req_base.req_pml_complete",
        free_called: "req_base.req_free_called",
        pml_kind: "req_base.req_pml_type",
        comm: "req_base.req_comm",
        datatype: "req_base.req_datatype",
        buffer: "req_base.req_convertor.pBaseBuf",
        count: "req_base.req_convertor.count",
        mtl: "req_mtl",
    };
    /// A persistent receive, which keeps more.
    HeavyReceive = ["mca_pml_cm_hvy_recv_request_t"] {
        buffer: "req_addr",
        count: "req_count",
        peer: "req_peer",
        tag: "req_tag",
        mtl: "req_mtl",
    };
    /// A send.
    ThinSend = ["mca_pml_cm_thin_send_request_t"] { mode: "req_send.req_send_mode", mtl: "req_mtl" };
    /// A persistent or buffered send, which keeps more.
    HeavySend = ["mca_pml_cm_hvy_send_request_t"] {
        buffer: "req_addr",
        bytes: "req_count",
        peer: "req_peer",
        tag: "req_tag",
        packed: "req_buff",
        mtl: "req_mtl",
    };
    /// What describes an application's data.
    Convertor = ["opal_convertor_t"] { datatype: "pDesc", buffer: "pBaseBuf", count: "count" };
    /// The mtl's part of a request.
    MtlRequest = ["ompi_mtl_ofi_request_t"] {
        request: "super.ompi_req",
        kind: "type",
        matched: "match_state",
        source: "status.MPI_SOURCE",
        bytes: "status._ucount",
        given: "ctx",
        comm: "comm",
        length: "length",
        copy: "buffer",
        convertor: "convertor",
        bits: "match_bits",
        address: "remote_addr",
        parent: "parent",
    };
    /// The mtl.
    Module = ["mca_mtl_ofi_module_t"] {
        contexts: "ofi_ctxt",
        used: "total_ctxts_used",
        context_bits: "rx_ctx_bits",
        any: "any_addr",
        with_data: "fi_cq_data",
        source_bits: "num_bits_source_rank",
        tag_mask: "mpi_tag_mask",
        answer: "sync_send_ack",
        protocol: "sync_proto_mask",
    };
    /// What it has for each of libfabric's endpoints.
    Context = ["mca_mtl_ofi_context_t"] { receives: "rx_ep" };
    /// Who a process is for libfabric.
    Endpoint = ["mca_mtl_ofi_endpoint_t"] { module: "mtl_ofi_module", address: "peer_fiaddr" };
    /// A process, which leads there.
    Process = ["ompi_proc_t"] { endpoints: "proc_endpoints" };
}

composite! {
    /// What cm has with every mtl. Each field is the shape of that name.
    CmShapes {
        request: Request,
        heavy_receive: HeavyReceive,
        thin_send: ThinSend,
        heavy_send: HeavySend,
        send_heavy: u64 = "MCA_PML_CM_REQUEST_SEND_HEAVY",
        send_thin: u64 = "MCA_PML_CM_REQUEST_SEND_THIN",
        receive_heavy: u64 = "MCA_PML_CM_REQUEST_RECV_HEAVY",
        receive_thin: u64 = "MCA_PML_CM_REQUEST_RECV_THIN",
    }
}

composite! {
    /// What the mtl ofi has. Each field is the shape of that name.
    OfiShapes {
        request: MtlRequest,
        convertor: Convertor,
        module: Module,
        context: Context,
        endpoint: Endpoint,
        process: Process,
    }
}
