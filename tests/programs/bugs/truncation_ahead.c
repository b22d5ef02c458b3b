/* Rank 0 has posted a receive with room for 10 numbers and reads its input before it waits; rank 1 sends 20, in a mode that waits
 * for the receiver. As rank 0 is not in MPI, nobody has noticed yet: it will be an error.
 *
 * ranks: 2
 * expect: truncation ranks=0,1 lines=1:SEND words="80","160"
 * expect-not: deadlock
 * openmpi cause: truncation lines=0:POSTED,1:SEND
 * mpich cause: truncation | slow rank lines=1:SEND
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    double list[20] = {0};
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Irecv(list, 10, MPI_DOUBLE, 1, 4, MPI_COMM_WORLD, &request); /* @POSTED */
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
