/* A message-queue plug-in for MPI-2 that knows no queues: what it tells is who the process spawned, which truth_spawn.c
 * keeps in `truth_spawned`, and which identity the debugger gave it.
 */
#include "mqs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { REFUSED = 101, MOST = 8 };

static const mqs_basic_callbacks *basic;
static const mqs_image_callbacks *images;
static const mqs_process_callbacks *processes;
static int pids[MOST], next;

void mqs_setup_basic_callbacks(const mqs_basic_callbacks *callbacks)
{
    basic = callbacks;
}

char *mqs_version_string(void)
{
    return "worlds of a test program";
}

int mqs_version_compatibility(void)
{
    return 3;
}

int mqs_dll_taddr_width(void)
{
    return sizeof(mqs_taddr_t);
}

char *mqs_dll_error_string(int code)
{
    return code == REFUSED ? "not the test program" : "another error";
}

int mqs_setup_image(mqs_image *image, const mqs_image_callbacks *callbacks)
{
    (void)image;
    images = callbacks;
    return mqs_ok;
}

int mqs_image_has_queues(mqs_image *image, char **message)
{
    (void)image;
    *message = NULL;
    return mqs_ok;
}

void mqs_destroy_image_info(void *info)
{
    (void)info;
}

int mqs_setup_process(mqs_process *process, const mqs_process_callbacks *callbacks)
{
    (void)process;
    processes = callbacks;
    return mqs_ok;
}

int mqs_process_has_queues(mqs_process *process, char **message)
{
    (void)process;
    *message = NULL;
    return mqs_ok;
}

void mqs_destroy_process_info(void *info)
{
    (void)info;
}

int mqs_update_communicator_list(mqs_process *process)
{
    (void)process;
    return mqs_ok;
}

int mqs_setup_communicator_iterator(mqs_process *process)
{
    (void)process;
    return mqs_end_of_list;
}

int mqs_get_communicator(mqs_process *process, mqs_communicator *communicator)
{
    (void)process;
    (void)communicator;
    return REFUSED;
}

int mqs_next_communicator(mqs_process *process)
{
    (void)process;
    return mqs_end_of_list;
}

int mqs_setup_operation_iterator(mqs_process *process, int queue)
{
    (void)process;
    (void)queue;
    return mqs_no_information;
}

int mqs_next_operation(mqs_process *process, mqs_pending_operation *operation)
{
    (void)process;
    (void)operation;
    return mqs_end_of_list;
}

int mqs_setup_job(mqs_job *job, const mqs_job_callbacks *callbacks)
{
    (void)job;
    (void)callbacks;
    return mqs_ok;
}

int mqs_destroy_job_info(void *info)
{
    (void)info;
    return mqs_ok;
}

int mqs_set_process_identity(mqs_process *process, int identity)
{
    char line[64];
    (void)process;
    snprintf(line, sizeof line, "identity %d", identity);
    basic->dprints_fp(line);
    return mqs_ok;
}

int mqs_spawn_breakpoint_name(mqs_process *process, char *name, int room)
{
    (void)process;
    return snprintf(name, room, "truth_have_spawned") < room ? mqs_ok : REFUSED;
}

int mqs_setup_new_process_iterator(mqs_process *process)
{
    mqs_taddr_t at;
    unsigned char bytes[sizeof pids];
    if (images->find_symbol_fp(processes->get_image_fp(process), "truth_spawned", &at) != mqs_ok ||
        processes->fetch_data_fp(process, at, sizeof bytes, bytes) != mqs_ok)
        return REFUSED;
    for (int i = 0; i < MOST; i++)
        processes->target_to_host_fp(process, bytes + 4 * i, &pids[i], 4);
    next = 0;
    return pids[0] == 0 ? mqs_end_of_list : mqs_ok;
}

int next_new_process(mqs_process *process, mqs_process_location *location)
{
    (void)process;
    if (next == MOST || pids[next] == 0)
        return mqs_end_of_list;
    location->pid = pids[next++];
    strcpy(location->image_name, "truth_spawn");
    gethostname(location->host_name, sizeof location->host_name);
    return mqs_ok;
}
