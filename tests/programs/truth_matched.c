/*
 * Transfers that have begun and cannot go on: rank 0 starts large sends and calls MPI no more; rank 1 posts the receives that
 * match them. Needs a transport that copies through the sender (--mca btl_vader_single_copy_mechanism none in 4.1,
 * --mca smsc ^cma,xpmem,knem in 5.0), else the receiver fetches the data alone and is done. Two ranks.
 */
#include "common/truth.h"

enum { LARGE = 1 << 20 };

int main(int argc, char **argv)
{
    MPI_Comm comm;
    truth_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (truth_size != 2)
        truth_fail("needs two ranks");
    MPI_Comm_split(MPI_COMM_WORLD, 0, -truth_rank, &comm);
    truth_named_comm(comm, "half way");
    truth_settle();
    /* Ranks are reversed: the peer's local rank is this process's world rank. */
    int peer = truth_rank;
    if (truth_rank == 0) {
        truth_isend(TRUTH_STANDARD, LARGE, MPI_BYTE, peer, 1, comm, TRUTH_PENDING, NULL);
        truth_isend(TRUTH_STANDARD, LARGE / 8, MPI_DOUBLE, peer, 2, comm, TRUTH_PENDING, NULL);
        truth_isend(TRUTH_STANDARD, LARGE, MPI_BYTE, peer, 3, comm, TRUTH_PENDING, NULL);
        truth_hang_stopped();
    }
    int arrived = 0;
    while (!arrived)
        MPI_Iprobe(peer, 3, comm, &arrived, MPI_STATUS_IGNORE);
    truth_expect(comm, peer, 3, LARGE);
    truth_matched(truth_irecv(2 * LARGE, MPI_BYTE, peer, 1, comm, TRUTH_PENDING, NULL), peer, 1, LARGE);
    truth_matched(truth_irecv(LARGE, MPI_DOUBLE, MPI_ANY_SOURCE, 2, comm, TRUTH_PENDING, NULL), peer, 2, LARGE);
    truth_irecv(4, MPI_INT, peer, 4, comm, TRUTH_PENDING, NULL);
    truth_hang_paused();
}
