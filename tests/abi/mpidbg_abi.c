/* Prints sizes, offsets and values of the MPIDBG interface as JSON, from the header of our test plug-ins: no MPI's release has
 * one. With open-mpi/ompi's ompi/debuggers/mpihandles_interface.h (main, 8efebee745) in its place the output is the same. Compiled by crates/drafts/tests/drafts/mpidbg/abi.rs. */
#include <stddef.h>
#include <stdio.h>

#include "mpidbg.h"

static const char *separator = "";

static void put(const char *name, long value)
{
    printf("%s\n  \"%s\": %ld", separator, name, value);
    separator = ",";
}

#define VALUE(name) put(#name, (long)(name))
#define SIZE(type) put("sizeof " #type, (long)sizeof(struct type))
#define OFFSET(type, member) put(#type "." #member, (long)offsetof(struct type, member))

int main(void)
{
    printf("{");
    VALUE(MPIDBG_INTERFACE_VERSION);
    VALUE(MPIDBG_MAX_OBJECT_NAME);
    VALUE(MPIDBG_SUCCESS);
    VALUE(MPIDBG_ERR_NOT_FOUND);
    VALUE(MPIDBG_ERR_NOT_SUPPORTED);
    VALUE(MPIDBG_ERR_UNAVAILABLE);
    VALUE(MPIDBG_COMM_CAP_FILE_LIST);
    VALUE(MPIDBG_ERRH_CAP_HANDLE_LIST);
    VALUE(MPIDBG_COMM_INFO_DIST_GRAPH);
    VALUE(MPIDBG_COMM_INFO_COMM_NULL);
    VALUE(MPIDBG_ERRH_INFO_FREED_OBJECT);
    SIZE(mpidbg_handle_info_t);
    OFFSET(mpidbg_handle_info_t, hi_c_comm);
    OFFSET(mpidbg_handle_info_t, hi_c_request);
    OFFSET(mpidbg_handle_info_t, hi_c_win);
    OFFSET(mpidbg_handle_info_t, hi_cxx_comm);
    OFFSET(mpidbg_handle_info_t, hi_cxx_cartcomm);
    OFFSET(mpidbg_handle_info_t, hi_cxx_grequest);
    OFFSET(mpidbg_handle_info_t, hi_cxx_win);
    SIZE(mpidbg_process_t);
    SIZE(mpidbg_name_map_t);
    OFFSET(mpidbg_name_map_t, map_name);
    OFFSET(mpidbg_name_map_t, map_handle);
    SIZE(mpidbg_attribute_pair_t);
    OFFSET(mpidbg_attribute_pair_t, keyval);
    OFFSET(mpidbg_attribute_pair_t, keyval_name);
    OFFSET(mpidbg_attribute_pair_t, value);
    SIZE(mpidbg_comm_info_t);
    OFFSET(mpidbg_comm_info_t, comm_name);
    OFFSET(mpidbg_comm_info_t, comm_bitflags);
    OFFSET(mpidbg_comm_info_t, comm_rank);
    OFFSET(mpidbg_comm_info_t, comm_size);
    OFFSET(mpidbg_comm_info_t, comm_num_local_procs);
    OFFSET(mpidbg_comm_info_t, comm_local_procs);
    OFFSET(mpidbg_comm_info_t, comm_num_remote_procs);
    OFFSET(mpidbg_comm_info_t, comm_remote_procs);
    OFFSET(mpidbg_comm_info_t, comm_cart_num_dims);
    OFFSET(mpidbg_comm_info_t, comm_cart_dims);
    OFFSET(mpidbg_comm_info_t, comm_cart_periods);
    OFFSET(mpidbg_comm_info_t, comm_graph_num_nodes);
    OFFSET(mpidbg_comm_info_t, comm_graph_index);
    OFFSET(mpidbg_comm_info_t, comm_graph_edges);
    OFFSET(mpidbg_comm_info_t, comm_c_handle);
    OFFSET(mpidbg_comm_info_t, comm_fortran_handle);
    OFFSET(mpidbg_comm_info_t, comm_num_attrs);
    OFFSET(mpidbg_comm_info_t, comm_attrs);
    OFFSET(mpidbg_comm_info_t, comm_num_pending_requests);
    OFFSET(mpidbg_comm_info_t, comm_pending_requests);
    OFFSET(mpidbg_comm_info_t, comm_num_derived_windows);
    OFFSET(mpidbg_comm_info_t, comm_derived_windows);
    OFFSET(mpidbg_comm_info_t, comm_num_derived_files);
    OFFSET(mpidbg_comm_info_t, comm_derived_files);
    SIZE(mpidbg_request_info_t);
    OFFSET(mpidbg_request_info_t, req_bitflags);
    OFFSET(mpidbg_request_info_t, req_c_handle);
    OFFSET(mpidbg_request_info_t, req_fortran_handle);
    SIZE(mpidbg_status_info_t);
    OFFSET(mpidbg_status_info_t, status_bitflags);
    SIZE(mpidbg_errhandler_info_t);
    OFFSET(mpidbg_errhandler_info_t, eh_name);
    OFFSET(mpidbg_errhandler_info_t, eh_bitflags);
    OFFSET(mpidbg_errhandler_info_t, eh_c_handle);
    OFFSET(mpidbg_errhandler_info_t, eh_fortran_handle);
    OFFSET(mpidbg_errhandler_info_t, eh_refcount);
    OFFSET(mpidbg_errhandler_info_t, eh_handles);
    OFFSET(mpidbg_errhandler_info_t, eh_callback_func);
    printf("\n}\n");
    return 0;
}
