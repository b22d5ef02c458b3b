/* See truth.h. */
#define _GNU_SOURCE
#include "truth.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Progress calls that find nothing before a wait counts as quiet. */
enum { QUIET_CALLS = 20000, SLEEP_CHECKS = 50, FLUSH_CALLS = 4000, LIFE_SECONDS = 1800 };

struct truth_comm {
    MPI_Comm handle;
    char *name;
    int listed, freed, inter;
    int local_rank, size, remote_size;
    int *group, *remote_group;
};

struct truth_op {
    struct truth_comm *comm;
    int receive, peer, tag, count, mode, persistent, listed, ordered, buffered_pending, cancelled;
    enum truth_fate fate;
    const char *call;
    char datatype[MPI_MAX_OBJECT_NAME];
    uint64_t bytes;
    uintptr_t address; /* the request's handle when it was posted; 0: not known */
    void *buffer;
    int matched, matched_source, matched_tag; /* data under way */
    uint64_t matched_bytes;
    int probe; /* 1: waits in a probe; 2: a message that a matching probe holds */
    MPI_Request request;
    unsigned long order;
    /* What the library says at the end. */
    int complete, traceless;
    MPI_Status status;
};

struct message {
    struct truth_comm *comm;
    int source, tag, listed;
    uint64_t bytes;
};

int truth_rank, truth_size;
MPI_Comm truth_control;

static struct truth_comm **comms;
static struct truth_op **ops;
static struct message **messages;
static size_t comm_count, op_count, message_count;
static unsigned long order;
static struct truth_comm *collective_comm;
static const char *collective_call;
static char path[4096], temporary[4200];
static void *empty_request;

static int asking_is_allowed = 1;
static volatile int armed;
static unsigned quiet_calls, sleep_checks;
static int sleeping_threads[64], sleeping_count;

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
    for (size_t i = comm_count; i > 0; i--)
        if (comms[i - 1]->handle == comm && !comms[i - 1]->freed)
            return comms[i - 1];
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
    comms = (struct truth_comm **)grown((void **)comms, comm_count);
    comms[comm_count++] = noted;
}

void truth_named_comm(MPI_Comm comm, const char *name)
{
    MPI_Comm_set_name(comm, name);
    truth_comm(comm, name);
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
    ops = (struct truth_op **)grown((void **)ops, op_count);
    ops[op_count++] = op;
    return op;
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
    op->fate = fate;
    switch (mode) {
    case TRUTH_STANDARD: MPI_Isend(buffer, count, type, dest, tag, comm, &op->request); break;
    case TRUTH_SYNCHRONOUS: MPI_Issend(buffer, count, type, dest, tag, comm, &op->request); break;
    case TRUTH_BUFFERED: MPI_Ibsend(buffer, count, type, dest, tag, comm, &op->request); break;
    case TRUTH_READY: MPI_Irsend(buffer, count, type, dest, tag, comm, &op->request); break;
    }
    op->address = (uintptr_t)op->request;
    if (dest == MPI_PROC_NULL)
        op->fate = TRUTH_GONE;
    if (request)
        *request = op->request;
    return op;
}

struct truth_op *truth_irecv(int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, enum truth_fate fate,
                             MPI_Request *request)
{
    struct truth_op *op = note(1, 0, count, type, source, tag, comm, "MPI_Irecv");
    void *buffer = op->buffer = truth_buffer(extent_bytes(count, type));
    op->fate = fate;
    MPI_Irecv(buffer, count, type, source, tag, comm, &op->request);
    op->address = (uintptr_t)op->request;
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
    op->address = (uintptr_t)op->request;
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
    op->address = (uintptr_t)op->request;
    if (request)
        *request = op->request;
    return op;
}

void truth_start(struct truth_op *op, enum truth_fate fate)
{
    op->fate = fate;
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
    messages = (struct message **)grown((void **)messages, message_count);
    messages[message_count++] = message;
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
    for (size_t i = 0; i < message_count; i++)
        if (messages[i]->listed && messages[i]->comm == noted && messages[i]->source == source &&
            messages[i]->tag == tag) {
            messages[i]->listed = 0;
            return;
        }
    truth_fail("no message of tag %d to forget", tag);
}

void truth_will_collect(MPI_Comm comm, const char *call)
{
    collective_comm = find_comm(comm);
    collective_call = call;
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

/* Asks MPI about each request, without changing it. */
static void resolve(struct truth_op *op)
{
    int complete = 0;
    if (!op->listed || op->fate == TRUTH_GONE) {
        op->listed = 0;
        return;
    }
    if (op->request == MPI_REQUEST_NULL) /* blocking, or given back while pending */
        return;
    if (!asking_is_allowed) /* asking makes progress */
        return;
    if ((op->fate == TRUTH_EAGER || op->fate == TRUTH_SETTLED) && (void *)op->address == empty_request) {
        op->traceless = 1;
        return;
    }
    if (op->fate == TRUTH_COMPLETE || op->fate == TRUTH_EAGER)
        truth_await(op);
    MPI_Request_get_status(op->request, &complete, &op->status);
    if (op->fate == TRUTH_PENDING && complete != op->buffered_pending)
        truth_fail("%s on %s, peer %d, tag %d, %llu bytes: was to stay pending, but complete is %d (from %d, tag %d)",
                   op->call, op->comm->name ? op->comm->name : "?", op->peer, op->tag, (unsigned long long)op->bytes,
                   complete, op->status.MPI_SOURCE, op->status.MPI_TAG);
    op->complete = complete && !op->buffered_pending;
}

static void write_text(FILE *file, const char *text)
{
    fputc('"', file);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c == '"' || *c == '\\')
            fprintf(file, "\\%c", *c);
        else if (*c < 32)
            fprintf(file, "\\u%04x", *c);
        else
            fputc(*c, file);
    fputc('"', file);
}

static void write_ranks(FILE *file, const int *ranks, int size)
{
    for (int i = 0; i < size; i++)
        if (ranks[i] == MPI_UNDEFINED)
            fprintf(file, "%snull", i ? "," : "");
        else
            fprintf(file, "%s%d", i ? "," : "", ranks[i]);
}

static int world_rank(const struct truth_comm *comm, int peer)
{
    return comm->inter ? comm->remote_group[peer] : comm->group[peer];
}

static void write_comm(FILE *file, const struct truth_comm *comm)
{
    fprintf(file, "{\"handle\":\"0x%lx\",\"name\":", (unsigned long)(uintptr_t)comm->handle);
    if (comm->name)
        write_text(file, comm->name);
    else
        fputs("null", file);
    fprintf(file, ",\"freed\":%s,\"local_rank\":%d,\"size\":%d,\"group\":[", comm->freed ? "true" : "false",
            comm->local_rank, comm->size);
    write_ranks(file, comm->group, comm->size);
    fputs("],\"remote_group\":", file);
    if (comm->inter) {
        fputc('[', file);
        write_ranks(file, comm->remote_group, comm->remote_size);
        fputc(']', file);
    } else
        fputs("null", file);
    fputc('}', file);
}

static void write_op(FILE *file, const struct truth_op *op)
{
    static const char *const modes[] = {"standard", "synchronous", "buffered", "ready"};
    fprintf(file, "{\"comm\":\"0x%lx\"", (unsigned long)(uintptr_t)op->comm->handle);
    if (op->receive && op->peer == MPI_ANY_SOURCE)
        fputs(",\"peer\":null,\"world\":null", file);
    else
        fprintf(file, ",\"peer\":%d,\"world\":%d", op->peer, world_rank(op->comm, op->peer));
    if (op->receive && op->tag == MPI_ANY_TAG)
        fputs(",\"tag\":null", file);
    else
        fprintf(file, ",\"tag\":%d", op->tag);
    if (op->probe)
        fputs(",\"bytes\":null,\"count\":null,\"datatype\":", file);
    else
        fprintf(file, ",\"bytes\":%llu,\"count\":%d,\"datatype\":", (unsigned long long)op->bytes, op->count);
    if (op->datatype[0] && !op->probe)
        write_text(file, op->datatype);
    else
        fputs("null", file);
    if (!op->receive)
        fprintf(file, ",\"mode\":\"%s\"", modes[op->mode]);
    fprintf(file, ",\"call\":\"%s\",\"persistent\":%s,\"cancelled\":%s,\"traceless\":%s", op->call,
            op->persistent ? "true" : "false", op->cancelled ? "true" : "false", op->traceless ? "true" : "false");
    fprintf(file, ",\"probe\":%s,\"buffer\":", op->probe ? "true" : "false");
    if (op->buffer)
        fprintf(file, "\"0x%lx\"", (unsigned long)(uintptr_t)op->buffer);
    else
        fputs("null", file);
    fprintf(file, ",\"status\":\"%s\",\"request\":", op->probe == 2 || op->matched ? "matched" : op->complete ? "complete" : "pending");
    if (op->address && !op->traceless)
        fprintf(file, "\"0x%lx\"", (unsigned long)op->address);
    else
        fputs("null", file);
    if (op->ordered)
        fprintf(file, ",\"order\":%lu", op->order);
    else
        fputs(",\"order\":null", file);
    if (op->matched)
        fprintf(file, ",\"actual\":{\"peer\":%d,\"world\":%d,\"tag\":%d,\"bytes\":%llu}", op->matched_source,
                world_rank(op->comm, op->matched_source), op->matched_tag, (unsigned long long)op->matched_bytes);
    else if (op->receive && (op->complete || op->probe == 2) && !op->cancelled) {
        int bytes;
        MPI_Get_count(&op->status, MPI_BYTE, &bytes);
        fprintf(file, ",\"actual\":{\"peer\":%d,\"world\":%d,\"tag\":%d,\"bytes\":%d}", op->status.MPI_SOURCE,
                world_rank(op->comm, op->status.MPI_SOURCE), op->status.MPI_TAG, bytes);
    } else
        fputs(",\"actual\":null", file);
    fputc('}', file);
}

static void write_ops(FILE *file, const char *name, int receive)
{
    int first = 1;
    fprintf(file, ",\n \"%s\":[", name);
    for (size_t i = 0; i < op_count; i++)
        if (ops[i]->listed && ops[i]->receive == receive) {
            fputs(first ? "\n  " : ",\n  ", file);
            write_op(file, ops[i]);
            first = 0;
        }
    fputc(']', file);
}

/* Persistent requests that are not started, or complete and waited for: no operation of theirs is pending. */
static void write_inactive(FILE *file)
{
    int first = 1;
    fputs(",\n \"inactive\":[", file);
    for (size_t i = 0; i < op_count; i++)
        if (ops[i]->persistent && !ops[i]->listed) {
            fputs(first ? "\n  " : ",\n  ", file);
            write_op(file, ops[i]);
            first = 0;
        }
    fputc(']', file);
}

static void write_truth(const char *call)
{
    FILE *file;
    int first = 1;
    const char *pattern = getenv("MPIQ_TRUTH");
    if (pattern == NULL)
        truth_fail("MPIQ_TRUTH is not set: it names the file to write, with %%d for the rank");
    const char *place = strstr(pattern, "%d");
    if (place)
        snprintf(path, sizeof path, "%.*s%d%s", (int)(place - pattern), pattern, truth_rank, place + 2);
    else
        snprintf(path, sizeof path, "%s", pattern);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    for (size_t i = 0; i < op_count; i++)
        resolve(ops[i]);
    file = fopen(temporary, "w");
    if (file == NULL)
        truth_fail("cannot write %s", temporary);
    fprintf(file, "{\"rank\":%d,\"world_size\":%d,\"pid\":%d,\"call\":", truth_rank, truth_size, (int)getpid());
    fprintf(file, call ? "\"%s\"" : "null", call);
    fputs(",\n \"communicators\":[", file);
    for (size_t i = 0; i < comm_count; i++)
        if (comms[i]->listed) {
            fputs(first ? "\n  " : ",\n  ", file);
            write_comm(file, comms[i]);
            first = 0;
        }
    fputc(']', file);
    write_ops(file, "sends", 0);
    write_ops(file, "receives", 1);
    write_inactive(file);
    fputs(",\n \"unexpected\":[", file);
    first = 1;
    for (size_t i = 0; i < message_count; i++)
        if (messages[i]->listed) {
            fprintf(file, "%s{\"comm\":\"0x%lx\",\"peer\":%d,\"world\":%d,\"tag\":%d,\"bytes\":%llu}",
                    first ? "\n  " : ",\n  ", (unsigned long)(uintptr_t)messages[i]->comm->handle,
                    messages[i]->source, world_rank(messages[i]->comm, messages[i]->source), messages[i]->tag,
                    (unsigned long long)messages[i]->bytes);
            first = 0;
        }
    fputs("],\n \"collective\":", file);
    if (collective_comm)
        fprintf(file, "{\"comm\":\"0x%lx\",\"call\":\"%s\"}",
                (unsigned long)(uintptr_t)collective_comm->handle, collective_call);
    else
        fputs("null", file);
    fputs("}\n", file);
    if (fclose(file) != 0)
        truth_fail("cannot write %s", temporary);
}

static int asleep(int thread)
{
    char name[64], text[256], *end;
    size_t length;
    FILE *file;
    snprintf(name, sizeof name, "/proc/self/task/%d/stat", thread);
    file = fopen(name, "r");
    if (file == NULL)
        return 0;
    length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = '\0';
    end = strrchr(text, ')');
    return end && end[1] == ' ' && end[2] == 'S';
}

/* Runs inside the library's progress function, which a blocked MPI call calls over and over. */
static int on_progress(void)
{
    if (!armed || ++quiet_calls < QUIET_CALLS)
        return 0;
    if (sleeping_count) {
        int self = (int)syscall(SYS_gettid);
        if (quiet_calls % 100)
            return 0;
        for (int i = 0; i < sleeping_count; i++)
            if (sleeping_threads[i] != self && !asleep(sleeping_threads[i])) {
                sleep_checks = 0;
                return 0;
            }
        if (++sleep_checks < SLEEP_CHECKS)
            return 0;
    }
    armed = 0;
    rename(temporary, path);
    return 0;
}

void truth_hang_stopped(void)
{
    asking_is_allowed = 0;
    truth_hang_paused();
}

void truth_hang_paused(void)
{
    write_truth(NULL);
    rename(temporary, path);
    for (;;)
        pause();
}

void truth_hang_in(const char *call)
{
    write_truth(call);
    armed = 1;
}

void truth_hang_threads_begin(const char *call)
{
    write_truth(call);
}

void truth_hang_threads(const int *sleepers, int sleeper_count)
{
    for (int i = 0; i < sleeper_count; i++)
        sleeping_threads[sleeping_count++] = sleepers[i];
    __sync_synchronize();
    armed = 1;
}

void truth_begin(int *argc, char ***argv, int thread_level)
{
    int provided;
    int (*register_progress)(int (*)(void));
    /* A job that nobody ends must not stay for ever. */
    alarm(LIFE_SECONDS);
    MPI_Init_thread(argc, argv, thread_level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &truth_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &truth_size);
    if (provided < thread_level)
        truth_fail("thread level %d asked for, %d provided", thread_level, provided);
    /* opal/runtime/opal_progress.h, Open MPI 4.1 and 5.0: called in turn by every blocked call. */
    register_progress = (int (*)(int (*)(void)))dlsym(RTLD_DEFAULT, "opal_progress_register");
    if (register_progress == NULL || register_progress(on_progress) != 0)
        truth_fail("the library has no opal_progress_register");
    /* ompi/mca/pml/ob1/pml_ob1_isend.c, 4.1.4: what a send that completed inline returns as its request. */
    empty_request = dlsym(RTLD_DEFAULT, "ompi_request_empty");
    if (empty_request == NULL)
        truth_fail("the library has no ompi_request_empty");
    truth_comm(MPI_COMM_WORLD, "MPI_COMM_WORLD");
    truth_comm(MPI_COMM_SELF, "MPI_COMM_SELF");
    MPI_Comm_dup(MPI_COMM_WORLD, &truth_control);
    truth_named_comm(truth_control, "control");
}
