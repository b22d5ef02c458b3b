/*
 * Requests of every sort in every state. Three ranks; rank 0 has most of them, the others send to it and then pause. The
 * communicator "halo" has the processes in reverse order, so that ranks in it are not those in MPI_COMM_WORLD.
 */
#include "common/handles.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE = 1000000, SMALL = 20 };

static MPI_Comm halo, done;
static char large[8][LARGE], small[64][80];
static double doubles[1000];
/* next: where the request that is made next goes. */
static MPI_Request requests[64], *next = requests;

static void add(void *from, void *to, int *count, MPI_Datatype *datatype)
{
    (void)datatype;
    for (int at = 0; at < *count; at++)
        ((int *)to)[at] += ((int *)from)[at];
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_INT, 1);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int stop(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

/* Notes the request that was made last; what follows is on it. */
static MPI_Request *note(const char *what, const char *type, const char *word)
{
    MPI_Request *request = next++;
    handle_is("request", HANDLE(*request), what);
    fact_text("type", type);
    fact_text("status_word", word);
    fact_bool("complete", strcmp(word, "pending") != 0 && strcmp(word, "matched") != 0);
    return request;
}

/* A message's request; peer < 0: any source, tag < 0: any tag. */
static MPI_Request *message(const char *what, const char *call, const char *direction, const char *mode, MPI_Comm comm,
                            int peer, int tag, const void *buffer, int count, MPI_Datatype datatype, const char *word)
{
    int size;
    MPI_Request *request = note(what, "point-to-point", word);
    int settled = !strcmp(word, "complete") || !strcmp(word, "matched");
    fact_bool("persistent", strstr(call, "_init") != NULL);
    /* A receive whose message is known may come from MPI_Imrecv as well. */
    if (!strcmp(call, "MPI_Irecv") && settled && peer >= 0 && tag >= 0)
        fact_unknown("call");
    else
        fact_text("call", call);
    fact_text("direction", direction);
    if (mode)
        fact_text("mode", mode);
    else
        fact_null("mode");
    fact_bool("any_source", peer < 0);
    fact_bool("any_tag", tag < 0);
    if (peer >= 0) {
        fact_int("peer", peer);
        fact_int("peer_world", comm == MPI_COMM_WORLD ? peer : handles_size - 1 - peer);
    } else if (!settled) {
        fact_unknown("peer");
        fact_unknown("peer_world");
    }
    if (tag >= 0)
        fact_int("tag", tag);
    else if (!settled)
        fact_unknown("tag");
    fact_bool("internal", 0);
    fact_handle("communicator", HANDLE(comm));
    if (strcmp(mode ? mode : "", "buffered") != 0)
        fact_address("buffer", buffer);
    fact_int("count", count);
    fact_handle("datatype", HANDLE(datatype));
    MPI_Type_size(datatype, &size);
    fact_int("bytes", (long long)size * count);
    if (!strcmp(word, "pending") || !strcmp(word, "inactive")) {
        fact_bool("data_complete", 0);
        fact_null("status");
    }
    if (!strcmp(word, "inactive")) {
        fact_bool("started", 0);
        fact_int("transferred", 0);
    }
    note_bool("freed", 0);
    note_bool("predefined", 0);
    handle_listed(1);
    return request;
}

/* Lets the library go on until the request is complete, without taking it. */
static void complete(MPI_Request request)
{
    int flag = 0;
    while (!flag)
        MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
}

static void receives(void)
{
    MPI_Irecv(small[0], 1024, MPI_INT, 1, MPI_ANY_TAG, halo, next);
    message("a receive of any tag", "MPI_Irecv", "receive", NULL, halo, 1, -1, small[0], 1024, MPI_INT, "pending");
    note_text("summary", "MPI_Irecv from 1 (any tag) on \"halo\", 4096 bytes, pending");
    fact_bool("started", 0);
    fact_int("transferred", 0);
    note_int("fortran", MPI_Request_c2f(next[-1]));

    MPI_Irecv(doubles, 10, MPI_DOUBLE, MPI_ANY_SOURCE, 5, halo, next);
    message("a receive from anybody", "MPI_Irecv", "receive", NULL, halo, -1, 5, doubles, 10, MPI_DOUBLE, "pending");
    note_text("summary", "MPI_Irecv from any source, tag 5 on \"halo\", 80 bytes, pending");

    MPI_Irecv(doubles, 0, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, halo, next);
    message("a receive of anything", "MPI_Irecv", "receive", NULL, halo, -1, -1, doubles, 0, MPI_DOUBLE, "pending");
    note_text("summary", "MPI_Irecv from any source (any tag) on \"halo\", 0 bytes, pending");

    MPI_Irecv(small[1], 80, MPI_CHAR, 1, 40, done, next);
    complete(*next);
    message("a receive that is complete", "MPI_Irecv", "receive", NULL, done, 1, 40, small[1], 80, MPI_CHAR, "complete");
    note_text("summary", "MPI_Irecv or MPI_Imrecv from 1, tag 40 on \"done\", 20 of 80 bytes, complete");
    fact_int("transferred", SMALL);
    fact_bool("data_complete", 1);
    fact_bool("started", 1);
    fact_int("status.source", 1);
    fact_int("status.tag", 40);
    fact_int("status.error", 0);
    fact_int("status.bytes", SMALL);
    fact_bool("status.cancelled", 0);

    MPI_Irecv(small[2], 80, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, done, next);
    complete(*next);
    message("a receive of anything that is complete", "MPI_Irecv", "receive", NULL, done, -1, -1, small[2], 80, MPI_CHAR,
            "complete");
    note_text("summary", "MPI_Irecv from 1 (any source), tag 41 (any tag) on \"done\", 20 of 80 bytes, complete");
    fact_int("peer", 1);
    fact_int("peer_world", 1);
    fact_int("tag", 41);
    fact_int("status.source", 1);
    fact_int("status.tag", 41);

    MPI_Irecv(small[3], 4, MPI_CHAR, 1, 42, done, next);
    /* MPICH calls the handler of MPI_COMM_WORLD for what goes wrong with a request. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    complete(*next);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    message("a receive whose message was too long", "MPI_Irecv", "receive", NULL, done, 1, 42, small[3], 4, MPI_CHAR,
            "complete");
    fact_text("status.error_name", "MPI_ERR_TRUNCATE");

    MPI_Irecv(small[4], 80, MPI_CHAR, 1, 43, halo, next);
    MPI_Cancel(next);
    complete(*next);
    note("a receive that was cancelled", "point-to-point", "cancelled");
    note_summary_has(", cancelled");
    fact_bool("status.cancelled", 1);
    fact_text("direction", "receive");
    fact_int("peer", 1);

    MPI_Irecv(small[5], 80, MPI_CHAR, 1, 44, halo, next);
    note("a receive whose handle was freed", "point-to-point", "pending");
    note_bool("freed", 1);
    note_summary_has(", freed by the application");
    MPI_Request copy = next[-1];
    MPI_Request_free(&copy);
}

/* The request that the library gives for everything that is complete at once. */
static void complete_at_once(void)
{
    note_bool("predefined", 1);
    fact_bool("complete", 1);
    fact_unknown("call");
#ifdef OPEN_MPI
    fact_unknown("type");
#else
    fact_text("type", "point-to-point");
#endif
    note_summary_has("complete at once");
}

static void sends(void)
{
    static char attached[2 * LARGE];
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_FLOAT, &pair);
    MPI_Type_set_name(pair, "pair");
    MPI_Type_commit(&pair);
    MPI_Isend(large[0], LARGE, MPI_CHAR, 1, 17, MPI_COMM_WORLD, next);
    message("a send that nobody takes", "MPI_Isend", "send", "standard", MPI_COMM_WORLD, 1, 17, large[0], LARGE, MPI_CHAR,
            "pending");
    note_text("summary", "MPI_Isend to 1, tag 17 on MPI_COMM_WORLD, 1000000 bytes, pending");

    MPI_Issend(doubles, 5, pair, 1, 18, halo, next);
    message("a synchronous send", "MPI_Issend", "send", "synchronous", halo, 1, 18, doubles, 5, pair, "pending");
    note_text("summary", "MPI_Issend to 1, tag 18 on \"halo\", 40 bytes, pending");
    handle_is("datatype", HANDLE(pair), "the datatype of a pending send");
    fact_refers_to("requests", HANDLE(next[-1]));
    fact_count("requests", 1);
    handle_listed(1);

    MPI_Buffer_attach(attached, sizeof attached);
    MPI_Ibsend(large[1], LARGE, MPI_CHAR, 1, 19, MPI_COMM_WORLD, next);
#ifdef OPEN_MPI
    message("a buffered send", "MPI_Ibsend", "send", "buffered", MPI_COMM_WORLD, 1, 19, large[1], LARGE, MPI_CHAR,
            "complete");
    note_text("summary", "MPI_Ibsend to 1, tag 19 on MPI_COMM_WORLD, 1000000 bytes, complete");
    fact_bool("data_complete", 0);
#else
    /* The library sends its copy with a request of its own, and gives the one of all that is complete at once. */
    handle_is("request", HANDLE(*next), "a buffered send");
    next++;
    complete_at_once();
#endif

    MPI_Isend(large[3], LARGE, MPI_CHAR, 1, 20, MPI_COMM_WORLD, next);
    note("a send whose handle was freed", "point-to-point", "pending");
    note_bool("freed", 1);
    note_summary_has(", freed by the application");
    MPI_Request copy = next[-1];
    MPI_Request_free(&copy);

    /* The receives of these are posted. */
    MPI_Issend(small[6], 80, MPI_CHAR, 1, 30, done, next);
    complete(*next);
    message("a synchronous send that is complete", "MPI_Issend", "send", "synchronous", done, 1, 30, small[6], 80,
            MPI_CHAR, "complete");
    note_text("summary", "MPI_Issend to 1, tag 30 on \"done\", 80 bytes, complete");
    fact_bool("data_complete", 1);
    MPI_Irsend(large[2], LARGE, MPI_CHAR, 1, 31, done, next);
    complete(*next);
    message("a ready send that is complete", "MPI_Irsend", "send", "ready", done, 1, 31, large[2], LARGE, MPI_CHAR,
            "complete");
    fact_bool("data_complete", 1);
    fact_bool("started", 1);
    fact_int("transferred", LARGE);

    MPI_Request another;
    MPI_Isend(small[7], SMALL, MPI_CHAR, 1, 32, halo, next);
    MPI_Isend(small[7], SMALL, MPI_CHAR, 1, 32, halo, &another);
    if (*next == another) {
        handle_is("request", HANDLE(*next), "a small send, which is complete at once");
        next++;
        complete_at_once();
    } else {
        complete(*next);
        message("a small send, which is complete at once", "MPI_Isend", "send", "standard", halo, 1, 32, small[7], SMALL,
                MPI_CHAR, "complete");
    }

    MPI_Irecv(small[8], 80, MPI_CHAR, MPI_PROC_NULL, 0, halo, next);
    handle_is("request", HANDLE(*next), "a receive from nobody");
    next++;
    note_bool("predefined", 1);
    fact_bool("complete", 1);
    note_summary_has("complete at once");
}

static void persistent(void)
{
    MPI_Send_init(small[10], 80, MPI_CHAR, 1, 50, halo, next);
    message("persistent", "MPI_Send_init", "send", "standard", halo, 1, 50, small[10], 80, MPI_CHAR, "inactive");
    note_text("summary", "MPI_Send_init to 1, tag 50 on \"halo\", 80 bytes, inactive");
    MPI_Bsend_init(small[11], 80, MPI_CHAR, 1, 51, halo, next);
    message("persistent", "MPI_Bsend_init", "send", "buffered", halo, 1, 51, small[11], 80, MPI_CHAR, "inactive");
    MPI_Ssend_init(small[12], 80, MPI_CHAR, 1, 52, halo, next);
    message("persistent", "MPI_Ssend_init", "send", "synchronous", halo, 1, 52, small[12], 80, MPI_CHAR, "inactive");
    MPI_Rsend_init(small[13], 80, MPI_CHAR, 1, 53, halo, next);
    message("persistent", "MPI_Rsend_init", "send", "ready", halo, 1, 53, small[13], 80, MPI_CHAR, "inactive");
    MPI_Recv_init(doubles + 20, 10, MPI_DOUBLE, MPI_ANY_SOURCE, 5, halo, next);
    message("persistent", "MPI_Recv_init", "receive", NULL, halo, -1, 5, doubles + 20, 10, MPI_DOUBLE, "inactive");
    note_text("summary", "MPI_Recv_init from any source, tag 5 on \"halo\", 80 bytes, inactive");

    MPI_Ssend_init(small[14], 80, MPI_CHAR, 1, 54, halo, next);
    MPI_Start(next);
    message("persistent, started", "MPI_Ssend_init", "send", "synchronous", halo, 1, 54, small[14], 80, MPI_CHAR,
            "pending");
    MPI_Recv_init(small[15], 80, MPI_CHAR, 1, 55, halo, next);
    MPI_Start(next);
    message("persistent, started", "MPI_Recv_init", "receive", NULL, halo, 1, 55, small[15], 80, MPI_CHAR, "pending");
    /* Messages come in order: when the second is here, so is the first. MPI_Request_get_status would take it in MPICH 5.0. */
    MPI_Request waited;
    MPI_Recv_init(small[17], 80, MPI_CHAR, 1, 46, done, &waited);
    MPI_Recv_init(small[16], 80, MPI_CHAR, 1, 45, done, next);
    MPI_Start(next);
    MPI_Start(&waited);
    MPI_Wait(&waited, MPI_STATUS_IGNORE);
    message("persistent, complete", "MPI_Recv_init", "receive", NULL, done, 1, 45, small[16], 80, MPI_CHAR, "complete");
    fact_int("status.bytes", SMALL);
    *next = waited;
    message("persistent, waited for", "MPI_Recv_init", "receive", NULL, done, 1, 46, small[17], 80, MPI_CHAR, "inactive");

    MPI_Recv_init(small[18], 80, MPI_CHAR, MPI_PROC_NULL, 0, halo, next);
#ifdef OPEN_MPI
    note("a persistent receive from nobody", "no-op", "inactive");
    fact_unknown("call");
#else
    note("a persistent receive from nobody", "point-to-point", "inactive");
    fact_text("call", "MPI_Recv_init");
#endif
    fact_bool("persistent", 1);
    note_summary_has("MPI_PROC_NULL");
}

static void collectives(void)
{
    MPI_Ibarrier(halo, next);
    note("a barrier that nobody else enters", "collective", "pending");
#ifdef OPEN_MPI
    /* No other collective has such a schedule: messages of no bytes. */
    fact_text("call", "MPI_Ibarrier");
#else
    fact_unknown("call");
#endif
    fact_handle("communicator", HANDLE(halo));
    fact_bool("persistent", 0);
    fact_int("round", 1);
#ifdef OPEN_MPI
    note_summary_has("nonblocking collective on \"halo\", round 1 of ");
#else
    note_summary_has("nonblocking collective on \"halo\"");
#endif
    note_summary_has(", pending");
    handle_listed(1);
    handle_is("comm", HANDLE(halo), "the communicator of most requests");
    fact_refers_to("requests", HANDLE(next[-1]));
    fact_refers_to("requests", HANDLE(requests[0]));

    MPI_Ibcast(small[20], 80, MPI_CHAR, 2, done, next);
    note("a broadcast whose root does not send", "collective", "pending");
    fact_handle("communicator", HANDLE(done));
    fact_int("round", 1);
    fact_count("sub_requests", 1);
    handle_listed(1);

    MPI_Op sum;
    static int ours[10], all[10];
    MPI_Op_create(add, 1, &sum);
    MPI_Iallreduce(ours, all, 10, MPI_INT, sum, halo, next);
    note("a reduction that nobody else enters", "collective", "pending");
    fact_handle("communicator", HANDLE(halo));
    handle_listed(1);
    handle_is("op", HANDLE(sum), "the operator of a reduction in flight");
    fact_refers_to("users", HANDLE(next[-1]));
    fact_count("users", 1);
    handle_is("op", HANDLE(MPI_MAX), "an operator that nothing uses");
    fact_count("users", 0);

    MPI_Comm copy;
    MPI_Comm_idup(MPI_COMM_WORLD, &copy, next);
#ifdef OPEN_MPI
    note("a duplicate that nobody else makes", "communicator", "pending");
#else
    /* A schedule of MPICH's collectives makes it. */
    note("a duplicate that nobody else makes", "collective", "pending");
#endif
    fact_unknown("call");
}

static void generalized(void)
{
    MPI_Grequest_start(query, release, stop, doubles, next);
    note("a generalized request", "generalized", "pending");
    fact_text("call", "MPI_Grequest_start");
    fact_text("functions.query.symbol", "query");
    fact_text("functions.free.symbol", "release");
    fact_text("functions.cancel.symbol", "stop");
    fact_address("functions.query.address", (void *)query);
    fact_address("extra_state", doubles);
    fact_text("language", "C");
    note_bool("freed", 0);
    note_text("summary", "MPI_Grequest_start (query), pending");

    MPI_Grequest_start(query, release, stop, NULL, next);
    MPI_Grequest_complete(*next);
    note("a generalized request that is complete", "generalized", "complete");
    note_bool("freed", 0);

    MPI_Grequest_start(query, release, stop, NULL, next);
    MPI_Request copy = *next;
    MPI_Request_free(&copy);
    note("a generalized request whose handle was freed", "generalized", "pending");
    note_bool("freed", 1);
}

#ifdef OPEN_MPI
static void files(const char *directory)
{
    MPI_File file;
    char name[4000];
    snprintf(name, sizeof name, "%s/requests.data", directory);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_iwrite(file, doubles, 100, MPI_DOUBLE, next);
    complete(*next);
    note("a write that is complete", "file", "complete");
    fact_unknown("call");
    fact_text("direction", "write");
    fact_int("status.bytes", 800);
    MPI_File_iread_at(file, 0, doubles, 50, MPI_DOUBLE, next);
    complete(*next);
    note("a read that is complete", "file", "complete");
    fact_text("direction", "read");
    fact_int("status.bytes", 400);
}
#elif defined(MPI_MODE_CREATE)
/* ROMIO's requests are generalized ones there, which MPI_Request_get_status does not ask: only their sort is known. */
static void files(const char *directory)
{
    MPI_File file;
    char name[4000];
    snprintf(name, sizeof name, "%s/requests.data", directory);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_iwrite(file, doubles, 100, MPI_DOUBLE, next);
    handle_is("request", HANDLE(*next), "a write");
    next++;
    fact_text("type", "generalized");
}
#else
/* An MPICH without ROMIO has no files. */
static void files(const char *directory)
{
    (void)directory;
}
#endif

#if MPI_VERSION >= 4
/* The device ch3 aborts where it should say that it has no partitioned operations. */
static int has_partitioned(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    MPI_Get_library_version(version, &length);
    return strstr(version, "ch3") == NULL;
}

static void partitioned(void)
{
    MPI_Psend_init(doubles, 4, 10, MPI_DOUBLE, 1, 60, MPI_COMM_WORLD, MPI_INFO_NULL, next);
    note("a partitioned send", "partitioned", "inactive");
    fact_text("call", "MPI_Psend_init");
    fact_text("direction", "send");
    fact_int("partitions", 4);
    fact_int("count", 10);
    fact_int("peer", 1);
    fact_int("tag", 60);
    fact_handle("communicator", HANDLE(MPI_COMM_WORLD));
    fact_handle("datatype", HANDLE(MPI_DOUBLE));
    fact_address("buffer", doubles);
    note_text("summary", "MPI_Psend_init to 1, tag 60 on MPI_COMM_WORLD, 4 partitions, inactive");
    MPI_Precv_init(doubles, 2, 10, MPI_DOUBLE, 1, 61, MPI_COMM_WORLD, MPI_INFO_NULL, next);
    note("a partitioned receive", "partitioned", "inactive");
    fact_text("call", "MPI_Precv_init");
    fact_int("partitions", 2);
    MPI_Barrier_init(halo, MPI_INFO_NULL, next);
    note("a persistent barrier", "collective", "inactive");
    fact_bool("persistent", 1);
    fact_unknown("round");
    note_summary_has("persistent collective on \"halo\", inactive");
}
#endif

int main(int argc, char **argv)
{
    handles_begin(&argc, &argv, MPI_THREAD_SINGLE);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -handles_rank, &halo);
    MPI_Comm_set_name(halo, "halo");
    MPI_Comm_dup(MPI_COMM_WORLD, &done);
    MPI_Comm_set_name(done, "done");
    MPI_Comm_set_errhandler(done, MPI_ERRORS_RETURN);
    MPI_Request posted[2];
    if (handles_rank == 1) {
        MPI_Irecv(small[0], 80, MPI_CHAR, 0, 30, done, &posted[0]);
        MPI_Irecv(large[0], LARGE, MPI_CHAR, 0, 31, done, &posted[1]);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (handles_rank == 1) {
        for (int tag = 40; tag <= 42; tag++)
            MPI_Send(small[0], SMALL, MPI_CHAR, 0, tag, done);
        MPI_Send(small[0], SMALL, MPI_CHAR, 0, 45, done);
        MPI_Send(small[0], SMALL, MPI_CHAR, 0, 46, done);
        MPI_Waitall(2, posted, MPI_STATUSES_IGNORE);
    }
    MPI_Request stale = MPI_REQUEST_NULL;
    if (handles_rank == 0) {
        receives();
        sends();
        persistent();
        generalized();
        files(argv[1]);
#if MPI_VERSION >= 4
        if (has_partitioned())
            partitioned();
#endif
        /* Others take part in nothing from here on. */
        collectives();
        /* Last, because whatever is made next takes its place. */
        MPI_Request last;
        MPI_Irecv(small[30], 80, MPI_CHAR, 0, 70, MPI_COMM_SELF, &last);
        stale = last;
        MPI_Cancel(&last);
        MPI_Wait(&last, MPI_STATUS_IGNORE);
        handle_is("request", HANDLE(stale), "a copy of a handle that was waited for");
        note_text("state", "freed");
        note_bool("freed", 1);
        note_summary_has("freed MPI_Request");
        handle_listed(0);
    } else {
        handle_is("comm", HANDLE(halo), "a communicator without requests");
        fact_count("requests", 0);
    }
    handles_hang();
}
