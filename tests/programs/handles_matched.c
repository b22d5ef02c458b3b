/*
 * Transfers that have begun and cannot go on: rank 0 starts large sends and, when all are announced, calls MPI no more; rank 1
 * then posts the receives that match them. Needs a transport that copies through the sender (--mca btl_vader_single_copy_mechanism none in 4.1,
 * --mca smsc ^cma,xpmem,knem in 5.0), else the receiver fetches the data alone and is done. Two ranks.
 */
#include "common/handles.h"

#include <signal.h>
#include <unistd.h>

enum { LARGE = 1 << 20 };

static char data[4][2 * LARGE];

/* The other process says something without MPI: that all is announced, and that it calls MPI no more. */
static volatile sig_atomic_t told;

static void hear(int number)
{
    (void)number;
    told = 1;
}

/* A receive whose message has come; wild: from any source, with any tag. */
static void matched(MPI_Comm comm, int peer, int tag, int wild, char *buffer)
{
    MPI_Request request;
    MPI_Irecv(buffer, 2 * LARGE, MPI_BYTE, wild ? MPI_ANY_SOURCE : peer, wild ? MPI_ANY_TAG : tag, comm, &request);
    handle_is("request", HANDLE(request), wild ? "any message, which is on its way" : "a message that is on its way");
    fact_text("type", "point-to-point");
    fact_text("status_word", "matched");
    fact_bool("complete", 0);
    fact_bool("data_complete", 0);
    fact_bool("any_source", wild);
    fact_bool("any_tag", wild);
    fact_int("peer", peer);
    fact_int("peer_world", 1 - peer);
    fact_int("tag", tag);
    fact_null("status");
    fact_int("bytes", 2 * LARGE);
    if (wild)
        fact_text("call", "MPI_Irecv");
    else
        fact_unknown("call");
    note_text("summary", wild ? "MPI_Irecv from 1 (any source), tag 2 (any tag) on \"half way\", 2097152 bytes, matched"
                              : "MPI_Irecv or MPI_Imrecv from 1, tag 1 on \"half way\", 2097152 bytes, matched");
    handle_listed(1);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    MPI_Request requests[3];
    handles_begin(&argc, &argv, MPI_THREAD_SINGLE);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -handles_rank, &comm);
    MPI_Comm_set_name(comm, "half way");
    int pid = getpid(), other, arrived = 0;
    signal(SIGUSR1, hear);
    MPI_Sendrecv(&pid, 1, MPI_INT, 1 - handles_rank, 0, &other, 1, MPI_INT, 1 - handles_rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    /* Ranks are reversed: the peer's rank is this process's rank in MPI_COMM_WORLD. */
    int peer = handles_rank;
    if (handles_rank == 0) {
        for (int tag = 1; tag <= 3; tag++)
            MPI_Isend(data[tag], LARGE, MPI_BYTE, peer, tag, comm, &requests[tag - 1]);
        handle_is("request", HANDLE(requests[0]), "a send whose receiver waits for the data");
        fact_text("call", "MPI_Isend");
        fact_text("status_word", "pending");
        fact_int("bytes", LARGE);
        /* The library may need more than the call to announce a message. */
        while (!told)
            MPI_Iprobe(1 - handles_rank, 77, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
        kill(other, SIGUSR1);
    } else {
        while (!arrived)
            MPI_Iprobe(peer, 3, comm, &arrived, MPI_STATUS_IGNORE);
        kill(other, SIGUSR1);
        while (!told)
            usleep(1000);
        matched(comm, peer, 1, 0, data[0]);
        matched(comm, peer, 2, 1, data[1]);
    }
    handles_hang();
}
