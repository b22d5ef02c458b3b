/* Rank 1 gives nothing to MPI_Allgatherv, and all others receive ten numbers of it. MPICH takes what came.
 *
 * ranks: 4
 * mpis: openmpi
 * verdict: deadlock
 * expect: count mismatch ranks=0,1,2,3 lines=0:GATHER,1:GATHER certain
 * cause: count mismatch lines=1:GATHER
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, all[40], own[10] = {0}, counts[4] = {10, 10, 10, 10}, places[4] = {0, 10, 20, 30};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    MPI_Allgatherv(own, rank == 1 ? 0 : 10, MPI_INT, all, counts, places, MPI_INT, MPI_COMM_WORLD); /* @GATHER */
    MPI_Finalize();
    return 0;
}
