/* The sum of the residual is started by all ranks but the one that has converged and left the loop; that one is in a
 * barrier on another communicator.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: deadlock ranks=2 lines=2:LEFT
 * expect: missing in collective ranks=2 lines=0:WAIT,1:WAIT,2:LEFT certain words="rank 2 has not started","MPI_COMM_WORLD"
 * cause: missing in collective lines=0:START,1:START,2:LEFT
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    double residual = 1, total;
    MPI_Comm io;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &io);
    MPI_Comm_set_name(io, "io");
    diagnosed_ready();
    for (int step = 0; step < 3; step++) {
        if (rank == 2 && step == 2)
            break;
        MPI_Iallreduce(&residual, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request); /* @START */
        MPI_Wait(&request, MPI_STATUS_IGNORE); /* @WAIT */
    }
    MPI_Barrier(io); /* @LEFT */
    MPI_Comm_free(&io);
    MPI_Finalize();
    return 0;
}
