/* Non-blocking collectives of two communicators: the ranks start them in different orders, which is allowed, since all are started
 * before any is completed.
 *
 * ranks: 3
 */
#include "common/diagnosed.h"

static void start(int first, MPI_Comm flow, MPI_Comm heat, MPI_Request *requests)
{
    static double mine = 1, sum, all[3];
    if (first)
        MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, flow, &requests[0]);
    else
        MPI_Iallgather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, heat, &requests[1]);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm flow, heat;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &flow);
    MPI_Comm_dup(MPI_COMM_WORLD, &heat);
    diagnosed_ready();
    for (int step = 0;; step++) {
        start((rank + step) % 2 == 0, flow, heat, requests);
        for (volatile int work = 0; work < 100000 * (rank + 1); work++)
            ;
        start((rank + step) % 2 != 0, flow, heat, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}
