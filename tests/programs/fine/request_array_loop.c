/* An exchange with both neighbours, in one array of receives and sends that are waited for together, and a sum, for ever.
 *
 * ranks: 4
 * expect-not: deadlock, tag mismatch, rank mismatch, collective mismatch, missing in collective
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, size;
    double left = 0, right = 0, mine = 1, total = 0;
    MPI_Request requests[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int before = rank > 0 ? rank - 1 : MPI_PROC_NULL, after = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    diagnosed_ready();
    for (;;) {
        MPI_Irecv(&left, 1, MPI_DOUBLE, before, 20, MPI_COMM_WORLD, &requests[0]);
        MPI_Irecv(&right, 1, MPI_DOUBLE, after, 21, MPI_COMM_WORLD, &requests[1]);
        MPI_Isend(&mine, 1, MPI_DOUBLE, before, 21, MPI_COMM_WORLD, &requests[2]);
        MPI_Isend(&mine, 1, MPI_DOUBLE, after, 20, MPI_COMM_WORLD, &requests[3]);
        MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}
