/* Two communicators of the same ranks with a non-blocking sum in each: rank 1 waits for the first one before it starts the
 * other, and takes them in the other order.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: communicator mismatch ranks=0,1 lines=0:WAIT,1:WAIT certain words="ocean","air"
 * cause: communicator mismatch lines=0:SUM,1:SUM
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    double mine = 1, total = 0;
    MPI_Comm ocean, air;
    MPI_Request sum;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &ocean);
    MPI_Comm_dup(MPI_COMM_WORLD, &air);
    MPI_Comm_set_name(ocean, "ocean");
    MPI_Comm_set_name(air, "air");
    diagnosed_ready();
    for (int step = 0; step < 2; step++) {
        MPI_Comm place = (rank + step) % 2 ? air : ocean;
        MPI_Iallreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, place, &sum); /* @SUM */
        MPI_Wait(&sum, MPI_STATUS_IGNORE);                                  /* @WAIT */
    }
    MPI_Finalize();
    return 0;
}
