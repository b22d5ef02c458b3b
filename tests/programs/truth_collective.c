/*
 * Ranks blocked in a collective because one is missing, with user receives beside.
 * Argument: barrier, bcast, allreduce, ibarrier or subset. The last rank is missing and hangs in pause().
 */
#include "common/truth.h"

#include <string.h>

int main(int argc, char **argv)
{
    MPI_Comm stuck;
    MPI_Request request;
    int value = 1, sum;
    truth_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (argc != 2 || truth_size < 2)
        truth_fail("usage: truth_collective barrier|bcast|allreduce|ibarrier, two ranks or more");
    MPI_Comm_dup(MPI_COMM_WORLD, &stuck);
    truth_named_comm(stuck, "stuck");
    int missing = truth_size - 1, next = (truth_rank + 1) % truth_size;
    truth_irecv(4, MPI_INT, next, 8, stuck, TRUTH_PENDING, NULL);
    truth_irecv(5, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, stuck, TRUTH_PENDING, NULL);
    truth_irecv(6, MPI_DOUBLE, MPI_ANY_SOURCE, 9, MPI_COMM_WORLD, TRUTH_PENDING, NULL);
    truth_settle();
    if (truth_rank == missing) {
        truth_will_collect(stuck, "none");
        truth_hang_paused();
    }
    if (strcmp(argv[1], "barrier") == 0) {
        truth_will_collect(stuck, "MPI_Barrier");
        truth_hang_in("MPI_Barrier");
        MPI_Barrier(stuck);
    } else if (strcmp(argv[1], "bcast") == 0) {
        truth_will_collect(stuck, "MPI_Bcast");
        truth_hang_in("MPI_Bcast");
        MPI_Bcast(&value, 1, MPI_INT, missing, stuck);
    } else if (strcmp(argv[1], "allreduce") == 0) {
        truth_will_collect(stuck, "MPI_Allreduce");
        truth_hang_in("MPI_Allreduce");
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, stuck);
    } else if (strcmp(argv[1], "ibarrier") == 0) {
        truth_will_collect(stuck, "MPI_Ibarrier");
        MPI_Ibarrier(stuck, &request);
        truth_will_recv(7, MPI_CHAR, next, 10, stuck, "MPI_Recv");
        truth_hang_in("MPI_Recv");
        MPI_Recv(truth_buffer(7), 7, MPI_CHAR, next, 10, stuck, MPI_STATUS_IGNORE);
    } else
        truth_fail("unknown collective %s", argv[1]);
    truth_fail("came back from the collective");
}
