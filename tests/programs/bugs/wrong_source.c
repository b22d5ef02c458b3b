/* A tree of four: the root collects from its children 1 and 2, but asks rank 3, a child of rank 1, instead of rank 2.
 * Rank 3 and rank 2 have sent and wait for the broadcast of the sum.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: rank mismatch ranks=0,2 lines=0:COLLECT
 * cause: rank mismatch lines=0:COLLECT,2:SENT
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, child, sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sum = rank;
    diagnosed_ready();
    if (rank == 0) {
        const int children[] = {1, 3};
        for (int i = 0; i < 2; i++) {
            MPI_Recv(&child, 1, MPI_INT, children[i], 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @COLLECT */
            sum += child;
        }
    } else {
        if (rank == 1) {
            MPI_Recv(&child, 1, MPI_INT, 3, 12, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            sum += child;
        }
        MPI_Send(&sum, 1, MPI_INT, rank == 3 ? 1 : 0, 12, MPI_COMM_WORLD); /* @SENT */
    }
    MPI_Bcast(&sum, 1, MPI_INT, 0, MPI_COMM_WORLD); /* @BCAST */
    MPI_Finalize();
    return 0;
}
