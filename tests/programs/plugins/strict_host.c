/* A host of an mqs plug-in that follows the document to the letter, and refuses what is not in it.
 *
 *   strict_host PLUGIN PID SYMBOLS [brief | mpi2 [PID SYMBOLS]...]
 *
 * It reads a stopped process and writes what the plug-in gives, a line for each communicator, group, queue and operation.
 * SYMBOLS is a file with lines "NAME ADDRESS", all that the debugger is to know of symbols. What the document does not allow
 * ends the program with status 3 and a line on standard error: other handles than the host's, reads of no length, memory that is
 * not given back, texts without an end, codes that do not exist, writes beyond a group's room, output. With "brief" operations are counted only, and
 * how long all of it took stands at the end. With "mpi2" it speaks MPI-2: the process is the first of a job, behind it are
 * the others, and each is called FIRST_IDENTITY and its place among them. Each has an image of its own, since libraries lie elsewhere.
 *
 * Written from the document on message queue dumping.
 */
#define _GNU_SOURCE
#include "mqs.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MOST_SYMBOLS = 64, MOST_PROCESSES = 16, FIRST_IDENTITY = 100, CANARY = 0x5a5a5a5a };

struct mqs_image_ {
    void *info;
    int known;
    struct {
        char name[256];
        unsigned long address;
    } symbols[MOST_SYMBOLS];
};
struct mqs_process_ {
    void *info;
    mqs_image *image;
    int memory;
};
struct mqs_job_ {
    void *info;
};

static int brief, mpi2, count;
static long allocated;
static struct mqs_image_ all_images[MOST_PROCESSES];
static struct mqs_process_ all[MOST_PROCESSES];
static struct mqs_job_ job;
#define process all[0]

static void refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    exit(3);
}

#define REQUIRE(condition) \
    do { \
        if (!(condition)) \
            refuse("%s does not hold: %s", __func__, #condition); \
    } while (0)

static int is_process(mqs_process *which) { return which >= all && which < all + count; }
static int is_image(mqs_image *which) { return which >= all_images && which < all_images + count; }

static void *give(size_t size)
{
    REQUIRE(size > 0);
    allocated++;
    return malloc(size);
}
static void take(void *at)
{
    REQUIRE(at != NULL);
    allocated--;
    free(at);
}
static void prints(const char *text) { refuse("the plug-in prints: %s", text); }
static char *errorstring(int code) { return (void)code, (char *)"an error of the debugger"; }
static void put_image(mqs_image *which, void *info)
{
    REQUIRE(is_image(which));
    which->info = info;
}
static void *image_info(mqs_image *which)
{
    REQUIRE(is_image(which));
    return which->info;
}
static void put_process(mqs_process *which, void *info)
{
    REQUIRE(is_process(which));
    which->info = info;
}
static void *process_info(mqs_process *which)
{
    REQUIRE(is_process(which));
    return which->info;
}
static void put_job(mqs_job *which, void *info)
{
    REQUIRE(mpi2 && which == &job);
    job.info = info;
}
static void *job_info(mqs_job *which)
{
    REQUIRE(mpi2 && which == &job);
    return job.info;
}
static void sizes(mqs_process *which, mqs_target_type_sizes *out)
{
    REQUIRE(is_process(which) && out != NULL);
    *out = (mqs_target_type_sizes){sizeof(short), sizeof(int), sizeof(long), sizeof(long long), sizeof(void *)};
}
static int symbol(mqs_image *which, char *name, mqs_taddr_t *out)
{
    REQUIRE(is_image(which) && name != NULL && *name != 0);
    for (int i = 0; i < which->known; i++)
        if (strcmp(which->symbols[i].name, name) == 0) {
            if (out != NULL)
                *out = which->symbols[i].address;
            return mqs_ok;
        }
    return mqs_first_user_code;
}
static int function(mqs_image *which, char *name, int language, mqs_taddr_t *out)
{
    REQUIRE(language == mqs_lang_c || language == 'C' || language == 'f' || language == 'F' || language == 'a');
    return symbol(which, name, out);
}
static mqs_type *type(mqs_image *which, char *name, int language)
{
    REQUIRE(is_image(which) && name != NULL && language == mqs_lang_c);
    return NULL;
}
static int field(mqs_type *which, char *name) { refuse("a field %s of a type %p that there is not", name, (void *)which); return -1; }
static int size(mqs_type *which) { refuse("the size of a type %p that there is not", (void *)which); return -1; }
static int rank(mqs_process *which)
{
    REQUIRE(is_process(which));
    return (int)(which - all);
}
static mqs_image *get_image(mqs_process *which)
{
    REQUIRE(is_process(which));
    return which->image;
}
static mqs_job *process_job(mqs_process *which)
{
    REQUIRE(mpi2 && is_process(which));
    return &job;
}
static int identity(mqs_process *which)
{
    REQUIRE(mpi2 && is_process(which));
    return FIRST_IDENTITY + rank(which);
}
static mqs_process *process_of_job(mqs_job *which, int number)
{
    REQUIRE(mpi2 && which == &job);
    number -= FIRST_IDENTITY;
    return number >= 0 && number < count ? &all[number] : NULL;
}
static int fetch(mqs_process *which, mqs_taddr_t at, int length, void *out)
{
    REQUIRE(is_process(which) && length > 0 && out != NULL);
    return pread(which->memory, out, (size_t)length, (off_t)at) == length ? mqs_ok : mqs_first_user_code + 1;
}
static void to_host(mqs_process *which, const void *from, void *to, int length)
{
    REQUIRE(is_process(which) && from != NULL && to != NULL && length > 0);
    memmove(to, from, (size_t)length);
}

/* A table ends where an MPI-1 debugger's does: whatever lies behind must not be looked at. */
static struct {
    void *members[8];
    void *behind[2];
} basic = {{(void *)give, (void *)take, (void *)prints, (void *)errorstring, (void *)put_image, (void *)image_info,
            (void *)put_process, (void *)process_info},
           {(void *)1, (void *)1}};
/* Those of one that speaks MPI-2 do not end there. */
static void *const basic_2[] = {(void *)give, (void *)take, (void *)prints, (void *)errorstring, (void *)put_image, (void *)image_info,
                                (void *)put_process, (void *)process_info, (void *)put_job, (void *)job_info};
static void *const processes_2[] = {(void *)rank, (void *)get_image, (void *)fetch, (void *)to_host, (void *)process_job,
                                    (void *)identity};
static const mqs_job_callbacks jobs = {process_of_job};
static const mqs_image_callbacks images = {sizes, function, symbol, type, field, size};
static struct {
    void *members[4];
    void *behind[2];
} processes = {{(void *)rank, (void *)get_image, (void *)fetch, (void *)to_host}, {(void *)1, (void *)1}};

static void *plugin;
static char *(*error_string)(int);

static void *entry(const char *name)
{
    void *found = dlsym(plugin, name);
    if (found == NULL)
        refuse("the plug-in has no %s", name);
    return found;
}
#define CALL(name, ...) ((int (*)())entry(#name))(__VA_ARGS__)

static void must(int code, const char *what)
{
    if (code == mqs_ok)
        return;
    REQUIRE(code >= mqs_first_user_code);
    printf("%s: %s\n", what, error_string(code));
    exit(0);
}

static void text(const char *what, const char *at, size_t room)
{
    REQUIRE(memchr(at, 0, room) != NULL);
    printf(" %s=\"%s\"", what, at);
}

static void message(char *said)
{
    int formats = 0;
    if (said == NULL)
        return;
    for (const char *at = said; (at = strchr(at, '%')) != NULL; at += 2) {
        REQUIRE(at[1] == '%' || at[1] == 's');
        formats += at[1] == 's';
    }
    REQUIRE(formats <= 1);
    printf(said, "the image");
    putchar('\n');
}

static int (*next)(mqs_process *, mqs_pending_operation *);

static void queue(int class)
{
    int code = CALL(mqs_setup_operation_iterator, &process, class), started = code;
    long given = 0;
    while (code == mqs_ok) {
        mqs_pending_operation one;
        memset(&one, 0xff, sizeof one);
        code = next(&process, &one);
        if (code != mqs_ok)
            break;
        given++;
        REQUIRE(one.status >= mqs_st_pending && one.status <= mqs_st_complete);
        REQUIRE(one.tag_wild == 0 || one.tag_wild == 1);
        REQUIRE(one.desired_local_rank >= -1 && one.desired_global_rank >= -1 && one.desired_length >= -1);
        if (!brief) {
            printf("operation class=%d status=%d desired=%ld/%ld wild=%d tag=%ld length=%ld system=%d buffer=%#lx", class,
                   one.status, one.desired_local_rank, one.desired_global_rank, one.tag_wild, one.desired_tag,
                   one.desired_length, one.system_buffer, one.buffer);
            printf(" actual=%ld/%ld tag=%ld length=%ld", one.actual_local_rank, one.actual_global_rank, one.actual_tag,
                   one.actual_length);
        }
        for (int line = 0; line < 5 && one.extra_text[line][0] != 0; line++) {
            REQUIRE(memchr(one.extra_text[line], 0, 64) != NULL);
            if (!brief)
                text("text", one.extra_text[line], 64);
        }
        if (!brief)
            putchar('\n');
    }
    REQUIRE(code == mqs_end_of_list || (started != mqs_ok && code == mqs_no_information) || code >= mqs_first_user_code);
    printf("queue class=%d count=%ld end=%d", class, given, code);
    if (code >= mqs_first_user_code)
        printf(" (%s)", error_string(code));
    putchar('\n');
    /* The debugger is free to go on. */
    mqs_pending_operation one;
    REQUIRE(started != mqs_ok || next(&process, &one) == code);
}

static void communicators(void)
{
    int more = CALL(mqs_setup_communicator_iterator, &process);
    for (; more == mqs_ok; more = CALL(mqs_next_communicator, &process)) {
        mqs_communicator one;
        memset(&one, 0xff, sizeof one);
        must(CALL(mqs_get_communicator, &process, &one), "mqs_get_communicator");
        printf("communicator id=%lu rank=%ld size=%ld", one.unique_id, one.local_rank, one.size);
        text("name", one.name, sizeof one.name);
        REQUIRE(one.local_rank >= -1 && one.local_rank < one.size && one.size < 1 << 24);
        int *ranks = malloc((size_t)(one.size + 4) * sizeof *ranks);
        for (long i = 0; i < one.size + 4; i++)
            ranks[i] = CANARY;
        int code = CALL(mqs_get_comm_group, &process, ranks);
        for (long i = 0; i < one.size; i++)
            REQUIRE(code != mqs_ok || (ranks[i] >= -1 && ranks[i] != CANARY));
        for (long i = one.size; i < one.size + 4; i++)
            REQUIRE(ranks[i] == CANARY);
        printf(" group=%s", code == mqs_ok ? "" : "?");
        for (long i = 0; code == mqs_ok && i < one.size && i < 16; i++)
            printf("%s%d", i > 0 ? "," : "", ranks[i]);
        putchar('\n');
        free(ranks);
        for (int class = mqs_pending_sends; class <= mqs_unexpected_messages; class++)
            queue(class);
    }
    REQUIRE(more == mqs_end_of_list || more >= mqs_first_user_code);
}

/* What MPI-2 adds: the job, the names of its processes, and those that it may have spawned. */
static void set_job(void)
{
    must(CALL(mqs_setup_job, &job, &jobs), "mqs_setup_job");
    for (int i = 0; i < count; i++)
        must(CALL(mqs_set_process_identity, &all[i], FIRST_IDENTITY + i), "mqs_set_process_identity");
}

static void new_processes(void)
{
    char name[128];
    mqs_process_location location;
    memset(name, 'x', sizeof name);
    int code = CALL(mqs_spawn_breakpoint_name, &process, name, (int)sizeof name);
    REQUIRE(code == mqs_ok ? memchr(name, 0, sizeof name) != NULL : code == mqs_no_information || code >= mqs_first_user_code);
    code = CALL(mqs_setup_new_process_iterator, &process);
    long found = 0;
    printf("new processes setup=%d", code);
    for (; code == mqs_ok; found++) {
        code = CALL(next_new_process, &process, &location);
        REQUIRE(code != mqs_ok || memchr(location.host_name, 0, sizeof location.host_name) != NULL);
    }
    REQUIRE(code == mqs_end_of_list || code == mqs_no_information || code >= mqs_first_user_code);
    printf(" count=%ld\n", found);
}

static void add_process(const char *pid, const char *symbols)
{
    mqs_image *image = &all_images[count];
    char path[64];
    FILE *list = fopen(symbols, "r");
    while (list != NULL && image->known < MOST_SYMBOLS &&
           fscanf(list, "%255s %lx", image->symbols[image->known].name, &image->symbols[image->known].address) == 2)
        image->known++;
    snprintf(path, sizeof path, "/proc/%s/mem", pid);
    all[count] = (struct mqs_process_){NULL, image, open(path, O_RDONLY)};
    if (all[count++].memory < 0 || list == NULL)
        refuse("%s or %s cannot be read", path, symbols);
    fclose(list);
}

static void show(void)
{
    char *said = NULL;
    ((void (*)(const void *))entry("mqs_setup_basic_callbacks"))(mpi2 ? (const void *)basic_2 : &basic);
    int code = mqs_ok;
    for (int i = 0; i < count; i++) {
        must(CALL(mqs_setup_image, &all_images[i], &images), "mqs_setup_image");
        code = CALL(mqs_image_has_queues, &all_images[i], &said);
        message(said);
        must(code, "mqs_image_has_queues");
        must(CALL(mqs_setup_process, &all[i], mpi2 ? (const void *)processes_2 : &processes), "mqs_setup_process");
    }
    code = CALL(mqs_process_has_queues, &process, &said);
    message(said);
    if (code == mqs_ok) {
        if (mpi2)
            set_job();
        must(CALL(mqs_update_communicator_list, &process), "mqs_update_communicator_list");
        communicators();
        if (mpi2)
            new_processes();
    }
    for (int i = 0; i < count; i++)
        CALL(mqs_destroy_process_info, all[i].info);
    if (mpi2)
        CALL(mqs_destroy_job_info, job.info);
    for (int i = 0; i < count; i++)
        CALL(mqs_destroy_image_info, all_images[i].info);
    REQUIRE(allocated == 0);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    brief = argc > 4 && strcmp(argv[4], "brief") == 0;
    mpi2 = argc > 4 && strcmp(argv[4], "mpi2") == 0;
    add_process(argv[2], argv[3]);
    for (int i = 5; mpi2 && i + 1 < argc && count < MOST_PROCESSES; i += 2)
        add_process(argv[i], argv[i + 1]);
    if (mpi2)
        setenv("MPI_QUEUES_MQS_MPI2", "1", 1);
    plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == NULL)
        refuse("%s", dlerror());
    error_string = (char *(*)(int))entry("mqs_dll_error_string");
    next = (int (*)(mqs_process *, mqs_pending_operation *))entry("mqs_next_operation");
    REQUIRE(CALL(mqs_version_compatibility) == (mpi2 ? 3 : 2));
    REQUIRE(CALL(mqs_dll_taddr_width) == (int)sizeof(mqs_taddr_t));
    printf("%s\n", ((char *(*)(void))entry("mqs_version_string"))());
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    show();
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (brief)
        printf("%.6f s\n", (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec));
    return 0;
}
