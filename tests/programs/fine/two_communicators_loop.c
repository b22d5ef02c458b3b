/* Sums in two communicators: non-blocking ones in any order as long as all are started before one is waited for, and blocking
 * ones of the halves in turn with barriers of all, for ever. A message goes on each, between the same two ranks with one tag.
 *
 * ranks: 4
 * expect-not: deadlock, communicator mismatch, collective mismatch, missing in collective, tag mismatch
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    double mine = 1, sums[2] = {0}, half = 0, other = 0;
    MPI_Comm places[2], parity;
    MPI_Request requests[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &places[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &places[1]);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &parity);
    diagnosed_ready();
    for (;;) {
        int first = rank % 2;
        MPI_Iallreduce(&mine, &sums[first], 1, MPI_DOUBLE, MPI_SUM, places[first], &requests[0]);
        MPI_Iallreduce(&mine, &sums[!first], 1, MPI_DOUBLE, MPI_SUM, places[!first], &requests[1]);
        MPI_Irecv(&other, 1, MPI_DOUBLE, rank ^ 1, 5, places[0], &requests[2]);
        MPI_Isend(&mine, 1, MPI_DOUBLE, rank ^ 1, 5, places[0], &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        MPI_Sendrecv(&mine, 1, MPI_DOUBLE, rank ^ 1, 5, &other, 1, MPI_DOUBLE, rank ^ 1, 5, places[1], MPI_STATUS_IGNORE);
        MPI_Allreduce(&mine, &half, 1, MPI_DOUBLE, MPI_SUM, parity);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}
