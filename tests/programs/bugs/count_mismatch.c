/* Rank 0 waits for 30 numbers, rank 1 sends 20 of them. That is no error of MPI, but the last ten are not what the program thinks.
 * Rank 0 sleeps before it waits.
 *
 * ranks: 2
 * expect: count mismatch ranks=0,1 | slow rank ranks=0
 * expect-not: deadlock, truncation
 * cause: count mismatch | slow rank lines=1:SEND
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    double list[30] = {0};
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Irecv(list, 30, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD, &request);
        diagnosed_ready();
        sleep(1500);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        sleep(1);
        diagnosed_ready();
        MPI_Ssend(list, 20, MPI_DOUBLE, 0, 4, MPI_COMM_WORLD); /* @SEND */
    }
    MPI_Finalize();
    return 0;
}
