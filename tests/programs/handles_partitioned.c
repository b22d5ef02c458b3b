/*
 * Partitioned requests (MPI 4) in every state. Two ranks, with the same requests in both directions: not started; started with
 * some partitions ready; done and not waited for. The communicator "halo" has the processes in reverse order.
 */
#include "common/handles.h"

#include <string.h>

enum { PARTS = 4, EACH = 10 };

static MPI_Comm halo;
static double values[6][PARTS * EACH];
static int used;

static MPI_Request start(int sends, int tag, int parts, int ready)
{
    MPI_Request request;
    int peer;
    MPI_Comm_rank(halo, &peer);
    peer = 1 - peer;
    double *buffer = values[used++];
    if (sends)
        MPI_Psend_init(buffer, parts, PARTS * EACH / parts, MPI_DOUBLE, peer, tag, halo, MPI_INFO_NULL, &request);
    else
        MPI_Precv_init(buffer, parts, PARTS * EACH / parts, MPI_DOUBLE, peer, tag, halo, MPI_INFO_NULL, &request);
    handle_is("request", HANDLE(request), sends ? "a partitioned send" : "a partitioned receive");
    handle_listed(1);
    fact_text("type", "partitioned");
    fact_text("call", sends ? "MPI_Psend_init" : "MPI_Precv_init");
    fact_text("direction", sends ? "send" : "receive");
    fact_bool("persistent", 1);
    fact_int("partitions", parts);
    fact_int("count", PARTS * EACH / parts);
    fact_int("peer", peer);
    fact_int("tag", tag);
    fact_handle("communicator", HANDLE(halo));
    fact_handle("datatype", HANDLE(MPI_DOUBLE));
    fact_address("buffer", buffer);
    note_bool("freed", 0);
    if (ready < 0)
        return request;
    MPI_Start(&request);
    for (int part = 0; sends && part < ready; part++)
        MPI_Pready(part, request);
    return request;
}

static void await(MPI_Request request)
{
    int done = 0;
    while (!done)
        MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
}

static void is(const char *word)
{
    fact_text("status_word", word);
    fact_bool("complete", strcmp(word, "pending") != 0);
}

int main(int argc, char **argv)
{
    handles_begin(&argc, &argv, MPI_THREAD_SINGLE);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -handles_rank, &halo);
    MPI_Comm_set_name(halo, "halo");
    start(1, 50, PARTS, -1);
    is("inactive");
    start(0, 50, 2, -1);
    is("inactive");
    MPI_Request sent = start(1, 51, PARTS, PARTS);
    is("complete");
    MPI_Request received = start(0, 51, PARTS, 0);
    is("complete");
    start(1, 52, PARTS, 2);
    is("pending");
    start(0, 52, PARTS, 0);
    is("pending");
    await(received);
    await(sent);
    MPI_Barrier(MPI_COMM_WORLD);
    handles_hang();
}
