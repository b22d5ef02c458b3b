/* Two ranks have entered a nonblocking barrier and wait for it; the third one computes before it enters.
 *
 * ranks: 3
 * expect: slow rank ranks=0
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0)
        for (volatile long work = 0; work < 1000000000000; work++)
            ;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
