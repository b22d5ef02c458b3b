/* Ranks do not agree who broadcasts: rank 3 takes the last one for the root, the others rank 0. Ranks 0 and 1 get something
 * (of the one or the other), and are in MPI_Finalize; 2 and 3 wait for each other's part.
 *
 * ranks: 4
 * expect: root mismatch ranks=2,3 lines=2:BCAST,3:BCAST
 * cause: root mismatch lines=2:BCAST,3:BCAST
 */
#include "common/diagnosed.h"

#define CELLS (1 << 18)

int main(int argc, char **argv)
{
    int rank, size;
    double *field = calloc(CELLS, sizeof *field);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int root = rank == size - 1 ? rank : 0;
    diagnosed_ready();
    MPI_Bcast(field, CELLS, MPI_DOUBLE, root, MPI_COMM_WORLD); /* @BCAST */
    MPI_Finalize();
    free(field);
    return 0;
}
