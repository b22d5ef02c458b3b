/* Rank 0 stands in a barrier of one communicator, the others wait for a non-blocking gathering on another, which rank 0 would start
 * after the barrier.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: collective mismatch ranks=0,1,2 lines=0:BARRIER,1:GATHER,2:GATHER certain words="io","MPI_COMM_WORLD"
 * expect-not: missing in collective
 * cause: collective mismatch lines=0:BARRIER,1:GATHER,2:GATHER
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, mine = 1, all[3];
    MPI_Comm io;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &io);
    MPI_Comm_set_name(io, "io");
    diagnosed_ready();
    if (rank == 0)
        MPI_Barrier(io); /* @BARRIER */
    MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD, &request); /* @GATHER */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank != 0)
        MPI_Barrier(io);
    MPI_Comm_free(&io);
    MPI_Finalize();
    return 0;
}
