/* See truth.h: posting and noting. */
#define _GNU_SOURCE
#include "told.h"
#include "truth_internal.h"

#include <dlfcn.h>

enum { FLUSH_CALLS = 4000 };

int truth_rank, truth_size, truth_world;
MPI_Comm truth_control;

struct truth_comm **truth_comms;
struct truth_op **truth_ops;
struct message **truth_messages;
size_t truth_comm_count, truth_op_count, truth_message_count;
static unsigned long order;
struct truth_comm *truth_collective_comm;
const char *truth_collective_call;
uintptr_t truth_empty_request;

void truth_fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "truth, rank %d: ", truth_rank);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 9);
    _exit(9);
}

static void *allocate(size_t bytes)
{
    void *memory = calloc(1, bytes ? bytes : 1);
    if (memory == NULL)
        truth_fail("no memory for %zu bytes", bytes);
    return memory;
}

void *truth_buffer(size_t bytes)
{
    return allocate(bytes);
}

/* Arrays grow when their count reaches a power of two. */
static void **grown(void **array, size_t count)
{
    if ((count & (count - 1)) == 0) {
        array = realloc(array, (count ? 2 * count : 1) * sizeof *array);
        if (array == NULL)
            truth_fail("no memory");
    }
    return array;
}

static int *world_ranks(MPI_Group group, int size)
{
    MPI_Group world;
    int *local = allocate(size * sizeof *local), *global = allocate(size * sizeof *global);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < size; i++)
        local[i] = i;
    MPI_Group_translate_ranks(group, size, local, world, global);
    MPI_Group_free(&world);
    free(local);
    return global;
}

static struct truth_comm *find_comm(MPI_Comm comm)
{
    for (size_t i = truth_comm_count; i > 0; i--)
        if (truth_comms[i - 1]->handle == comm && !truth_comms[i - 1]->freed)
            return truth_comms[i - 1];
    truth_fail("a communicator that was not noted");
}

void truth_comm(MPI_Comm comm, const char *name)
{
    struct truth_comm *noted = allocate(sizeof *noted);
    MPI_Group group;
    noted->handle = comm;
    noted->name = name ? strdup(name) : NULL;
    /* The standard allows a library to cut a name to MPI_MAX_OBJECT_NAME - 1 bytes. */
    if (noted->name && strlen(noted->name) > MPI_MAX_OBJECT_NAME - 1)
        noted->name[MPI_MAX_OBJECT_NAME - 1] = '\0';
    noted->listed = 1;
    MPI_Comm_rank(comm, &noted->local_rank);
    MPI_Comm_size(comm, &noted->size);
    MPI_Comm_group(comm, &group);
    noted->group = world_ranks(group, noted->size);
    MPI_Group_free(&group);
    MPI_Comm_test_inter(comm, &noted->inter);
    if (noted->inter) {
        MPI_Comm_remote_size(comm, &noted->remote_size);
        MPI_Comm_remote_group(comm, &group);
        noted->remote_group = world_ranks(group, noted->remote_size);
        MPI_Group_free(&group);
    }
    truth_comms = (struct truth_comm **)grown((void **)truth_comms, truth_comm_count);
    truth_comms[truth_comm_count++] = noted;
}

void truth_named_comm(MPI_Comm comm, const char *name)
{
    MPI_Comm_set_name(comm, name);
    truth_comm(comm, name);
}

void truth_exchange_members(MPI_Comm comm)
{
    struct truth_comm *noted = find_comm(comm);
    int own[2] = {truth_world, truth_rank};
    int *others = allocate(2 * (size_t)(noted->inter ? noted->remote_size : noted->size) * sizeof *others);
    /* On an intercommunicator each group gets what the other one sends. */
    MPI_Allgather(own, 2, MPI_INT, others, 2, MPI_INT, comm);
    if (!noted->inter) {
        noted->members = others;
        return;
    }
    noted->remote_members = others;
    noted->members = allocate(2 * (size_t)noted->size * sizeof *noted->members);
    for (int i = 0; i < noted->size; i++) {
        if (noted->group[i] == MPI_UNDEFINED)
            truth_fail("a member of the local group is of another world");
        noted->members[2 * i] = truth_world;
        noted->members[2 * i + 1] = noted->group[i];
    }
}

void truth_free_comm(MPI_Comm *comm, int operations_pending)
{
    struct truth_comm *noted = find_comm(*comm);
    noted->freed = 1;
    noted->listed = operations_pending;
    MPI_Comm_free(comm);
}

static struct truth_op *note(int receive, int mode, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                             const char *call)
{
    struct truth_op *op = allocate(sizeof *op);
    int size, length;
    op->comm = find_comm(comm);
    op->receive = receive;
    op->mode = mode;
    op->count = count;
    op->peer = peer;
    op->tag = tag;
    op->call = call;
    MPI_Type_size(type, &size);
    op->bytes = (uint64_t)size * (uint64_t)count;
    MPI_Type_get_name(type, op->datatype, &length);
    op->listed = op->ordered = 1;
    op->order = order++;
    op->request = MPI_REQUEST_NULL;
    truth_ops = (struct truth_op **)grown((void **)truth_ops, truth_op_count);
    truth_ops[truth_op_count++] = op;
    return op;
}

int truth_limits_are_known(void)
{
#ifdef OPEN_MPI
    const char *pml = getenv("OMPI_MCA_pml");
    return pml == NULL || strcmp(pml, "ob1") == 0;
#else
    return 0;
#endif
}

/* Whether a send that no receive takes is complete is the library's own. */
static enum truth_fate known_fate(enum truth_mode mode, enum truth_fate fate)
{
    if (truth_limits_are_known())
        return fate;
    if (fate == TRUTH_EAGER || (fate == TRUTH_PENDING && (mode == TRUTH_STANDARD || mode == TRUTH_READY)))
        return TRUTH_SETTLED;
    return fate;
}

static size_t extent_bytes(int count, MPI_Datatype type)
{
    MPI_Aint lower, extent;
    MPI_Type_get_extent(type, &lower, &extent);
    return (size_t)(lower + extent) * (size_t)count + 64;
}

struct truth_op *truth_isend(enum truth_mode mode, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                             enum truth_fate fate, MPI_Request *request)
{
    static const char *const calls[] = {"MPI_Isend", "MPI_Issend", "MPI_Ibsend", "MPI_Irsend"};
    struct truth_op *op = note(0, mode, count, type, dest, tag, comm, calls[mode]);
    void *buffer = op->buffer = truth_buffer(extent_bytes(count, type));
    op->fate = known_fate(mode, fate);
    switch (mode) {
    case TRUTH_STANDARD: MPI_Isend(buffer, count, type, dest, tag, comm, &op->request); break;
    case TRUTH_SYNCHRONOUS: MPI_Issend(buffer, count, type, dest, tag, comm, &op->request); break;
    case TRUTH_BUFFERED: MPI_Ibsend(buffer, count, type, dest, tag, comm, &op->request); break;
    case TRUTH_READY: MPI_Irsend(buffer, count, type, dest, tag, comm, &op->request); break;
    }
    op->address = HANDLE(op->request);
    if (dest == MPI_PROC_NULL)
        op->fate = TRUTH_GONE;
    if (request)
        *request = op->request;
    return op;
}

struct truth_op *truth_irecv(int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, enum truth_fate fate,
                             MPI_Request *request)
{
    return truth_irecv_into(truth_buffer(extent_bytes(count, type)), count, type, source, tag, comm, fate, request);
}

struct truth_op *truth_irecv_into(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                  enum truth_fate fate, MPI_Request *request)
{
    struct truth_op *op = note(1, 0, count, type, source, tag, comm, "MPI_Irecv");
    op->buffer = buffer;
    op->fate = fate;
    MPI_Irecv(buffer, count, type, source, tag, comm, &op->request);
    op->address = HANDLE(op->request);
    if (source == MPI_PROC_NULL)
        op->fate = TRUTH_GONE;
    if (request)
        *request = op->request;
    return op;
}

struct truth_op *truth_send_init(enum truth_mode mode, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                                 MPI_Request *request)
{
    static const char *const calls[] = {"MPI_Send_init", "MPI_Ssend_init", "MPI_Bsend_init", "MPI_Rsend_init"};
    struct truth_op *op = note(0, mode, count, type, dest, tag, comm, calls[mode]);
    void *buffer = op->buffer = truth_buffer(extent_bytes(count, type));
    switch (mode) {
    case TRUTH_STANDARD: MPI_Send_init(buffer, count, type, dest, tag, comm, &op->request); break;
    case TRUTH_SYNCHRONOUS: MPI_Ssend_init(buffer, count, type, dest, tag, comm, &op->request); break;
    case TRUTH_BUFFERED: MPI_Bsend_init(buffer, count, type, dest, tag, comm, &op->request); break;
    case TRUTH_READY: MPI_Rsend_init(buffer, count, type, dest, tag, comm, &op->request); break;
    }
    op->persistent = 1;
    op->listed = 0;
    op->address = HANDLE(op->request);
    if (request)
        *request = op->request;
    return op;
}

struct truth_op *truth_recv_init(int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                 MPI_Request *request)
{
    struct truth_op *op = note(1, 0, count, type, source, tag, comm, "MPI_Recv_init");
    void *buffer = op->buffer = truth_buffer(extent_bytes(count, type));
    MPI_Recv_init(buffer, count, type, source, tag, comm, &op->request);
    op->persistent = 1;
    op->listed = 0;
    op->address = HANDLE(op->request);
    if (request)
        *request = op->request;
    return op;
}

void truth_start(struct truth_op *op, enum truth_fate fate)
{
    op->fate = op->receive ? fate : known_fate(op->mode, fate);
    op->listed = 1;
    op->order = order++;
    MPI_Start(&op->request);
}

struct truth_op *truth_will_send(enum truth_mode mode, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                                 const char *call)
{
    return note(0, mode, count, type, dest, tag, comm, call);
}

struct truth_op *truth_will_recv(int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, const char *call)
{
    return note(1, 0, count, type, source, tag, comm, call);
}

void truth_will_probe(int source, int tag, MPI_Comm comm, const char *call)
{
    struct truth_op *op = note(1, 0, 0, MPI_BYTE, source, tag, comm, call);
    op->probe = 1;
}

void truth_mprobe(int source, int tag, MPI_Comm comm)
{
    MPI_Message *message = truth_buffer(sizeof *message);
    struct truth_op *op = note(1, 0, 0, MPI_BYTE, source, tag, comm, "MPI_Mprobe");
    op->probe = 2;
    op->ordered = 0;
    MPI_Mprobe(source, tag, comm, message, &op->status);
    truth_forget_message(comm, op->status.MPI_SOURCE, op->status.MPI_TAG);
}

void truth_free_request(struct truth_op *op)
{
    int complete = 0;
    if (op->fate != TRUTH_PENDING || op->persistent) {
        for (int i = 0; !complete && i < (op->fate == TRUTH_SETTLED ? FLUSH_CALLS : 1); i++)
            MPI_Request_get_status(op->request, &complete, MPI_STATUS_IGNORE);
        op->listed = op->listed && !complete;
    }
    MPI_Request_free(&op->request);
    op->request = MPI_REQUEST_NULL;
}

void truth_wait(struct truth_op *op)
{
    MPI_Wait(&op->request, MPI_STATUS_IGNORE);
    op->listed = 0;
}

void truth_cancel(struct truth_op *op)
{
    MPI_Cancel(&op->request);
    op->cancelled = 1;
    op->fate = TRUTH_COMPLETE;
}

void truth_matched(struct truth_op *op, int source, int tag, uint64_t bytes)
{
    op->matched = 1;
    op->matched_source = source;
    op->matched_tag = tag;
    op->matched_bytes = bytes;
}

void truth_unordered(struct truth_op *op)
{
    op->ordered = 0;
}

void truth_buffered_pending(struct truth_op *op)
{
    op->buffered_pending = 1;
}

void truth_await(struct truth_op *op)
{
    int complete = 0;
    while (!complete)
        MPI_Request_get_status(op->request, &complete, MPI_STATUS_IGNORE);
}

void truth_completes(struct truth_op *op)
{
    if (op->fate == TRUTH_PENDING)
        op->fate = TRUTH_COMPLETE;
    truth_await(op);
}

MPI_Request truth_request(struct truth_op *op)
{
    return op->request;
}

void truth_expect_earlier(MPI_Comm comm, int source, int tag, uint64_t bytes)
{
    struct message *message = allocate(sizeof *message);
    message->comm = find_comm(comm);
    message->source = source;
    message->tag = tag;
    message->bytes = bytes;
    message->listed = 1;
    truth_messages = (struct message **)grown((void **)truth_messages, truth_message_count);
    truth_messages[truth_message_count++] = message;
}

void truth_expect_in_transit(MPI_Comm comm, int source, int tag, uint64_t bytes)
{
    truth_expect_earlier(comm, source, tag, bytes);
    truth_messages[truth_message_count - 1]->in_transit = 1;
}

void truth_expect(MPI_Comm comm, int source, int tag, uint64_t bytes)
{
    int arrived = 0;
    while (!arrived)
        MPI_Iprobe(source, tag, comm, &arrived, MPI_STATUS_IGNORE);
    truth_expect_earlier(comm, source, tag, bytes);
}

void truth_forget_message(MPI_Comm comm, int source, int tag)
{
    struct truth_comm *noted = find_comm(comm);
    for (size_t i = 0; i < truth_message_count; i++)
        if (truth_messages[i]->listed && truth_messages[i]->comm == noted && truth_messages[i]->source == source &&
            truth_messages[i]->tag == tag) {
            truth_messages[i]->listed = 0;
            return;
        }
    truth_fail("no message of tag %d to forget", tag);
}

void truth_will_collect(MPI_Comm comm, const char *call)
{
    truth_collective_comm = find_comm(comm);
    truth_collective_call = call;
}

static void flush(void)
{
    int arrived;
    for (int i = 0; i < FLUSH_CALLS; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, 0, truth_control, &arrived, MPI_STATUS_IGNORE);
}

void truth_settle(void)
{
    MPI_Barrier(truth_control);
    flush();
    MPI_Barrier(truth_control);
    flush();
}

/* Some answer sends that are done at once with a request that all of them share. */
static void find_empty_request(void)
{
    /* ompi/mca/pml/ob1/pml_ob1_isend.c, Open MPI 4.1.4; 6.0 has one for sends alone. */
    truth_empty_request = (uintptr_t)dlsym(RTLD_DEFAULT, "ompi_request_empty_send");
    if (truth_empty_request == 0)
        truth_empty_request = (uintptr_t)dlsym(RTLD_DEFAULT, "ompi_request_empty");
    if (truth_empty_request == 0) {
        MPI_Request nothing;
        MPI_Isend(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &nothing);
        truth_empty_request = HANDLE(nothing);
        MPI_Wait(&nothing, MPI_STATUS_IGNORE);
    }
}

void truth_begin(int *argc, char ***argv, int thread_level)
{
    int provided;
    alarm(LIFE_SECONDS);
    MPI_Init_thread(argc, argv, thread_level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &truth_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &truth_size);
    if (provided < thread_level)
        truth_fail("thread level %d asked for, %d provided", thread_level, provided);
    truth_prepare_hang();
    find_empty_request();
    truth_comm(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    truth_comm(MPI_COMM_SELF, "MPI_COMM_SELF");
    MPI_Comm_dup(MPI_COMM_WORLD, &truth_control);
    truth_named_comm(truth_control, "control");
}
