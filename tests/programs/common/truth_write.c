/* See truth.h: writing the notes as JSON. */
#define _GNU_SOURCE
#include "told.h"
#include "truth_internal.h"

static char path[TOLD_PATH], temporary[TOLD_PATH];

/* Asks MPI about each request, without changing it. */
static void resolve(struct truth_op *op, int asking_is_allowed)
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
    if (op->address == truth_empty_request) {
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

/* The rank of a peer in MPI_COMM_WORLD, null for one that is not in it. */
static void write_world_rank(FILE *file, const struct truth_comm *comm, int peer)
{
    fputs(",\"world\":", file);
    write_ranks(file, comm->inter ? &comm->remote_group[peer] : &comm->group[peer], 1);
}

static void write_members(FILE *file, const char *name, const int *members, int size)
{
    if (members == NULL)
        return;
    fprintf(file, ",\"%s\":[", name);
    for (int i = 0; i < size; i++)
        fprintf(file, "%s[%d,%d]", i ? "," : "", members[2 * i], members[2 * i + 1]);
    fputc(']', file);
}

static void write_comm(FILE *file, const struct truth_comm *comm)
{
    fprintf(file, "{\"handle\":\"0x%lx\",\"name\":", (unsigned long)HANDLE(comm->handle));
    if (comm->name)
        write_text(file, comm->name);
    else
        fputs("null", file);
    /* Whether it stays for what is pending is the library's own. */
    if (comm->freed && !truth_limits_are_known())
        fputs(",\"optional\":true", file);
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
    write_members(file, "members", comm->members, comm->size);
    write_members(file, "remote_members", comm->remote_members, comm->remote_size);
    fputc('}', file);
}

static void write_op(FILE *file, const struct truth_op *op)
{
    static const char *const modes[] = {"standard", "synchronous", "buffered", "ready"};
    fprintf(file, "{\"comm\":\"0x%lx\"", (unsigned long)HANDLE(op->comm->handle));
    if (op->receive && op->peer == MPI_ANY_SOURCE)
        fputs(",\"peer\":null,\"world\":null", file);
    else {
        fprintf(file, ",\"peer\":%d", op->peer);
        write_world_rank(file, op->comm, op->peer);
    }
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
    /* MPI says nothing of what is left of a buffered send: the library sends a copy of the message for itself. A probe of
     * others than ob1 asks again and again and leaves nothing to be seen. */
    if (!truth_limits_are_known() && ((!op->receive && op->mode == TRUTH_BUFFERED) || op->probe))
        fputs(",\"optional\":true", file);
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
    if (op->matched) {
        fprintf(file, ",\"actual\":{\"peer\":%d", op->matched_source);
        write_world_rank(file, op->comm, op->matched_source);
        fprintf(file, ",\"tag\":%d,\"bytes\":%llu}", op->matched_tag, (unsigned long long)op->matched_bytes);
    } else if (op->receive && (op->complete || op->probe == 2) && !op->cancelled) {
        int bytes;
        MPI_Get_count(&op->status, MPI_BYTE, &bytes);
        fprintf(file, ",\"actual\":{\"peer\":%d", op->status.MPI_SOURCE);
        write_world_rank(file, op->comm, op->status.MPI_SOURCE);
        fprintf(file, ",\"tag\":%d,\"bytes\":%d}", op->status.MPI_TAG, bytes);
    } else
        fputs(",\"actual\":null", file);
    fputc('}', file);
}

static void write_ops(FILE *file, const char *name, int receive)
{
    int first = 1;
    fprintf(file, ",\n \"%s\":[", name);
    for (size_t i = 0; i < truth_op_count; i++)
        if (truth_ops[i]->listed && truth_ops[i]->receive == receive) {
            fputs(first ? "\n  " : ",\n  ", file);
            write_op(file, truth_ops[i]);
            first = 0;
        }
    fputc(']', file);
}

/* Persistent requests that are not started, or complete and waited for: no operation of theirs is pending. */
static void write_inactive(FILE *file)
{
    int first = 1;
    fputs(",\n \"inactive\":[", file);
    for (size_t i = 0; i < truth_op_count; i++)
        if (truth_ops[i]->persistent && !truth_ops[i]->listed) {
            fputs(first ? "\n  " : ",\n  ", file);
            write_op(file, truth_ops[i]);
            first = 0;
        }
    fputc(']', file);
}

void truth_await_truth_of(int rank)
{
    told_path(path, truth_world, rank, "");
    while (access(path, F_OK) != 0)
        usleep(1000);
}

void truth_write(const char *call, int asking_is_allowed)
{
    FILE *file;
    int first = 1;
    told_path(path, truth_world, truth_rank, "");
    told_path(temporary, truth_world, truth_rank, ".new");
    for (size_t i = 0; i < truth_op_count; i++)
        resolve(truth_ops[i], asking_is_allowed);
    file = fopen(temporary, "w");
    if (file == NULL)
        truth_fail("cannot write %s", temporary);
    fprintf(file, "{\"rank\":%d,\"world_size\":%d,\"pid\":%d,\"world\":%d,\"call\":", truth_rank, truth_size,
            (int)getpid(), truth_world);
    fprintf(file, call ? "\"%s\"" : "null", call);
    fputs(",\n \"communicators\":[", file);
    for (size_t i = 0; i < truth_comm_count; i++)
        if (truth_comms[i]->listed) {
            fputs(first ? "\n  " : ",\n  ", file);
            write_comm(file, truth_comms[i]);
            first = 0;
        }
    fputc(']', file);
    write_ops(file, "sends", 0);
    write_ops(file, "receives", 1);
    write_inactive(file);
    fputs(",\n \"unexpected\":[", file);
    first = 1;
    for (size_t i = 0; i < truth_message_count; i++)
        if (truth_messages[i]->listed) {
            const struct message *message = truth_messages[i];
            fprintf(file, "%s{\"comm\":\"0x%lx\",\"peer\":%d", first ? "\n  " : ",\n  ",
                    (unsigned long)HANDLE(message->comm->handle), message->source);
            write_world_rank(file, message->comm, message->source);
            fprintf(file, ",\"tag\":%d,\"bytes\":%llu,\"status\":\"%s\"}", message->tag, (unsigned long long)message->bytes,
                    message->in_transit ? "in_transit" : "pending");
            first = 0;
        }
    fputs("],\n \"collective\":", file);
    if (truth_collective_comm)
        fprintf(file, "{\"comm\":\"0x%lx\",\"call\":\"%s\"}",
                (unsigned long)HANDLE(truth_collective_comm->handle), truth_collective_call);
    else
        fputs("null", file);
    fputs("}\n", file);
    if (fclose(file) != 0)
        truth_fail("cannot write %s", temporary);
}

void truth_publish(void)
{
    rename(temporary, path);
}
