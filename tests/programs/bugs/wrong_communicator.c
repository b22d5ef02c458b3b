/* The library's own communicator was made, but one side still sends on MPI_COMM_WORLD.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: communicator mismatch ranks=0,1 lines=1:RECV certain words="library","MPI_COMM_WORLD"
 * cause: communicator mismatch lines=0:SENT,1:RECV
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, work = 42, done = 0;
    MPI_Comm library;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &library);
    MPI_Comm_set_name(library, "library");
    diagnosed_ready();
    if (rank == 0) {
        MPI_Send(&work, 1, MPI_INT, 1, 6, MPI_COMM_WORLD); /* @SENT */
        MPI_Recv(&done, 1, MPI_INT, 1, 8, library, MPI_STATUS_IGNORE); /* @DONE */
    } else {
        MPI_Recv(&work, 1, MPI_INT, 0, 6, library, MPI_STATUS_IGNORE); /* @RECV */
        MPI_Send(&done, 1, MPI_INT, 0, 8, library);
    }
    MPI_Comm_free(&library);
    MPI_Finalize();
    return 0;
}
