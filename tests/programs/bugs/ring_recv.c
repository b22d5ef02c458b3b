/* A token goes round a ring of four, but nobody starts it.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: deadlock ranks=0,1,2,3 lines=0:RECV,1:RECV,2:RECV,3:RECV certain
 * cause: deadlock lines=0:RECV,1:RECV,2:RECV,3:RECV
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, size, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    diagnosed_ready();
    MPI_Recv(&token, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
    token++;
    MPI_Send(&token, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
