/* A plug-in with the habits of MPICH's (pmodels/mpich, src/mpi/debugger/dll_mpich.c), written from their description:
 * ranks and context ids of 16 bits, counts for lengths, no world ranks, a status that is read from the wrong place, and a text for
 * failure that stays when all is well.
 *
 * By default it reads lists of MPIR_Debugq as from 4.0.3 on; with -DREQUESTS those of requests as the plug-in of 4.0.2
 * for ch4 does.
 */
#include "mqs.h"

#include <stdlib.h>
#include <string.h>

enum { head, name, comm_next, remote_size, rank, context_id, recvcontext_id, comm_fields };
enum { next, tag, source, context, buffer, count, request, list_fields };

static const mqs_basic_callbacks *basic;
static const mqs_image_callbacks *images;
static const mqs_process_callbacks *processes;
static int comm_at[comm_fields], list_at[list_fields], send_at[list_fields];
static mqs_taddr_t all, lists[3], current, at;
static int what;

static int offset(const char *type, const char *field)
{
    return images->field_offset_fp(images->find_type_fp(NULL, (char *)type, mqs_lang_c), (char *)field);
}

static mqs_tword_t fetch(mqs_process *process, mqs_taddr_t from, int size)
{
    mqs_tword_t value = 0;
    return processes->fetch_data_fp(process, from, size, &value) == mqs_ok ? value : 0;
}

void mqs_setup_basic_callbacks(const mqs_basic_callbacks *callbacks) { basic = callbacks; }
char *mqs_version_string(void) { return "MPICH message queue support for MPICH 4.9, as it were"; }
int mqs_version_compatibility(void) { return 2; }
int mqs_dll_taddr_width(void) { return sizeof(mqs_taddr_t); }
char *mqs_dll_error_string(int code) { return code == mqs_first_user_code ? "no list" : "?"; }

int mqs_setup_image(mqs_image *image, const mqs_image_callbacks *callbacks)
{
    images = callbacks;
    basic->put_image_info_fp(image, basic->malloc_fp(8));
    return mqs_ok;
}

int mqs_image_has_queues(mqs_image *image, char **message)
{
    *message = "The symbols and types in the library are not as expected in\nthe image '%s'";
    images->find_function_fp(image, "MPII_Wait_for_debugger", mqs_lang_c, NULL);
    comm_at[head] = offset("MPIR_Comm_list", "head");
    comm_at[name] = offset("MPIR_Comm", "name");
    comm_at[comm_next] = offset("MPIR_Comm", "comm_next");
    comm_at[remote_size] = offset("MPIR_Comm", "remote_size");
    comm_at[rank] = offset("MPIR_Comm", "rank");
    comm_at[context_id] = offset("MPIR_Comm", "context_id");
    comm_at[recvcontext_id] = offset("MPIR_Comm", "recvcontext_id");
#ifdef REQUESTS
    int am = offset("MPIR_Request", "dev") + offset("MPIDI_Devreq_t", "am");
    list_at[next] = offset("MPIR_Request", "next");
    list_at[tag] = am + offset("MPIDIG_req_t", "tag");
    list_at[source] = am + offset("MPIDIG_req_t", "rank");
    list_at[context] = am + offset("MPIDIG_req_t", "context_id");
    list_at[buffer] = am + offset("MPIDIG_req_t", "buffer");
    list_at[count] = am + offset("MPIDIG_req_t", "count");
    send_at[request] = offset("MPIR_Sendq", "sreq");
    const char *sends = "MPIR_Sendq";
#else
    const char *sends = "MPIR_Debugq";
    list_at[next] = offset(sends, "next");
    list_at[tag] = offset(sends, "tag");
    list_at[source] = offset(sends, "rank");
    list_at[context] = offset(sends, "context_id");
    list_at[buffer] = send_at[buffer] = offset(sends, "buf");
    list_at[count] = send_at[count] = offset(sends, "count");
#endif
    send_at[next] = offset(sends, "next");
    send_at[tag] = offset(sends, "tag");
    send_at[source] = offset(sends, "rank");
    send_at[context] = offset(sends, "context_id");
    return mqs_ok;
}

int mqs_setup_process(mqs_process *process, const mqs_process_callbacks *callbacks)
{
    processes = callbacks;
    basic->put_process_info_fp(process, basic->malloc_fp(8));
    return mqs_ok;
}

static int find(mqs_process *process, const char *symbol, mqs_taddr_t *found)
{
    return images->find_symbol_fp(processes->get_image_fp(process), (char *)symbol, found);
}

int mqs_process_has_queues(mqs_process *process, char **message)
{
    *message = NULL;
    if (find(process, "MPIR_All_communicators", &all) != mqs_ok || find(process, "MPIR_Sendq_head", &lists[0]) != mqs_ok)
        return mqs_first_user_code;
#ifdef REQUESTS
    if (find(process, "MPID_Recvq_posted_head_ptr", &lists[1]) != mqs_ok ||
        find(process, "MPID_Recvq_unexpected_head_ptr", &lists[2]) != mqs_ok)
        return mqs_first_user_code;
    lists[1] = fetch(process, lists[1], 8);
    lists[2] = fetch(process, lists[2], 8);
    return mqs_ok;
#else
    return find(process, "MPIR_Recvq_head", &lists[1]) || find(process, "MPIR_Unexpq_head", &lists[2])
               ? mqs_first_user_code : mqs_ok;
#endif
}

void mqs_destroy_process_info(void *info) { basic->free_fp(info); }
void mqs_destroy_image_info(void *info) { basic->free_fp(info); }
int mqs_update_communicator_list(mqs_process *process) { return process != NULL ? mqs_ok : mqs_first_user_code; }

int mqs_setup_communicator_iterator(mqs_process *process)
{
    current = fetch(process, all + comm_at[head], 8);
    return current != 0 ? mqs_ok : mqs_end_of_list;
}

int mqs_get_communicator(mqs_process *process, mqs_communicator *out)
{
    out->unique_id = current;
    out->local_rank = (int)fetch(process, current + comm_at[rank], 4);
    out->size = (int)fetch(process, current + comm_at[remote_size], 4);
    processes->fetch_data_fp(process, current + comm_at[name], sizeof out->name, out->name);
    if (out->name[0] == 0)
        strcpy(out->name, "--unnamed--");
    return mqs_ok;
}

int mqs_next_communicator(mqs_process *process)
{
    current = fetch(process, current + comm_at[comm_next], 8);
    return current != 0 ? mqs_ok : mqs_end_of_list;
}

int mqs_setup_operation_iterator(mqs_process *process, int class)
{
    what = class;
    at = lists[class];
    return process != NULL ? mqs_ok : mqs_first_user_code;
}

int mqs_next_operation(mqs_process *process, mqs_pending_operation *out)
{
    const int *fields = what == mqs_pending_sends ? send_at : list_at;
    int wanted = what == mqs_pending_sends ? context_id : recvcontext_id;
    mqs_tword_t mine = fetch(process, current + comm_at[wanted], 2);
    for (at = fetch(process, at, 8); at != 0; at = fetch(process, at + fields[next], 8)) {
        if (fetch(process, at + fields[context], 2) != mine)
            continue;
        mqs_taddr_t data = at;
#ifdef REQUESTS
        if (what == mqs_pending_sends)
            data = fetch(process, at + send_at[request], 8);
#endif
        out->tag_wild = (int)fetch(process, at + fields[tag], 4) < 0;
        out->desired_tag = out->tag_wild ? -1 : (int)fetch(process, at + fields[tag], 4);
        out->desired_local_rank = fetch(process, at + fields[source], 2);
        out->desired_global_rank = out->actual_global_rank = -1;
        out->buffer = fetch(process, data + list_at[buffer], 8);
        out->desired_length = fetch(process, data + list_at[count], 4);
        out->status = mqs_st_pending;
        if (what == mqs_pending_sends)
            strcpy(out->extra_text[0], "Non-blocking send");
        at += fields[next];
        return mqs_ok;
    }
    return mqs_end_of_list;
}
