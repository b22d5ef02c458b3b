//! The structures of the pml ucx, field by field (open-mpi/ompi, ompi/mca/pml/ucx/pml_ucx{,_request,_datatype}.h, v4.1.4 and v5.0.10).

use crate::record::{composite, shapes};

shapes! {
    /// The pml itself, `ompi_pml_ucx`.
    Module = ["mca_pml_ucx_module_t"] {
        context: "ucp_context",
        worker: "ucp_worker",
        persistent: "persistent_reqs",
        request_size: "request_size",
    };
    /// A persistent request; while it is active UCX has another one for it.
    Persistent = ["mca_pml_ucx_persistent_request_t"] {
        // Taking an object from the pool clears its link, giving it back sets it (opal/class/opal_lifo.h, v4.1.4 and v5.0.7).
        free: "ompi.super.super.opal_list_next",
        state: "ompi.req_state",
        complete: "ompi.req_complete",
        status_bytes: "ompi.req_status._ucount",
        status_source: "ompi.req_status.MPI_SOURCE",
        status_tag: "ompi.req_status.MPI_TAG",
        status_error: "ompi.req_status.MPI_ERROR",
        cancelled: "ompi.req_status._cancelled",
        native: "tmp_req",
        flags: "flags",
        buffer: "buffer",
        count: "count",
        datatype: "ompi_datatype",
        tag: "tag",
        mode: "send.mode",
        endpoint: "send.ep",
        mask: "recv.tag_mask",
    };
    /// What packs data that does not lie in one piece.
    Convertor = ["mca_pml_ucx_convertor_t"] {
        class: "super.super.super.obj_class",
        datatype: "datatype",
        count: "opal_conv.count",
        buffer: "opal_conv.pBaseBuf",
    };
    /// The request that the pml has behind each of UCX's.
    Behind = ["ompi_request_t"] {
        status_bytes: "req_status._ucount",
        status_error: "req_status.MPI_ERROR",
        cancelled: "req_status._cancelled",
        called_with: "req_complete_cb_data",
    };
    /// What libraries of networks keep of a process.
    Endpoints = ["ompi_proc_t"] { all: "proc_endpoints" };
    /// A message that MPI_Mprobe matched: it has the address of UCX's.
    Message = ["ompi_message_t"] { next: "super.super.opal_list_next", comm: "comm", native: "req_ptr" };
}

composite! {
    /// All of them. Each field is the shape of that name.
    UcxShapes {
        module: Module,
        persistent: Persistent,
        convertor: Convertor,
        behind: Behind,
        endpoints: Endpoints,
        message: Message,
    }
}
