/* The ranks that have work make a communicator of their own, with a call that is collective over all ranks. The idle one is in
 * the barrier at the end.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: collective mismatch ranks=0,2 lines=0:SPLIT,2:END | missing in collective ranks=2 lines=0:SPLIT
 * cause: collective mismatch | missing in collective lines=0:SPLIT,2:END
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm workers;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank != 2) {
        MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &workers); /* @SPLIT */
        MPI_Comm_free(&workers);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* @END */
    MPI_Finalize();
    return 0;
}
