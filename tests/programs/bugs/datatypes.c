/* Rank 1 sends four numbers of four bytes, where rank 0 has posted a receive of two of eight. The sizes fit, so that no error will
 * tell. Rank 0 computes before it waits.
 *
 * ranks: 2
 * openmpi expect: datatype mismatch ranks=0,1
 * expect: slow rank ranks=0 | datatype mismatch ranks=0,1
 * expect-not: deadlock
 * openmpi cause: datatype mismatch lines=0:POSTED,1:SEND
 * mpich cause: datatype mismatch | slow rank lines=1:SEND
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, numbers[4] = {0};
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Irecv(numbers, 2, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, &request); /* @POSTED */
        diagnosed_ready();
        for (volatile long work = 0; work < 1000000000000; work++)
            ;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        sleep(1);
        diagnosed_ready();
        MPI_Ssend(numbers, 4, MPI_INT, 0, 1, MPI_COMM_WORLD); /* @SEND */
    }
    MPI_Finalize();
    return 0;
}
