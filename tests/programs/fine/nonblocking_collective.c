/* The sum of a step is made while the next one is computed.
 *
 * ranks: 3
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    double mine = 1, sum = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    for (;;) {
        MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
        for (volatile int work = 0; work < 300000 * (rank + 1); work++)
            ;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        mine = sum > 1e6 ? 1 : sum;
    }
}
