/* A plug-in for MPI handles (MPIDBG), in a good and many hostile variants.
 *
 * The good one reads Open MPI's structures, by the names of their fields; tests/rust/handles_toy.rs makes some up that have
 * these fields elsewhere. Options: VARIANT (a text), INTERFACE, WIDTH, BITS, BIG (what it says of itself), NAME_IS_POINTER
 * (Open MPI 5.0), WITHOUT_QUERIES, WITHOUT_FINALIZE. A variant WAY:FUNCTION misbehaves in that function.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpidbg.h"
#include "variant.h"

#ifndef INTERFACE
#define INTERFACE MPIDBG_INTERFACE_VERSION
#endif
#ifndef WIDTH
#define WIDTH ((int)sizeof(mqs_taddr_t))
#endif
#ifndef BITS
#define BITS 64
#endif
#ifndef BIG
#define BIG 0
#endif

char mpidbg_dll_is_big_endian = BIG;
char mpidbg_dll_bitness = BITS;
enum mpidbg_comm_capabilities_t mpidbg_comm_capabilities;
struct mpidbg_name_map_t *mpidbg_comm_name_map;
enum mpidbg_errhandler_capabilities_t mpidbg_errhandler_capabilities;
struct mpidbg_name_map_t *mpidbg_errhandler_name_map;
enum mpidbg_request_capabilities_t mpidbg_request_capabilities;
struct mpidbg_name_map_t *mpidbg_request_name_map;

static const mqs_basic_callbacks *basic;
static const mqs_image_callbacks *images;
static const mqs_process_callbacks *processes;

/* What a variant of the form "way:function" does in that function. */
static void fate(const char *function)
{
    const char *colon = strchr(CHOSEN, ':');
    if (colon == NULL || strcmp(colon + 1, function) != 0)
        return;
    if (strncmp(CHOSEN, "crash", 5) == 0)
        *(volatile int *)8 = 1;
    if (strncmp(CHOSEN, "loop", 4) == 0)
        for (volatile int forever = 1; forever;)
            ;
    if (strncmp(CHOSEN, "exit", 4) == 0)
        exit(0);
    if (strncmp(CHOSEN, "abort", 5) == 0)
        abort();
    if (strncmp(CHOSEN, "kill", 4) == 0)
        kill(getpid(), SIGKILL);
    if (strncmp(CHOSEN, "close", 5) == 0) {
        for (int fd = 3; fd < 64; fd++)
            close(fd);
        for (;;)
            pause();
    }
}

__attribute__((constructor)) static void constructor(void) { fate("constructor"); }

/* Offsets; the layout of the host's debugger, not of this compiler. */
struct image_info {
    int comm_name, comm_rank, comm_flags, comm_group, comm_remote, comm_topo, comm_fortran;
    int group_count, group_procs, proc_rank;
    int topo_reorder, topo_cart, topo_graph, cart_ndims, cart_dims, cart_periods, graph_nodes, graph_index, graph_edges;
    int request_fortran, errh_name, errh_type, errh_lang, errh_comm, errh_win, errh_file, errh_fortran, array_size, array_addr;
};

struct process_info {
    mqs_target_type_sizes sizes;
    mqs_taddr_t comms, requests, errhandlers, request_null;
};

static void *allocate(size_t size) { return basic->malloc_fp(size); }

static int number(mqs_process *process, mqs_taddr_t at)
{
    int raw = 0, value = 0;
    processes->fetch_data_fp(process, at, sizeof raw, &raw);
    processes->target_to_host_fp(process, &raw, &value, sizeof raw);
    return value;
}

static mqs_taddr_t pointer(mqs_process *process, mqs_taddr_t at)
{
    struct process_info *info = basic->get_process_info_fp(process);
    char raw[8] = {0};
    unsigned int narrow = 0;
    mqs_taddr_t wide = 0;
    processes->fetch_data_fp(process, at, info->sizes.pointer_size, raw);
    if (info->sizes.pointer_size == 4) {
        processes->target_to_host_fp(process, raw, &narrow, 4);
        return narrow;
    }
    processes->target_to_host_fp(process, raw, &wide, 8);
    return wide;
}

int mpidbg_init_once(const mqs_basic_callbacks *callbacks)
{
    basic = callbacks;
    fate("mpidbg_init_once");
    if (IS("stdout"))
        for (int line = 0; line < 100000; line++)
            printf("this must not be seen %d\n", line);
    if (IS("stderr"))
        for (int line = 0; line < 100000; line++)
            fprintf(stderr, "warning %%n %d \033[31m\n", line);
    if (IS("good"))
        basic->dprints_fp("debug %s %n");
    return IS("refuse-once") ? MPIDBG_ERR_NO_MEM : MPIDBG_SUCCESS;
}

int mpidbg_interface_version_compatibility(void)
{
    fate("mpidbg_interface_version_compatibility");
    return INTERFACE;
}

char *mpidbg_version_string(void)
{
    static char long_one[1 << 16];
    fate("mpidbg_version_string");
    if (IS("wild-version"))
        return (char *)0x1234;
    if (IS("unterminated")) {
        memset(long_one, 'v', sizeof long_one);
        return long_one;
    }
    if (IS("other-series"))
        return "Open MPI handle interpretation support for parallel debuggers 9.9.1";
    static char text[160];
    snprintf(text, sizeof text, "handles of Open MPI, variant %s\033[0m", CHOSEN);
    return text;
}

int mpidbg_dll_taddr_width(void) { return WIDTH; }

static int offset(mqs_type *type, char *field) { return images->field_offset_fp(type, field); }

static mqs_type *type(mqs_image *image, char *name) { return images->find_type_fp(image, name, mqs_lang_c); }

int mpidbg_init_per_image(mqs_image *image, const mqs_image_callbacks *callbacks, struct mpidbg_handle_info_t *types)
{
    fate("mpidbg_init_per_image");
    images = callbacks;
    if (IS("refuse-image"))
        return MPIDBG_ERR_NOT_SUPPORTED;
    if (IS("error-image"))
        return 99;
    struct image_info *at = allocate(sizeof *at);
    if (at == NULL)
        return MPIDBG_ERR_NO_MEM;
    for (size_t slot = 0; slot < sizeof *types / sizeof(mqs_type *); slot++)
        if (((mqs_type **)types)[slot] != NULL)
            return MPIDBG_ERR_OUT_OF_RANGE;
    basic->put_image_info_fp(image, at);
    mqs_type *comm = type(image, IS("missing-type") ? "ompi_comn_t" : "ompi_communicator_t");
    at->comm_name = offset(comm, IS("missing-field") ? "c_nome" : "c_name");
    at->comm_rank = offset(comm, "c_my_rank");
    at->comm_flags = offset(comm, "c_flags");
    at->comm_group = offset(comm, "c_local_group");
    at->comm_remote = offset(comm, "c_remote_group");
    at->comm_topo = offset(comm, "c_topo");
    at->comm_fortran = offset(comm, "c_f_to_c_index");
    mqs_type *group = type(image, "ompi_group_t");
    at->group_count = offset(group, "grp_proc_count");
    at->group_procs = offset(group, "grp_proc_pointers");
    at->proc_rank = offset(type(image, "ompi_proc_t"), "super.proc_name.vpid");
    mqs_type *topo = type(image, "mca_topo_base_module_t");
    at->topo_reorder = offset(topo, "reorder");
    at->topo_cart = offset(topo, "mtc.cart");
    at->topo_graph = offset(topo, "mtc.graph");
    mqs_type *cart = type(image, "mca_topo_base_comm_cart_2_2_0_t");
    at->cart_ndims = offset(cart, "ndims");
    at->cart_dims = offset(cart, "dims");
    at->cart_periods = offset(cart, "periods");
    mqs_type *graph = type(image, "mca_topo_base_comm_graph_2_2_0_t");
    at->graph_nodes = offset(graph, "nnodes");
    at->graph_index = offset(graph, "index");
    at->graph_edges = offset(graph, "edges");
    mqs_type *request = type(image, "ompi_request_t");
    at->request_fortran = offset(request, "req_f_to_c_index");
    mqs_type *errh = type(image, "ompi_errhandler_t");
    at->errh_name = offset(errh, "eh_name");
    at->errh_type = offset(errh, "eh_mpi_object_type");
    at->errh_lang = offset(errh, "eh_lang");
    at->errh_comm = offset(errh, "eh_comm_fn");
    at->errh_win = offset(errh, "eh_win_fn");
    at->errh_file = offset(errh, "eh_file_fn");
    at->errh_fortran = offset(errh, "eh_f_to_c_index");
    mqs_type *array = type(image, "opal_pointer_array_t");
    at->array_size = offset(array, "size");
    at->array_addr = offset(array, "addr");
    types->hi_c_comm = comm;
    types->hi_c_request = request;
    types->hi_c_errhandler = IS("wild-type") ? (mqs_type *)0x55 : errh;
    /* Not there in a C program. */
    types->hi_cxx_comm = images->find_type_fp(image, "MPI::Comm", 'C');
    return MPIDBG_SUCCESS;
}

#ifndef WITHOUT_FINALIZE
void mpidbg_finalize_per_image(mqs_image *image, void *info)
{
    (void)image;
    fate("mpidbg_finalize_per_image");
    basic->free_fp(info);
}
#endif

/* A name for a handle, where the symbol is there. */
static int fill(mqs_image *image, struct mpidbg_name_map_t *map, int entry, char *name, char *symbol)
{
    if (images->find_symbol_fp(image, symbol, &map[entry].map_handle) != mqs_ok)
        return entry;
    map[entry].map_name = name;
    return entry + 1;
}

int mpidbg_init_per_process(mqs_process *process, const mqs_process_callbacks *callbacks,
                            struct mpidbg_handle_info_t *types)
{
    fate("mpidbg_init_per_process");
    processes = callbacks;
    mqs_image *image = callbacks->get_image_fp(process);
    if (IS("refuse-process"))
        return MPIDBG_ERR_NOT_SUPPORTED;
    struct process_info *info = allocate(sizeof *info);
    images->get_type_sizes_fp(process, &info->sizes);
    basic->put_process_info_fp(process, info);
    if (types->hi_c_comm == NULL)
        return MPIDBG_ERR_OUT_OF_RANGE;
    images->find_symbol_fp(image, "ompi_mpi_communicators", &info->comms);
    if (info->comms == 0 && images->find_symbol_fp(image, "ompi_comm_f_to_c_table", &info->comms) != mqs_ok)
        return MPIDBG_ERR_NOT_FOUND;
    images->find_symbol_fp(image, "ompi_request_f_to_c_table", &info->requests);
    images->find_symbol_fp(image, "ompi_errhandler_f_to_c_table", &info->errhandlers);
    images->find_symbol_fp(image, "ompi_request_null", &info->request_null);
    mpidbg_comm_capabilities = MPIDBG_COMM_CAP_BASIC | MPIDBG_COMM_CAP_STRING_NAMES | MPIDBG_COMM_CAP_FREED_HANDLE |
                               MPIDBG_COMM_CAP_FREED_OBJECT;
    if (IS("lists"))
        mpidbg_comm_capabilities |= MPIDBG_COMM_CAP_REQUEST_LIST | MPIDBG_COMM_CAP_WINDOW_LIST | MPIDBG_COMM_CAP_FILE_LIST;
    if (IS("poor"))
        mpidbg_comm_capabilities = MPIDBG_COMM_CAP_BASIC;
    mpidbg_errhandler_capabilities = MPIDBG_ERRH_CAP_BASIC | MPIDBG_ERRH_CAP_STRING_NAMES;
    if (IS("lists"))
        mpidbg_errhandler_capabilities |= MPIDBG_ERRH_CAP_HANDLE_LIST;
    mpidbg_request_capabilities = MPIDBG_REQUEST_CAP_BASIC;
    struct mpidbg_name_map_t *map = allocate(4 * sizeof *map);
    int entry = fill(image, map, 0, "MPI_COMM_WORLD", "ompi_mpi_comm_world");
    entry = fill(image, map, entry, "MPI_COMM_SELF", "ompi_mpi_comm_self");
    fill(image, map, entry, "MPI_COMM_NULL", "ompi_mpi_comm_null");
    mpidbg_comm_name_map = map;
    map = allocate(2 * sizeof *map);
    fill(image, map, 0, "MPI_REQUEST_NULL", "ompi_request_null");
    mpidbg_request_name_map = map;
    if (IS("wild-map"))
        mpidbg_errhandler_name_map = (struct mpidbg_name_map_t *)0x123;
    if (IS("endless-map")) {
        static struct mpidbg_name_map_t endless[5000];
        for (int each = 0; each < 5000; each++)
            endless[each].map_name = "again";
        mpidbg_errhandler_name_map = endless;
    }
    if (IS("full-map")) {
        /* No room for the end mark. */
        map = allocate(2 * sizeof *map);
        map[0].map_name = map[1].map_name = "full";
        mpidbg_errhandler_name_map = map;
    }
    if (IS("null")) {
        char raw[8];
        basic->put_process_info_fp(NULL, raw);
        basic->free_fp(NULL);
        if (images->find_type_fp(NULL, NULL, 0) != NULL || images->sizeof_fp((mqs_type *)99) != 0 ||
            processes->fetch_data_fp(NULL, 16, 8, raw) == mqs_ok || processes->get_image_fp(NULL) != NULL)
            return MPIDBG_ERR_OUT_OF_RANGE;
    }
    return MPIDBG_SUCCESS;
}

#ifndef WITHOUT_FINALIZE
void mpidbg_finalize_per_process(mqs_process *process, void *info)
{
    (void)process;
    fate("mpidbg_finalize_per_process");
    basic->free_fp(info);
}
#endif

/* The entry of one of Open MPI's tables; 0 where there is none. */
static mqs_taddr_t entry_of(mqs_process *process, struct image_info *at, mqs_taddr_t table, mqs_taddr_t index)
{
    if (table == 0 || index >= (mqs_taddr_t)number(process, table + at->array_size))
        return 0;
    struct process_info *info = basic->get_process_info_fp(process);
    return pointer(process, pointer(process, table + at->array_addr) + index * info->sizes.pointer_size);
}

static int is_in(mqs_process *process, struct image_info *at, mqs_taddr_t table, mqs_taddr_t handle)
{
    int size = table == 0 ? 0 : number(process, table + at->array_size);
    for (int index = 0; index < size && handle != 0; index++)
        if (entry_of(process, at, table, index) == handle)
            return 1;
    return 0;
}

static int *ints(mqs_process *process, mqs_taddr_t at, int count)
{
    int *out = allocate((count > 0 ? count : 0) * sizeof *out);
    for (int i = 0; out != NULL && i < count; i++)
        out[i] = number(process, at + 4 * i);
    return out;
}

static struct mpidbg_process_t *members(mqs_process *process, struct image_info *at, mqs_taddr_t group, int *count)
{
    struct process_info *info = basic->get_process_info_fp(process);
    mqs_taddr_t procs = pointer(process, group + at->group_procs);
    *count = number(process, group + at->group_count);
    struct mpidbg_process_t *out = allocate(*count * sizeof *out);
    for (int i = 0; out != NULL && i < *count; i++) {
        mqs_taddr_t proc = pointer(process, procs + i * info->sizes.pointer_size);
        /* Open MPI stands a number in for a process to which nothing has been sent yet. */
        out[i].mpi_comm_world_rank = proc & 1 ? -1 : number(process, proc + at->proc_rank);
    }
    return out;
}

static void hostile(mqs_process *process, struct mpidbg_comm_info_t *told)
{
    static int foreign[4] = {1, 2, 3, 4};
    if (IS("huge-count"))
        told->comm_num_local_procs = 0x7fffffff;
    if (IS("negative-count"))
        told->comm_num_local_procs = -7;
    if (IS("more-than-room"))
        told->comm_num_local_procs += 100;
    if (IS("dangling"))
        basic->free_fp(told->comm_local_procs);
    if (IS("wild"))
        told->comm_local_procs = (struct mpidbg_process_t *)0x1234;
    if (IS("foreign"))
        told->comm_local_procs = (struct mpidbg_process_t *)foreign;
    if (IS("no-group"))
        told->comm_local_procs = NULL;
    if (IS("unterminated")) {
        static char long_one[1 << 16];
        memset(told->comm_name, 'n', sizeof told->comm_name);
        memset(long_one, 'x', sizeof long_one);
        told->comm_num_attrs = 3;
        told->comm_attrs = allocate(3 * sizeof *told->comm_attrs);
        told->comm_attrs[0].keyval_name = long_one;
        told->comm_attrs[1].value = (char *)0x77;
        told->comm_attrs[2].value = "\033[31m%n";
    }
    if (IS("many-attributes"))
        told->comm_num_attrs = 1 << 30;
    if (IS("no-attributes"))
        told->comm_attrs = allocate(1);
    if (IS("other-handle"))
        told->comm_c_handle += 8;
    if (IS("two-topologies"))
        told->comm_bitflags |= MPIDBG_COMM_INFO_CARTESIAN | MPIDBG_COMM_INFO_GRAPH;
    if (IS("bad-rank"))
        told->comm_rank = told->comm_size + 3;
    if (IS("freed-handle"))
        told->comm_bitflags |= MPIDBG_COMM_INFO_FREED_HANDLE;
    if (IS("freed-object"))
        told->comm_bitflags |= MPIDBG_COMM_INFO_FREED_OBJECT;
    if (IS("bad-fortran"))
        told->comm_fortran_handle = MPIDBG_ERR_UNAVAILABLE;
    if (IS("lists")) {
        /* As many as the code that says that there is no list. */
        told->comm_num_pending_requests = 2;
        told->comm_pending_requests = allocate(2 * sizeof(mqs_taddr_t));
        told->comm_pending_requests[0] = 0x111;
        told->comm_pending_requests[1] = 0x222;
        told->comm_num_derived_files = 0;
    }
    if (IS("wild-reads"))
        number(process, 0x55);
}

#ifndef WITHOUT_QUERIES
int mpidbg_comm_query(mqs_image *image, void *image_info, mqs_process *process, void *process_info, mqs_taddr_t handle,
                      struct mpidbg_comm_info_t **result)
{
    struct image_info *at = image_info;
    struct process_info *info = process_info;
    if (basic->get_image_info_fp(image) != at || basic->get_process_info_fp(process) != info || *result != NULL)
        return MPIDBG_ERR_OUT_OF_RANGE;
    fate("mpidbg_comm_query");
    if (strncmp(CHOSEN, "code=", 5) == 0)
        return atoi(CHOSEN + 5);
    if (!is_in(process, at, info->comms, handle))
        return MPIDBG_ERR_NOT_FOUND;
    if (IS("no-result"))
        return MPIDBG_SUCCESS;
    if (IS("short-result")) {
        *result = allocate(24);
        return MPIDBG_SUCCESS;
    }
    static struct mpidbg_comm_info_t foreign;
    if (IS("foreign-result")) {
        *result = &foreign;
        return MPIDBG_SUCCESS;
    }
    if (IS("eat-memory"))
        for (;;)
            if (allocate(1 << 24) == NULL)
                return MPIDBG_ERR_NO_MEM;
    if (IS("reenter"))
        return mpidbg_comm_query(image, at, process, info, handle, result) + 0 * (int)(size_t)&at;
    struct mpidbg_comm_info_t *told = allocate(sizeof *told);
    if (told == NULL)
        return MPIDBG_ERR_NO_MEM;
    *result = told;
#ifdef NAME_IS_POINTER
    /* A recording has a string to its end, and nothing of what lies behind it. */
    mqs_taddr_t name = pointer(process, handle + at->comm_name);
    for (size_t each = 0; each < sizeof told->comm_name; each++) {
        processes->fetch_data_fp(process, name + each, 1, told->comm_name + each);
        if (told->comm_name[each] == 0)
            break;
    }
#else
    processes->fetch_data_fp(process, handle + at->comm_name, sizeof told->comm_name, told->comm_name);
#endif
    told->comm_c_handle = handle;
    told->comm_fortran_handle = number(process, handle + at->comm_fortran);
    int flags = number(process, handle + at->comm_flags);
    told->comm_rank = number(process, handle + at->comm_rank);
    if (told->comm_rank == -2) {
        told->comm_bitflags = MPIDBG_COMM_INFO_COMM_NULL;
        return MPIDBG_SUCCESS;
    }
    told->comm_local_procs =
        members(process, at, pointer(process, handle + at->comm_group), &told->comm_num_local_procs);
    told->comm_size = told->comm_num_local_procs;
    told->comm_bitflags = flags & 4 ? MPIDBG_COMM_INFO_PREDEFINED : 0;
    if (flags & 1) {
        told->comm_bitflags |= MPIDBG_COMM_INFO_INTERCOMM;
        told->comm_remote_procs =
            members(process, at, pointer(process, handle + at->comm_remote), &told->comm_num_remote_procs);
        /* As Open MPI's draft of a plug-in has it. */
        told->comm_size = told->comm_num_remote_procs;
    }
    mqs_taddr_t topo = pointer(process, handle + at->comm_topo);
    unsigned char reorder = 0;
    if (topo != 0)
        processes->fetch_data_fp(process, topo + at->topo_reorder, 1, &reorder);
    if (reorder)
        told->comm_bitflags |= MPIDBG_COMM_INFO_TOPO_REORDERED;
    if (flags & 0x100) {
        mqs_taddr_t cart = pointer(process, topo + at->topo_cart);
        told->comm_bitflags |= MPIDBG_COMM_INFO_CARTESIAN;
        int dims = told->comm_cart_num_dims = number(process, cart + at->cart_ndims);
        told->comm_cart_dims = ints(process, pointer(process, cart + at->cart_dims), dims);
        told->comm_cart_periods = allocate(dims);
        for (int i = 0; i < dims; i++)
            told->comm_cart_periods[i] = number(process, pointer(process, cart + at->cart_periods) + 4 * i) != 0;
    }
    if (flags & 0x200) {
        mqs_taddr_t graph = pointer(process, topo + at->topo_graph);
        told->comm_bitflags |= MPIDBG_COMM_INFO_GRAPH;
        int nodes = told->comm_graph_num_nodes = number(process, graph + at->graph_nodes);
        told->comm_graph_index = ints(process, pointer(process, graph + at->graph_index), nodes);
        told->comm_graph_edges =
            ints(process, pointer(process, graph + at->graph_edges), told->comm_graph_index[nodes - 1]);
    }
    if (flags & 0x400)
        told->comm_bitflags |= MPIDBG_COMM_INFO_DIST_GRAPH;
    told->comm_num_pending_requests = MPIDBG_ERR_NOT_SUPPORTED;
    told->comm_num_derived_windows = MPIDBG_ERR_NOT_SUPPORTED;
    told->comm_num_derived_files = MPIDBG_ERR_NOT_SUPPORTED;
    if (IS("free-all")) {
        basic->free_fp((void *)basic);
        basic->free_fp(image);
        basic->free_fp(&foreign);
        void *twice = allocate(10);
        basic->free_fp(twice);
        basic->free_fp(twice);
    }
    hostile(process, told);
    return MPIDBG_SUCCESS;
}
#endif

int mpidbg_comm_f2c(mqs_image *image, struct image_info *at, mqs_process *process, struct process_info *info,
                    mqs_taddr_t fortran, mqs_taddr_t *handle)
{
    (void)image;
    fate("mpidbg_comm_f2c");
    *handle = entry_of(process, at, info->comms, fortran);
    return *handle == 0 ? MPIDBG_ERR_NOT_FOUND : MPIDBG_SUCCESS;
}

int mpidbg_comm_cxx2c(mqs_image *image, struct image_info *at, mqs_process *process, struct process_info *info,
                      mqs_taddr_t object, enum mpidbg_comm_info_bitmap_t class, mqs_taddr_t *handle)
{
    (void)image;
    (void)at;
    fate("mpidbg_comm_cxx2c");
    if (class != 0 && class != MPIDBG_COMM_INFO_CARTESIAN && class != MPIDBG_COMM_INFO_GRAPH &&
        class != MPIDBG_COMM_INFO_INTERCOMM)
        return MPIDBG_ERR_OUT_OF_RANGE;
    /* Its table of virtual functions, then the handle. */
    *handle = pointer(process, object + info->sizes.pointer_size);
    return MPIDBG_SUCCESS;
}

int mpidbg_errhandler_query(mqs_image *image, struct image_info *at, mqs_process *process, struct process_info *info,
                            mqs_taddr_t handle, struct mpidbg_errhandler_info_t **result)
{
    (void)image;
    fate("mpidbg_errhandler_query");
    if (!is_in(process, at, info->errhandlers, handle))
        return MPIDBG_ERR_NOT_FOUND;
    struct mpidbg_errhandler_info_t *told = *result = allocate(sizeof *told);
    told->eh_c_handle = handle;
    told->eh_fortran_handle = number(process, handle + at->errh_fortran);
    int kind = number(process, handle + at->errh_type);
    if (kind == 0) {
        told->eh_bitflags = MPIDBG_ERRH_INFO_PREDEFINED | MPIDBG_ERRH_INFO_COMMUNICATOR | MPIDBG_ERRH_INFO_FILE |
                            MPIDBG_ERRH_INFO_WINDOW;
        processes->fetch_data_fp(process, handle + at->errh_name, sizeof told->eh_name, told->eh_name);
    } else {
        /* The interface has none for sessions, which are 4. */
        static const enum mpidbg_errhandler_info_bitmap_t objects[5] = {
            0, MPIDBG_ERRH_INFO_COMMUNICATOR, MPIDBG_ERRH_INFO_WINDOW, MPIDBG_ERRH_INFO_FILE, 0};
        told->eh_bitflags = objects[kind > 0 && kind < 5 ? kind : 0];
        if (number(process, handle + at->errh_lang) == 0)
            told->eh_bitflags |= MPIDBG_ERRH_INFO_C_CALLBACK;
        int functions[5] = {0, at->errh_comm, at->errh_win, at->errh_file, 0};
        if (told->eh_bitflags & ~MPIDBG_ERRH_INFO_C_CALLBACK)
            told->eh_callback_func = pointer(process, handle + functions[kind]);
    }
    told->eh_refcount = MPIDBG_ERR_NOT_SUPPORTED;
    if (IS("lists")) {
        told->eh_refcount = 1;
        told->eh_handles = allocate(sizeof(mqs_taddr_t));
        told->eh_handles[0] = 0x333;
    }
    return MPIDBG_SUCCESS;
}

int mpidbg_errhandler_f2c(mqs_image *image, struct image_info *at, mqs_process *process, struct process_info *info,
                          mqs_taddr_t fortran, mqs_taddr_t *handle)
{
    (void)image;
    *handle = entry_of(process, at, info->errhandlers, fortran);
    return *handle == 0 ? MPIDBG_ERR_NOT_FOUND : MPIDBG_SUCCESS;
}

int mpidbg_request_query(mqs_image *image, struct image_info *at, mqs_process *process, struct process_info *info,
                         mqs_taddr_t handle, struct mpidbg_request_info_t **result)
{
    (void)image;
    fate("mpidbg_request_query");
    if (handle != info->request_null && !is_in(process, at, info->requests, handle))
        return MPIDBG_ERR_NOT_FOUND;
    struct mpidbg_request_info_t *told = *result = allocate(sizeof *told);
    told->req_bitflags = handle == info->request_null ? MPIDBG_REQUEST_INFO_PREDEFINED : 0;
    told->req_c_handle = handle;
    told->req_fortran_handle = number(process, handle + at->request_fortran);
    return MPIDBG_SUCCESS;
}

int mpidbg_status_query(mqs_image *image, struct image_info *at, mqs_process *process, struct process_info *info,
                        mqs_taddr_t status, struct mpidbg_status_info_t **result)
{
    (void)image;
    (void)at;
    (void)info;
    if (status == 0) {
        struct mpidbg_status_info_t *ignore = *result = allocate(sizeof *ignore);
        ignore->status_bitflags = MPIDBG_STATUS_INFO_PREDEFINED;
        return MPIDBG_SUCCESS;
    }
    number(process, status);
    *result = allocate(sizeof **result);
    return MPIDBG_SUCCESS;
}
