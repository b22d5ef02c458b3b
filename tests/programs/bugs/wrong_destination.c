/* Rank 2 of a pipeline sends its result to rank 0 instead of rank 3.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: rank mismatch ranks=2,3 lines=3:FROM_LEFT
 * cause: rank mismatch lines=2:SENT,3:FROM_LEFT
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, size, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    diagnosed_ready();
    if (rank > 0)
        MPI_Recv(&value, 1, MPI_INT, rank - 1, 30, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @FROM_LEFT */
    value++;
    if (rank < size - 1)
        MPI_Send(&value, 1, MPI_INT, (rank + 1) % (size - 1), 30, MPI_COMM_WORLD); /* @SENT */
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
    MPI_Finalize();
    return 0;
}
