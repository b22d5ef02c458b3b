/* A ring in which each rank sends two to the right (rank + 2 for rank + 1) and waits for its left neighbour.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: rank mismatch ranks=0,2 lines=2:FROM_LEFT
 * expect: deadlock ranks=0,1,2,3 lines=0:FROM_LEFT,3:FROM_LEFT
 * cause: rank mismatch lines=2:FROM_LEFT,2:SENT
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, size;
    double mine = 0, left = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    diagnosed_ready();
    MPI_Send(&mine, 1, MPI_DOUBLE, (rank + 2) % size, 77, MPI_COMM_WORLD); /* @SENT */
    MPI_Recv(&left, 1, MPI_DOUBLE, (rank + size - 1) % size, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @FROM_LEFT */
    MPI_Finalize();
    return 0;
}
