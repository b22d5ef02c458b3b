/* Rank 3 has nothing to give and does not call MPI_Gather; it waits for the next phase, which rank 0 begins.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: deadlock ranks=0,3 lines=0:GATHER,3:PHASE
 * cause: missing in collective | deadlock lines=0:GATHER,3:PHASE
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, size, phase = 0, all[16];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int particles = rank == 3 ? 0 : 100;
    diagnosed_ready();
    if (particles > 0)
        MPI_Gather(&particles, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD); /* @GATHER */
    if (rank == 0) {
        for (int to = 1; to < size; to++)
            MPI_Send(&phase, 1, MPI_INT, to, 8, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&phase, 1, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @PHASE */
    }
    MPI_Finalize();
    return 0;
}
