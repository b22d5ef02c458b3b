/* The MPIDBG interface (draft, version 1): what a debugger asks about MPI handles. Written from the published description of
 * names, members and their order, for the plug-ins of our own tests; names of 64 bytes, as Open MPI has them. */
#ifndef MPIDBG_TEST_H
#define MPIDBG_TEST_H

#include <stdint.h>

#include "mqs.h"

enum { MPIDBG_MAX_OBJECT_NAME = 64, MPIDBG_INTERFACE_VERSION = 1 };

enum mpidbg_return_codes_t {
    MPIDBG_SUCCESS,
    MPIDBG_ERR_NOT_FOUND,
    MPIDBG_ERR_NOT_SUPPORTED,
    MPIDBG_ERR_OUT_OF_RANGE,
    MPIDBG_ERR_UNAVAILABLE,
    MPIDBG_ERR_NO_MEM
};

struct mpidbg_handle_info_t {
    mqs_type *hi_c_aint, *hi_c_comm, *hi_c_datatype, *hi_c_errhandler, *hi_c_file, *hi_c_group, *hi_c_info, *hi_c_offset,
        *hi_c_op, *hi_c_request, *hi_c_status, *hi_c_win;
    mqs_type *hi_cxx_aint, *hi_cxx_comm, *hi_cxx_intracomm, *hi_cxx_intercomm, *hi_cxx_graphcomm, *hi_cxx_cartcomm,
        *hi_cxx_datatype, *hi_cxx_errhandler, *hi_cxx_file, *hi_cxx_group, *hi_cxx_info, *hi_cxx_offset, *hi_cxx_op,
        *hi_cxx_request, *hi_cxx_prequest, *hi_cxx_grequest, *hi_cxx_status, *hi_cxx_win;
};

struct mpidbg_process_t {
    int mpi_comm_world_rank;
};

struct mpidbg_name_map_t {
    char *map_name;
    mqs_taddr_t map_handle;
};

struct mpidbg_attribute_pair_t {
    int keyval;
    char *keyval_name;
    char *value;
};

enum mpidbg_comm_capabilities_t {
    MPIDBG_COMM_CAP_BASIC = 0x01,
    MPIDBG_COMM_CAP_STRING_NAMES = 0x02,
    MPIDBG_COMM_CAP_FREED_HANDLE = 0x04,
    MPIDBG_COMM_CAP_FREED_OBJECT = 0x08,
    MPIDBG_COMM_CAP_REQUEST_LIST = 0x10,
    MPIDBG_COMM_CAP_WINDOW_LIST = 0x20,
    MPIDBG_COMM_CAP_FILE_LIST = 0x40
};

enum mpidbg_comm_info_bitmap_t {
    MPIDBG_COMM_INFO_PREDEFINED = 0x01,
    MPIDBG_COMM_INFO_CARTESIAN = 0x02,
    MPIDBG_COMM_INFO_GRAPH = 0x04,
    MPIDBG_COMM_INFO_TOPO_REORDERED = 0x08,
    MPIDBG_COMM_INFO_INTERCOMM = 0x10,
    MPIDBG_COMM_INFO_FREED_HANDLE = 0x20,
    MPIDBG_COMM_INFO_FREED_OBJECT = 0x40,
    MPIDBG_COMM_INFO_COMM_NULL = 0x80,
    MPIDBG_COMM_INFO_DIST_GRAPH = 0x400
};

struct mpidbg_comm_info_t {
    char comm_name[MPIDBG_MAX_OBJECT_NAME];
    enum mpidbg_comm_info_bitmap_t comm_bitflags;
    int comm_rank, comm_size;
    int comm_num_local_procs;
    struct mpidbg_process_t *comm_local_procs;
    int comm_num_remote_procs;
    struct mpidbg_process_t *comm_remote_procs;
    int comm_cart_num_dims;
    int *comm_cart_dims;
    int8_t *comm_cart_periods;
    int comm_graph_num_nodes;
    int *comm_graph_index, *comm_graph_edges;
    mqs_taddr_t comm_c_handle;
    int comm_fortran_handle;
    int comm_num_attrs;
    struct mpidbg_attribute_pair_t *comm_attrs;
    int comm_num_pending_requests;
    mqs_taddr_t *comm_pending_requests;
    int comm_num_derived_windows;
    mqs_taddr_t *comm_derived_windows;
    int comm_num_derived_files;
    mqs_taddr_t *comm_derived_files;
};

enum mpidbg_request_capabilities_t { MPIDBG_REQUEST_CAP_BASIC = 0x01 };
enum mpidbg_request_info_bitmap_t { MPIDBG_REQUEST_INFO_PREDEFINED = 0x01 };

struct mpidbg_request_info_t {
    enum mpidbg_request_info_bitmap_t req_bitflags;
    mqs_taddr_t req_c_handle;
    int req_fortran_handle;
};

enum mpidbg_status_capabilities_t { MPIDBG_STATUS_CAP_BASIC = 0x01 };
enum mpidbg_status_info_bitmap_t { MPIDBG_STATUS_INFO_PREDEFINED = 0x01 };

struct mpidbg_status_info_t {
    enum mpidbg_status_info_bitmap_t status_bitflags;
};

enum mpidbg_errhandler_capabilities_t {
    MPIDBG_ERRH_CAP_BASIC = 0x01,
    MPIDBG_ERRH_CAP_STRING_NAMES = 0x02,
    MPIDBG_ERRH_CAP_FREED_HANDLE = 0x04,
    MPIDBG_ERRH_CAP_FREED_OBJECT = 0x08,
    MPIDBG_ERRH_CAP_HANDLE_LIST = 0x10
};

enum mpidbg_errhandler_info_bitmap_t {
    MPIDBG_ERRH_INFO_PREDEFINED = 0x01,
    MPIDBG_ERRH_INFO_COMMUNICATOR = 0x02,
    MPIDBG_ERRH_INFO_FILE = 0x04,
    MPIDBG_ERRH_INFO_WINDOW = 0x08,
    MPIDBG_ERRH_INFO_C_CALLBACK = 0x10,
    MPIDBG_ERRH_INFO_FREED_HANDLE = 0x20,
    MPIDBG_ERRH_INFO_FREED_OBJECT = 0x40
};

struct mpidbg_errhandler_info_t {
    char eh_name[MPIDBG_MAX_OBJECT_NAME];
    enum mpidbg_errhandler_info_bitmap_t eh_bitflags;
    mqs_taddr_t eh_c_handle;
    int eh_fortran_handle;
    int16_t eh_refcount;
    mqs_taddr_t *eh_handles;
    mqs_taddr_t eh_callback_func;
};

#endif
