/* Rank 0 is in a broadcast (of a size that its members wait for), the others in a reduction: the root of the reduction is
 * rank 1.
 *
 * ranks: 4
 * expect: collective mismatch ranks=0,1 lines=0:BCAST,1:REDUCE
 * cause: collective mismatch lines=0:BCAST,1:REDUCE
 */
#include "common/diagnosed.h"

#define CELLS (1 << 18)

int main(int argc, char **argv)
{
    int rank;
    double *field = calloc(CELLS, sizeof *field), *sum = calloc(CELLS, sizeof *sum);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0)
        MPI_Bcast(field, CELLS, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* @BCAST */
    else
        MPI_Reduce(field, sum, CELLS, MPI_DOUBLE, MPI_SUM, 1, MPI_COMM_WORLD); /* @REDUCE */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    free(field);
    free(sum);
    return 0;
}
