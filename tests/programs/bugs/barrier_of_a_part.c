/* The even ranks check in a communicator of their own; rank 2 thinks that it is not one of them and goes on to the world.
 *
 * ranks: 5
 * verdict: deadlock
 * expect: collective mismatch ranks=0,2,4 lines=0:EVEN,2:WORLD,4:EVEN certain | missing in collective ranks=2 lines=0:EVEN,2:WORLD,4:EVEN certain
 * cause: collective mismatch | missing in collective lines=0:EVEN,2:WORLD,4:EVEN
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, good = 1, all = 0;
    MPI_Comm parity;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &parity);
    MPI_Comm_set_name(parity, rank % 2 ? "odd" : "even");
    diagnosed_ready();
    if (rank % 4 == 0)
        MPI_Allreduce(&good, &all, 1, MPI_INT, MPI_LAND, parity); /* @EVEN */
    MPI_Barrier(MPI_COMM_WORLD); /* @WORLD */
    MPI_Finalize();
    return 0;
}
