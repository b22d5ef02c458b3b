/* A message-queue plug-in for a made-up MPI, in a good and many hostile variants.
 *
 * The variant is chosen when it is compiled: -DVARIANT='"name"' (default "good"), -DCOMPATIBILITY=2 or 3, -DWIDTH=4,
 * -DWITHOUT_GROUP and so on.
 *
 * The made-up MPI keeps in the symbol `toy_mpi` a struct toy_mpi { int version; struct toy_comm *first; struct
 * toy_spawned *spawned; }; the rest hangs from that (types toy_comm, toy_op, toy_spawned below in `setup_image`).
 */
#include "mqs.h"
#include "variant.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef COMPATIBILITY
#define COMPATIBILITY 2
#endif
#ifndef WIDTH
#define WIDTH ((int)sizeof(mqs_taddr_t))
#endif


/* What happens at the start of each function: "crash:mqs_setup_image" and the like. */
static void fate(const char *function)
{
    const char *variant = CHOSEN;
    const char *colon = strchr(variant, ':');
    if (colon == NULL || strcmp(colon + 1, function) != 0)
        return;
    if (strncmp(variant, "crash:", 6) == 0)
        *(volatile int *)8 = 1;
    if (strncmp(variant, "loop:", 5) == 0)
        for (;;)
            __asm__ volatile("");
    if (strncmp(variant, "abort:", 6) == 0)
        abort();
    if (strncmp(variant, "exit:", 5) == 0)
        exit(0);
    if (strncmp(variant, "_exit:", 6) == 0)
        _exit(0);
    if (strncmp(variant, "kill:", 5) == 0)
        kill(getpid(), SIGKILL);
    if (strncmp(variant, "close:", 6) == 0)
        for (int fd = 0; fd < 1024; fd++)
            close(fd);
    if (strncmp(variant, "sleep:", 6) == 0)
        for (;;)
            pause();
}

static const mqs_basic_callbacks *basic;
static const mqs_image_callbacks *images;
static const mqs_process_callbacks *processes;

struct image_info {
    int comm_id, comm_rank, comm_size, comm_name, comm_group, comm_ops, comm_next;
    int op_class, op_status, op_peer, op_world, op_tag, op_length, op_buffer, op_text, op_next;
    int spawned_pid, spawned_image, spawned_host, spawned_next;
};

struct process_info {
    mqs_target_type_sizes sizes;
    int guard;
    mqs_taddr_t mpi, comm, op, spawned;
    int queue, steps;
};

__attribute__((constructor)) static void constructor(void)
{
    fate("constructor");
}

static mqs_taddr_t pointer(mqs_process *process, mqs_taddr_t at)
{
    struct process_info *info = basic->get_process_info_fp(process);
    unsigned char raw[8] = {0};
    union {
        unsigned long wide;
        unsigned int narrow;
    } value = {0};
    if (processes->fetch_data_fp(process, at, info->sizes.pointer_size, raw) != mqs_ok)
        return 0;
    processes->target_to_host_fp(process, raw, &value, info->sizes.pointer_size);
    return info->sizes.pointer_size == 8 ? value.wide : value.narrow;
}

static int number(mqs_process *process, mqs_taddr_t at)
{
    int value = 0;
    if (processes->fetch_data_fp(process, at, 4, &value) != mqs_ok)
        return 0;
    processes->target_to_host_fp(process, &value, &value, 4); /* in place, as some do */
    return value;
}

static void *forget(void *callbacks)
{
    return callbacks;
}

char *mqs_version_string(void)
{
    fate("mqs_version_string");
    if (IS("wild-version"))
        return (char *)16;
    if (IS("other-series"))
        return "Open MPI message queue support for parallel debuggers 9.9.1 v9.9.1";
    static char text[160];
    snprintf(text, sizeof text, "toy plug-in, variant %s", CHOSEN);
    return text;
}

int mqs_version_compatibility(void)
{
    fate("mqs_version_compatibility");
    return COMPATIBILITY;
}

int mqs_dll_taddr_width(void)
{
    return WIDTH;
}

char *mqs_dll_error_string(int code)
{
    fate("mqs_dll_error_string");
    switch (code) {
    case 101:
        return "toy: no such MPI";
    case 102:
        return "toy: %s%n%n the list is broken";
    default:
        return IS("wild-error") ? (char *)-1L : NULL;
    }
}

void mqs_setup_basic_callbacks(const mqs_basic_callbacks *callbacks)
{
    fate("mqs_setup_basic_callbacks");
    basic = forget((void *)callbacks);
    if (IS("null")) {
        basic->free_fp(NULL);
        basic->dprints_fp(NULL);
        basic->put_image_info_fp(NULL, NULL);
        basic->put_process_info_fp(NULL, NULL);
        basic->put_job_info_fp(NULL, NULL);
        basic->get_image_info_fp(NULL);
        basic->get_process_info_fp((mqs_process *)77);
        basic->get_job_info_fp(NULL);
        basic->errorstring_fp(-1);
        basic->errorstring_fp(12345);
    }
    if (IS("good"))
        basic->dprints_fp("debug %s %n");
}

int mqs_setup_image(mqs_image *image, const mqs_image_callbacks *callbacks)
{
    fate("mqs_setup_image");
    images = callbacks;
    struct image_info *info = basic->malloc_fp(sizeof *info);
    if (info == NULL)
        return 103;
    for (size_t byte = 0; byte < sizeof *info; byte++)
        if (((char *)info)[byte] != 0)
            return 104;
    basic->put_image_info_fp(image, info);
    if (IS("null")) {
        images->get_type_sizes_fp(NULL, NULL);
        images->find_function_fp(NULL, NULL, 0, NULL);
        images->find_symbol_fp(NULL, NULL, NULL);
        images->find_symbol_fp(image, (char *)24, NULL);
        if (images->find_type_fp(NULL, NULL, 0) != NULL)
            return 105;
        if (images->field_offset_fp(NULL, NULL) != -1 || images->field_offset_fp((mqs_type *)99, "x") != -1)
            return 106;
        if (images->sizeof_fp(NULL) != 0 || images->sizeof_fp((mqs_type *)99) != 0)
            return 107;
    }
    if (IS("huge-malloc") && basic->malloc_fp((size_t)-1) == NULL && basic->malloc_fp((size_t)1 << 40) == NULL)
        return 108;
    if (IS("eat-memory"))
        for (;;)
            if (basic->malloc_fp(1 << 24) == NULL)
                return 109;
    if (IS("fork")) {
        pid_t pid = fork();
        if (pid == 0)
            for (;;)
                pause();
        if (pid < 0)
            return 110;
    }
    if (IS("babble")) {
        /* The debugger's connection has some number; this finds it. */
        unsigned char noise[4096];
        for (size_t byte = 0; byte < sizeof noise; byte++)
            noise[byte] = (unsigned char)(byte * 37 + 11);
        for (int fd = 3; fd < 64; fd++)
            if (write(fd, noise, sizeof noise) < 0)
                continue;
    }
    if (IS("beg")) {
        /* Requests for memory whose answers nobody reads: length 8, kind 1, an address. */
        static const unsigned char request[13] = {8, 0, 0, 0, 1, 0, 0, 0x10, 0, 0, 0, 0, 0};
        for (;;)
            for (int fd = 3; fd < 64; fd++)
                if (write(fd, request, sizeof request) < 0)
                    continue;
    }
    if (IS("deep")) {
        volatile char frame[1 << 12];
        frame[0] = (char)mqs_setup_image(image, callbacks);
        return frame[0];
    }
    if (IS("stdout")) {
        for (int line = 0; line < 100000; line++)
            printf("this must not be seen %d\n", line);
        fflush(stdout);
    }
    if (IS("stderr"))
        for (int line = 0; line < 100000; line++)
            fprintf(stderr, "warning %%n %d \033[31m\n", line);
    return mqs_ok;
}

static int offset(mqs_type *type, char *field)
{
    return type == NULL ? -1 : images->field_offset_fp(type, field);
}

int mqs_image_has_queues(mqs_image *image, char **message)
{
    fate("mqs_image_has_queues");
    struct image_info *info = basic->get_image_info_fp(image);
    static char unterminated[1 << 16];
    *message = NULL;
    if (images->find_function_fp(image, "toy_breakpoint", mqs_lang_c, NULL) != mqs_ok)
        return 101;
    if (images->find_symbol_fp(image, "MPIR_Ignore_queues", NULL) == mqs_ok)
        return 111;
    mqs_type *comm = images->find_type_fp(image, IS("missing-type") ? "toy_comn" : "toy_comm", mqs_lang_c);
    mqs_type *op = images->find_type_fp(image, "toy_op", mqs_lang_c);
    mqs_type *spawned = images->find_type_fp(image, "toy_spawned", mqs_lang_c);
    info->comm_id = offset(comm, "id");
    info->comm_rank = offset(comm, "rank");
    info->comm_size = offset(comm, "size");
    info->comm_name = offset(comm, "name");
    info->comm_group = offset(comm, "group");
    info->comm_ops = offset(comm, "ops");
    info->comm_next = offset(comm, "next");
    info->op_class = offset(op, IS("missing-field") ? "clazz" : "class");
    info->op_status = offset(op, "status");
    info->op_peer = offset(op, "peer");
    info->op_world = offset(op, "world");
    info->op_tag = offset(op, "tag");
    info->op_length = offset(op, "length");
    info->op_buffer = offset(op, "buffer");
    info->op_text = offset(op, "text");
    info->op_next = offset(op, "next");
    info->spawned_pid = offset(spawned, "pid");
    info->spawned_image = offset(spawned, "image");
    info->spawned_host = offset(spawned, "host");
    info->spawned_next = offset(spawned, "next");
    if (images->sizeof_fp(op) <= 0)
        return 112;
    if (IS("good"))
        *message = "'%s' is looked at";
    if (IS("message")) {
        *message = "no queues in %s: %n%n%s%d 100%";
        return 101;
    }
    if (IS("wild-message")) {
        *message = (char *)0x1234;
        return 101;
    }
    if (IS("long-message")) {
        memset(unterminated, 'x', sizeof unterminated);
        *message = unterminated;
        return 101;
    }
    if (IS("refuse-image"))
        return 101;
    return mqs_ok;
}

void mqs_destroy_image_info(void *info)
{
    fate("mqs_destroy_image_info");
    basic->free_fp(info);
}

int mqs_setup_process(mqs_process *process, const mqs_process_callbacks *callbacks)
{
    fate("mqs_setup_process");
    processes = callbacks;
    if (IS("refuse-process"))
        return 102;
    struct process_info *info = basic->malloc_fp(sizeof *info);
    info->guard = 0x5a5a5a5a;
    basic->put_process_info_fp(process, info);
    images->get_type_sizes_fp(process, &info->sizes);
    /* Whoever writes seven ints here destroys it. */
    if (info->guard != 0x5a5a5a5a || info->sizes.int_size != 4)
        return 113;
    if (IS("null")) {
        char raw[8] = "1234567";
        processes->get_global_rank_fp(NULL);
        if (processes->get_image_fp(NULL) != NULL)
            return 114;
        if (processes->fetch_data_fp(NULL, 0x1000, 8, raw) == mqs_ok ||
            processes->fetch_data_fp(process, 0x1000, 8, NULL) == mqs_ok ||
            processes->fetch_data_fp(process, 0x1000, -5, raw) == mqs_ok ||
            processes->fetch_data_fp(process, 0x1000, 0x7fffffff, raw) == mqs_ok ||
            processes->fetch_data_fp(process, (mqs_taddr_t)-4, 8, raw) == mqs_ok)
            return 115;
        processes->target_to_host_fp(NULL, NULL, NULL, 8);
        processes->target_to_host_fp(process, raw, raw, -1);
        if (processes->get_process_job_fp(NULL) != NULL || processes->get_process_identity_fp(NULL) != -1)
            return 116;
    }
    return mqs_ok;
}

int mqs_process_has_queues(mqs_process *process, char **message)
{
    fate("mqs_process_has_queues");
    struct process_info *info = basic->get_process_info_fp(process);
    *message = NULL;
    if (IS("refuse-queues")) {
        *message = "the process of '%s' has not called MPI_Init";
        return 102;
    }
    mqs_image *image = processes->get_image_fp(process);
    return images->find_symbol_fp(image, "toy_mpi", &info->mpi) == mqs_ok ? mqs_ok : 101;
}

void mqs_destroy_process_info(void *info)
{
    fate("mqs_destroy_process_info");
    basic->free_fp(info);
}

int mqs_update_communicator_list(mqs_process *process)
{
    fate("mqs_update_communicator_list");
    (void)process;
    return IS("refuse-update") ? 102 : mqs_ok;
}

int mqs_setup_communicator_iterator(mqs_process *process)
{
    fate("mqs_setup_communicator_iterator");
    struct process_info *info = basic->get_process_info_fp(process);
    info->comm = pointer(process, info->mpi + 8);
    return info->comm == 0 ? mqs_end_of_list : mqs_ok;
}

static void text(mqs_process *process, mqs_taddr_t at, char *out, int length)
{
    processes->fetch_data_fp(process, at, length, out);
}

int mqs_get_communicator(mqs_process *process, mqs_communicator *comm)
{
    fate("mqs_get_communicator");
    struct process_info *info = basic->get_process_info_fp(process);
    struct image_info *at = basic->get_image_info_fp(processes->get_image_fp(process));
    comm->unique_id = number(process, info->comm + at->comm_id);
    comm->local_rank = number(process, info->comm + at->comm_rank);
    comm->size = number(process, info->comm + at->comm_size);
    text(process, info->comm + at->comm_name, comm->name, sizeof comm->name);
    if (IS("unterminated"))
        memset(comm->name, 'n', sizeof comm->name);
    if (IS("huge-group"))
        comm->size = 0x7fffffff;
    if (IS("garbage-ranks")) {
        comm->local_rank = 0xfffffffeL;
        comm->size = -1;
    }
    return mqs_ok;
}

#ifndef WITHOUT_GROUP
int mqs_get_comm_group(mqs_process *process, int *ranks)
{
    fate("mqs_get_comm_group");
    struct process_info *info = basic->get_process_info_fp(process);
    struct image_info *at = basic->get_image_info_fp(processes->get_image_fp(process));
    int size = number(process, info->comm + at->comm_size);
    mqs_taddr_t group = pointer(process, info->comm + at->comm_group);
    if (IS("refuse-group"))
        return 102;
    for (int rank = 0; rank < size; rank++)
        ranks[rank] = number(process, group + 4 * rank);
    return mqs_ok;
}
#endif

int mqs_next_communicator(mqs_process *process)
{
    fate("mqs_next_communicator");
    struct process_info *info = basic->get_process_info_fp(process);
    struct image_info *at = basic->get_image_info_fp(processes->get_image_fp(process));
    if (IS("endless-communicators"))
        return mqs_ok;
    info->comm = pointer(process, info->comm + at->comm_next);
    return info->comm == 0 ? mqs_end_of_list : mqs_ok;
}

int mqs_setup_operation_iterator(mqs_process *process, int queue)
{
    fate("mqs_setup_operation_iterator");
    struct process_info *info = basic->get_process_info_fp(process);
    struct image_info *at = basic->get_image_info_fp(processes->get_image_fp(process));
    info->queue = queue;
    info->steps = 0;
    info->op = pointer(process, info->comm + at->comm_ops);
    if (queue == mqs_unexpected_messages && IS("no-unexpected"))
        return mqs_no_information;
    if (queue == mqs_pending_sends && IS("broken-setup"))
        return 102;
    return info->op == 0 ? mqs_end_of_list : mqs_ok;
}

int mqs_next_operation(mqs_process *process, mqs_pending_operation *op)
{
    struct process_info *info = basic->get_process_info_fp(process);
    struct image_info *at = basic->get_image_info_fp(processes->get_image_fp(process));
    for (size_t byte = 0; byte < sizeof *op; byte++)
        if (((char *)op)[byte] != 0)
            return 117; /* the host did not clear it */
    if (info->queue == mqs_pending_receives && info->steps >= 1)
        fate("mqs_next_operation"); /* the second receive: something has been delivered by then */
    if (info->queue == mqs_pending_receives && info->steps >= 1 && IS("broken-list"))
        return 102;
    if (IS("wild-addresses")) {
        static unsigned long seed = 1;
        for (int i = 0; i < 1000; i++) {
            seed = seed * 6364136223846793005UL + 1442695040888963407UL;
            number(process, seed);
        }
        return mqs_end_of_list;
    }
    while (info->op != 0) {
        mqs_taddr_t this = info->op;
        int class = number(process, this + at->op_class);
        if (!IS("endless-operations"))
            info->op = pointer(process, this + at->op_next);
        if (class != info->queue && !IS("endless-operations"))
            continue;
        info->steps++;
        int tag = number(process, this + at->op_tag);
        op->status = number(process, this + at->op_status);
        /* Zero-extended, as vendors do it. */
        op->desired_local_rank = (unsigned)number(process, this + at->op_peer);
        op->desired_global_rank = (unsigned)number(process, this + at->op_world);
        op->tag_wild = tag == -1;
        op->desired_tag = (unsigned)tag;
        op->desired_length = number(process, this + at->op_length);
        op->buffer = pointer(process, this + at->op_buffer);
        text(process, this + at->op_text, op->extra_text[0], 64);
        if (info->queue == mqs_pending_sends || op->status > mqs_st_pending) {
            op->actual_local_rank = op->desired_local_rank;
            op->actual_global_rank = op->desired_global_rank;
            op->actual_tag = op->desired_tag;
            op->actual_length = op->desired_length;
        }
        if (IS("unterminated"))
            memset(op->extra_text, '%', sizeof op->extra_text);
        if (IS("garbage-ranks")) {
            op->desired_local_rank = 0x123456789abcdefL;
            op->desired_global_rank = 0x7fffffff;
            op->status = 1234;
            op->desired_length = -3;
        }
        return mqs_ok;
    }
    return mqs_end_of_list;
}

#if COMPATIBILITY == 3 && !defined WITHOUT_MPI2
struct job_info {
    mqs_job *job;
};

static const mqs_job_callbacks *jobs;

int mqs_setup_job(mqs_job *job, const mqs_job_callbacks *callbacks)
{
    fate("mqs_setup_job");
    struct job_info *info = basic->malloc_fp(sizeof *info);
    jobs = callbacks;
    info->job = job;
    basic->put_job_info_fp(job, info);
    return basic->get_job_info_fp(job) == info ? mqs_ok : 118;
}

int mqs_destroy_job_info(void *info)
{
    fate("mqs_destroy_job_info");
    basic->free_fp(info);
    return mqs_ok;
}

int mqs_set_process_identity(mqs_process *process, int identity)
{
    mqs_job *job = processes->get_process_job_fp(process);
    if (job == NULL || basic->get_job_info_fp(job) == NULL)
        return 119;
    if (processes->get_process_identity_fp((mqs_job *)process) != identity)
        return 120;
    if (jobs->get_process_fp(job, identity) != process || jobs->get_process_fp(job, identity + 1) != NULL)
        return 121;
    return processes->get_global_rank_fp(process) < 0 ? 122 : mqs_ok;
}

int mqs_spawn_breakpoint_name(mqs_process *process, char *name, int room)
{
    (void)process;
    if (IS("unterminated-spawned"))
        memset(name, 'b', room);
    if (IS("absurd-spawned"))
        strcpy(name, "main\ncall exit(0)");
    if (IS("unterminated-spawned") || IS("absurd-spawned"))
        return mqs_ok;
    return snprintf(name, room, "toy_spawned_breakpoint") < room ? mqs_ok : 123;
}

int mqs_setup_new_process_iterator(mqs_process *process)
{
    struct process_info *info = basic->get_process_info_fp(process);
    info->spawned = pointer(process, info->mpi + 16);
    return info->spawned == 0 ? mqs_end_of_list : mqs_ok;
}

int
#ifdef NAME_OF_THE_DOCUMENT
next_new_process
#else
mqs_next_new_process
#endif
    (mqs_process *process, mqs_process_location *location)
{
    struct process_info *info = basic->get_process_info_fp(process);
    struct image_info *at = basic->get_image_info_fp(processes->get_image_fp(process));
    if (info->spawned == 0)
        return mqs_end_of_list;
    location->pid = number(process, info->spawned + at->spawned_pid);
    text(process, info->spawned + at->spawned_image, location->image_name, 16);
    text(process, info->spawned + at->spawned_host, location->host_name, 16);
    if (IS("unterminated-spawned")) {
        memset(location->image_name, 'i', sizeof location->image_name);
        memset(location->host_name, 'h', sizeof location->host_name);
    }
    if (IS("absurd-spawned")) {
        location->pid = -1;
        strcpy(location->image_name, "\033[2J\377");
    }
    if (!IS("endless-spawned"))
        info->spawned = pointer(process, info->spawned + at->spawned_next);
    return mqs_ok;
}
#endif
