/* Two modules of one program with communicators of their own: rank 0 waits in the first for rank 1, which waits in the second
 * for rank 0.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:OCEAN,1:AIR certain
 * cause: deadlock lines=0:OCEAN,1:AIR
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    double flux = 0, heat = 0;
    MPI_Comm ocean, air;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &ocean);
    MPI_Comm_dup(MPI_COMM_WORLD, &air);
    MPI_Comm_set_name(ocean, "ocean");
    MPI_Comm_set_name(air, "air");
    diagnosed_ready();
    if (rank == 0) {
        MPI_Recv(&flux, 1, MPI_DOUBLE, 1, 0, ocean, MPI_STATUS_IGNORE); /* @OCEAN */
        MPI_Send(&heat, 1, MPI_DOUBLE, 1, 0, air);
    } else {
        MPI_Recv(&heat, 1, MPI_DOUBLE, 0, 0, air, MPI_STATUS_IGNORE); /* @AIR */
        MPI_Send(&flux, 1, MPI_DOUBLE, 0, 0, ocean);
    }
    MPI_Comm_free(&ocean);
    MPI_Comm_free(&air);
    MPI_Finalize();
    return 0;
}
