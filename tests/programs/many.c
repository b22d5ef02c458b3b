/*
 * Many operations, for bounds and benchmarks. Arguments: receives, communicators, messages.
 *
 * Rank 0 posts that many receives on MPI_COMM_WORLD (tag = index, source rank 1), with so many further communicators; rank 1
 * sends that many messages of 8 bytes on "control" (tag = index) that nobody receives. The operations are not noted one by
 * one: who reads them knows the arguments. Two ranks; both hang in pause().
 */
#include "common/truth.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
    truth_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (argc != 4 || truth_size != 2)
        truth_fail("usage: many RECEIVES COMMUNICATORS MESSAGES, two ranks");
    int receives = atoi(argv[1]), communicators = atoi(argv[2]), messages = atoi(argv[3]), arrived;
    char *buffer = truth_buffer(64);
    for (int i = 0; i < communicators; i++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        truth_comm(comm, NULL);
    }
    truth_settle();
    MPI_Request *requests = truth_buffer((size_t)receives * sizeof *requests);
    if (truth_rank == 0) {
        for (int i = 0; i < receives; i++)
            MPI_Irecv(buffer, 2, MPI_INT, 1, i, MPI_COMM_WORLD, &requests[i]);
        /* A probe lets the library take in what has come; the last message has the highest tag. */
        if (messages > 0)
            for (arrived = 0; !arrived;)
                MPI_Iprobe(1, messages - 1, truth_control, &arrived, MPI_STATUS_IGNORE);
    } else {
        for (int i = 0; i < messages; i++)
            MPI_Send(buffer, 2, MPI_INT, 0, i, truth_control);
    }
    /* Not truth_settle(): its flush would search the long queues thousands of times. */
    MPI_Barrier(truth_control);
    truth_hang_paused();
}
