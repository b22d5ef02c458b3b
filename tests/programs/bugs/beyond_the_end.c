/* Each rank receives the boundary of its right neighbour; the last one has none, should have had MPI_PROC_NULL, and waits for
 * rank 0, which sends nothing to its left.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: deadlock ranks=0,2 lines=2:RIGHT,0:RESIDUAL
 * cause: missing in collective | deadlock lines=0:RESIDUAL,2:RIGHT
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, size;
    double mine = 1, ghost = 0, residual = 0, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int right = (rank + 1) % size;
    diagnosed_ready();
    if (rank > 0)
        MPI_Send(&mine, 1, MPI_DOUBLE, rank - 1, 50, MPI_COMM_WORLD);
    MPI_Recv(&ghost, 1, MPI_DOUBLE, right, 50, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RIGHT */
    residual = mine - ghost;
    MPI_Allreduce(&residual, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* @RESIDUAL */
    MPI_Finalize();
    return 0;
}
