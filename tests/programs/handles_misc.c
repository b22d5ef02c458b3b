/*
 * Operators, statuses and matched messages. Two ranks; rank 0 receives what rank 1 sends.
 */
#include "common/handles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BIG = 1 << 20 };

void add_them(void *in, void *inout, int *count, MPI_Datatype *type);
void first_of_them(void *in, void *inout, int *count, MPI_Datatype *type);

void add_them(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    for (int at = 0; at < *count; at++)
        ((int *)inout)[at] += ((int *)in)[at];
}

void first_of_them(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    memcpy(inout, in, (size_t)*count * sizeof(int));
}

static void op(MPI_Op operator, const char *name)
{
    int commutative;
    MPI_Op_commutative(operator, &commutative);
    handle_is("op", HANDLE(operator), name ? name : "an operator of ours");
    note_bool("predefined", name != NULL);
    if (name)
        note_text("name", name);
    else
        note_null("name");
    note_int("fortran", MPI_Op_c2f(operator));
    fact_bool("commutative", commutative);
    handle_listed(1);
}

/* MPICH keeps it until 4.2. */
static void language_is_c(void)
{
    if (MPICH_SINCE(40300000))
        fact_unknown("language");
    else
        fact_text("language", "C");
}

static void operators(void)
{
#define PREDEFINED(name) op(name, #name)
    PREDEFINED(MPI_MAX);
    PREDEFINED(MPI_MIN);
    PREDEFINED(MPI_SUM);
    PREDEFINED(MPI_PROD);
    PREDEFINED(MPI_LAND);
    PREDEFINED(MPI_BAND);
    PREDEFINED(MPI_LOR);
    PREDEFINED(MPI_BOR);
    PREDEFINED(MPI_LXOR);
    PREDEFINED(MPI_BXOR);
    PREDEFINED(MPI_MAXLOC);
    PREDEFINED(MPI_MINLOC);
    PREDEFINED(MPI_REPLACE);
    PREDEFINED(MPI_NO_OP);
    note_text("summary", "MPI_NO_OP");
    fact_null("function");
    fact_null("language");

    static MPI_Op adds, takes;
    MPI_Op_create(add_them, 1, &adds);
    MPI_Op_create(first_of_them, 0, &takes);
    op(adds, NULL);
    language_is_c();
    fact_text("function.symbol", "add_them");
    note_summary_has("add_them");
    fact_bool("commutative", 1);
    op(takes, NULL);
    language_is_c();
    fact_text("function.symbol", "first_of_them");
    note_summary_has("not commutative");
    fact_bool("commutative", 0);
}

static MPI_Status statuses[16];
static int used;

static MPI_Status *status(void)
{
    /* Functions that complete one operation do not set MPI_ERROR. */
    statuses[used].MPI_ERROR = MPI_SUCCESS;
    return &statuses[used++];
}

static void status_is(const MPI_Status *at, const char *what, long long bytes, const char *summary)
{
    handle_is("status", HANDLE(at), what);
    fact_int("source", at->MPI_SOURCE);
    fact_int("tag", at->MPI_TAG);
    fact_int("error", at->MPI_ERROR);
    fact_int("bytes", bytes);
    note_text("summary", summary);
    fact_unknown("elements");
}

static void receive_statuses(void)
{
    static int buffer[100];
    MPI_Status *at = status();
    MPI_Recv(buffer, 100, MPI_INT, 1, 17, MPI_COMM_WORLD, at);
    status_is(at, "of a receive", 400, "from 1, tag 17, 400 bytes");
    fact_text("error_name", "MPI_SUCCESS");
    fact_bool("cancelled", 0);

    at = status();
    MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, at);
    status_is(at, "of an empty message from anybody", 0, "from 1, tag 18, 0 bytes");

    at = status();
    MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, 19, MPI_COMM_WORLD, at);
    status_is(at, "of a receive from nobody", 0, "from MPI_PROC_NULL, tag MPI_ANY_TAG, 0 bytes");

    at = status();
    MPI_Request none = MPI_REQUEST_NULL;
    MPI_Wait(&none, at);
    status_is(at, "of the null request", 0, "empty");

    MPI_Request requests[2];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Irecv(buffer, 1, MPI_INT, 1, 20, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(buffer + 50, 50, MPI_INT, 1, 21, MPI_COMM_WORLD, &requests[1]);
    at = status();
    status();
    if (MPI_Waitall(2, requests, at) != MPI_ERR_IN_STATUS)
        abort();
    /* How many bytes a message that was cut has is not what the standard says. */
    handle_is("status", HANDLE(at), "of a message that was cut");
    /* The number is the library's own (MPICH), or that of the class. */
    int class;
    MPI_Error_class(at->MPI_ERROR, &class);
    if (class != MPI_ERR_TRUNCATE)
        abort();
    fact_int("error", at->MPI_ERROR);
    fact_text("error_name", "MPI_ERR_TRUNCATE");
    note_summary_has("from 1, tag 20");
    note_summary_has(", MPI_ERR_TRUNCATE");
    if (at[1].MPI_ERROR == MPI_ERR_PENDING) {
        /* MPI_Waitall may leave it so, and then says nothing else of it (MPICH). */
        handle_is("status", HANDLE(at + 1), "of a message that was not waited for");
        fact_int("error", MPI_ERR_PENDING);
        fact_text("error_name", "MPI_ERR_PENDING");
        note_summary_has(", MPI_ERR_PENDING");
        at = status();
        MPI_Wait(&requests[1], at);
        status_is(at, "of the same message", 40, "from 1, tag 21, 40 bytes");
    } else {
        status_is(at + 1, "of the message after it", 40, "from 1, tag 21, 40 bytes");
    }

    at = status();
    MPI_Request never;
    MPI_Irecv(buffer, 1, MPI_INT, 1, 99, MPI_COMM_WORLD, &never);
    MPI_Cancel(&never);
    MPI_Wait(&never, at);
    handle_is("status", HANDLE(at), "of a receive that was cancelled");
    fact_bool("cancelled", 1);
    note_text("summary", "cancelled");
}

static void made_statuses(void)
{
    static char garbage[64];
    memset(garbage, 0x5a, sizeof garbage);
    handle_is("status", HANDLE(garbage), "memory full of one byte");
    note_text("state", "invalid");
    note_summary_has("not an MPI_Status");

    MPI_Status *at = status();
    at->MPI_SOURCE = MPI_UNDEFINED;
    at->MPI_TAG = MPI_UNDEFINED;
    MPI_Status_set_cancelled(at, 0);
    MPI_Status_set_elements_x(at, MPI_DOUBLE, (MPI_Count)1 << 32);
    status_is(at, "of a generalized request, with a length beyond 32 bits", 1LL << 35,
              "from MPI_UNDEFINED, tag MPI_UNDEFINED, 34359738368 bytes");

    handle_is("status", HANDLE(MPI_STATUS_IGNORE), "MPI_STATUS_IGNORE");
    note_text("state", "null");
    note_text("name", "MPI_STATUS_IGNORE");
}

static void message_is(MPI_Message message, const char *what, MPI_Comm comm, int tag, int bytes)
{
    char summary[80];
    snprintf(summary, sizeof summary, "from 1, tag %d on %s, %d bytes", tag,
             comm == MPI_COMM_WORLD ? "MPI_COMM_WORLD" : "\"halo\"", bytes);
    handle_is("message", HANDLE(message), what);
    note_bool("predefined", 0);
    note_bool("freed", 0);
    note_text("summary", summary);
    fact_handle("communicator", HANDLE(comm));
    fact_int("source", 1);
    fact_int("tag", tag);
    fact_int("bytes", bytes);
    fact_text("request.kind", "request");
    handle_listed(1);
}

static void messages(MPI_Comm halo)
{
    static MPI_Message probed, big, polled, gone, copy, nobodys;
    static char buffer[BIG];
    int there = 0;
    MPI_Mprobe(1, 31, halo, &probed, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_ANY_SOURCE, 32, MPI_COMM_WORLD, &big, MPI_STATUS_IGNORE);
    while (!there)
        MPI_Improbe(1, MPI_ANY_TAG, halo, &there, &polled, MPI_STATUS_IGNORE);
    MPI_Mprobe(1, 34, halo, &gone, MPI_STATUS_IGNORE);
    copy = gone;
    MPI_Mrecv(buffer, BIG, MPI_CHAR, &gone, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_PROC_NULL, 35, halo, &nobodys, MPI_STATUS_IGNORE);

    message_is(probed, "an eager message", halo, 31, 12);
    message_is(big, "a large message", MPI_COMM_WORLD, 32, BIG);
    message_is(polled, "a message of MPI_Improbe", halo, 33, 0);
    handle_is("message", HANDLE(copy), "a message that was received");
    note_text("state", "freed");
    note_bool("freed", 1);
    note_summary_has("freed MPI_Message");
    handle_listed(0);
    handle_is("message", HANDLE(nobodys), "a message of nobody");
    note_text("name", "MPI_MESSAGE_NO_PROC");
    note_text("summary", "MPI_MESSAGE_NO_PROC");
    note_bool("predefined", 1);
    note_int("fortran", MPI_Message_c2f(nobodys));
}

int main(int argc, char **argv)
{
    MPI_Comm halo;
    handles_begin(&argc, &argv, MPI_THREAD_SINGLE);
    MPI_Comm_dup(MPI_COMM_WORLD, &halo);
    MPI_Comm_set_name(halo, "halo");
    operators();
    if (handles_rank == 1) {
        static int numbers[100];
        static char bytes[BIG];
        MPI_Request request;
        MPI_Send(numbers, 100, MPI_INT, 0, 17, MPI_COMM_WORLD);
        MPI_Send(NULL, 0, MPI_INT, 0, 18, MPI_COMM_WORLD);
        MPI_Send(numbers, 10, MPI_INT, 0, 20, MPI_COMM_WORLD);
        MPI_Send(numbers, 10, MPI_INT, 0, 21, MPI_COMM_WORLD);
        MPI_Send(numbers, 3, MPI_INT, 0, 31, halo);
        MPI_Isend(bytes, BIG, MPI_CHAR, 0, 32, MPI_COMM_WORLD, &request);
        MPI_Send(NULL, 0, MPI_CHAR, 0, 33, halo);
        MPI_Send(bytes, 10, MPI_CHAR, 0, 34, halo);
    } else {
        receive_statuses();
        made_statuses();
        messages(halo);
    }
    handles_hang();
}
