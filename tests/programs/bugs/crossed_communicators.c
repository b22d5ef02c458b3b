/* All ranks are in two communicators and add up in both, rank 0 in the other order.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: communicator mismatch ranks=0,1,2 lines=0:OCEAN,1:AIR,2:AIR certain words="ocean","air"
 * cause: communicator mismatch lines=0:OCEAN,1:AIR,2:AIR
 */
#include "common/diagnosed.h"

static void sum(MPI_Comm first, MPI_Comm second, double mine)
{
    double total = 0;
    MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, first);
    MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, second);
}

int main(int argc, char **argv)
{
    int rank;
    double mine = 1, total = 0;
    MPI_Comm ocean, air;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &ocean);
    MPI_Comm_dup(MPI_COMM_WORLD, &air);
    MPI_Comm_set_name(ocean, "ocean");
    MPI_Comm_set_name(air, "air");
    sum(ocean, air, mine);
    diagnosed_ready();
    if (rank == 0) {
        MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, ocean); /* @OCEAN */
        MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, air);
    } else {
        MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, air); /* @AIR */
        MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, ocean);
    }
    MPI_Finalize();
    return 0;
}
