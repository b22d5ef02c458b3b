/* A plain host of an mqs plug-in: in its own process, without a cache, one pread for each fetch.
 *
 *   plain_host PLUGIN PID TABLE
 *
 * It is what `make bench` compares the project's host with. It drives a plug-in over a stopped process, counts what it
 * gets and prints "communicators operations fetches seconds". TABLE is a text file made from a layout profile and the
 * symbol tables: lines "symbol NAME ADDRESS", "type NAME SIZE" and "field TYPE NAME OFFSET". There is no defence here
 * against anything: it must be used on good plug-ins and whole processes only.
 *
 * Written from the document on message queue dumping; needs -I tests/programs/plugins.
 */
#define _GNU_SOURCE
#include "mqs.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ENTRIES = 65536 };

struct entry {
    char kind, type[128], name[128];
    unsigned long value;
};

static struct entry *table;
static int entries, memory;
static void *image_info, *process_info;
static char image_object, process_object;
static unsigned long fetches;

static struct entry *find(char kind, const char *type, const char *name)
{
    for (int i = 0; i < entries; i++)
        if (table[i].kind == kind && strcmp(table[i].type, type) == 0 && strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

static void *zeroed(size_t size) { return calloc(1, size); }
static void put_image(mqs_image *image, void *info) { (void)image, image_info = info; }
static void *get_image_info(mqs_image *image) { return (void)image, image_info; }
static void put_process(mqs_process *process, void *info) { (void)process, process_info = info; }
static void *get_process_info(mqs_process *process) { return (void)process, process_info; }
static void prints(const char *text) { (void)text; }
static char *errorstring(int code) { return (void)code, "error"; }

static void sizes(mqs_process *process, mqs_target_type_sizes *out)
{
    (void)process;
    *out = (mqs_target_type_sizes){2, 4, 8, 8, 8};
}

static int symbol(mqs_image *image, char *name, mqs_taddr_t *out)
{
    (void)image;
    struct entry *found = find('s', "", name);
    if (found == NULL)
        return 100;
    if (out != NULL)
        *out = found->value;
    return mqs_ok;
}

static int function(mqs_image *image, char *name, int language, mqs_taddr_t *out)
{
    (void)language;
    return symbol(image, name, out);
}

static mqs_type *type(mqs_image *image, char *name, int language)
{
    (void)image, (void)language;
    return (mqs_type *)find('t', "", name);
}

static int field(mqs_type *type, char *name)
{
    struct entry *found = find('f', ((struct entry *)type)->name, name);
    return found == NULL ? -1 : (int)found->value;
}

static int size(mqs_type *type) { return (int)((struct entry *)type)->value; }
static int rank(mqs_process *process) { return (void)process, 0; }
static mqs_image *get_image(mqs_process *process) { return (void)process, (mqs_image *)&image_object; }

static int fetch(mqs_process *process, mqs_taddr_t at, int length, void *out)
{
    (void)process;
    fetches++;
    return pread(memory, out, length, (off_t)at) == length ? mqs_ok : 101;
}

static void to_host(mqs_process *process, const void *from, void *to, int length)
{
    (void)process;
    memmove(to, from, length);
}

static void read_table(const char *path)
{
    FILE *file = fopen(path, "r");
    char kind[16], first[128], second[128];
    unsigned long value;
    if (file == NULL)
        exit(2);
    table = calloc(MAX_ENTRIES, sizeof *table);
    while (entries < MAX_ENTRIES && fscanf(file, "%15s %127s", kind, first) == 2) {
        struct entry *entry = &table[entries];
        entry->kind = kind[0];
        if (kind[0] == 'f') {
            if (fscanf(file, "%127s", second) != 1)
                break;
            strcpy(entry->type, first);
            strcpy(entry->name, second);
        } else {
            strcpy(entry->name, first);
        }
        if (fscanf(file, "%lu", &value) != 1)
            break;
        entry->value = value;
        entries++;
    }
    fclose(file);
}

static void check(int code, const char *what)
{
    if (code != mqs_ok) {
        fprintf(stderr, "%s: %d\n", what, code);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    static const mqs_basic_callbacks basic = {zeroed,      free,           prints,      errorstring,     put_image,
                                              get_image_info, put_process, get_process_info, NULL, NULL};
    static const mqs_image_callbacks images = {sizes, function, symbol, type, field, size};
    static const mqs_process_callbacks processes = {rank, get_image, fetch, to_host, NULL, NULL};
    mqs_image *image = (mqs_image *)&image_object;
    mqs_process *process = (mqs_process *)&process_object;
    char path[64], *message;
    long communicators = 0, operations = 0;
    struct timespec start, end;

    if (argc != 4)
        return 2;
    void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    snprintf(path, sizeof path, "/proc/%s/mem", argv[2]);
    memory = open(path, O_RDONLY);
    if (plugin == NULL || memory < 0)
        return 2;
    read_table(argv[3]);
#define CALL(name, ...) ((int (*)())dlsym(plugin, #name))(__VA_ARGS__)
    clock_gettime(CLOCK_MONOTONIC, &start);
    CALL(mqs_setup_basic_callbacks, &basic);
    check(CALL(mqs_setup_image, image, &images), "mqs_setup_image");
    check(CALL(mqs_image_has_queues, image, &message), "mqs_image_has_queues");
    check(CALL(mqs_setup_process, process, &processes), "mqs_setup_process");
    check(CALL(mqs_process_has_queues, process, &message), "mqs_process_has_queues");
    check(CALL(mqs_update_communicator_list, process), "mqs_update_communicator_list");
    int (*next)(mqs_process *, mqs_pending_operation *) = (int (*)(mqs_process *, mqs_pending_operation *))dlsym(
        plugin, "mqs_next_operation");
    for (int more = CALL(mqs_setup_communicator_iterator, process); more == mqs_ok;
         more = CALL(mqs_next_communicator, process)) {
        mqs_communicator communicator;
        check(CALL(mqs_get_communicator, process, &communicator), "mqs_get_communicator");
        communicators++;
        for (int queue = mqs_pending_sends; queue <= mqs_unexpected_messages; queue++) {
            mqs_pending_operation operation;
            if (CALL(mqs_setup_operation_iterator, process, queue) != mqs_ok)
                continue;
            memset(&operation, 0, sizeof operation);
            while (next(process, &operation) == mqs_ok) {
                operations++;
                memset(&operation, 0, sizeof operation);
            }
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%ld %ld %lu %.6f\n", communicators, operations, fetches,
           (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec));
    return 0;
}
