/* A library makes its communicator when it is first used: on rank 0 that is before, on rank 1 after the exchange.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:DUP,1:RECV
 * cause: missing in collective | deadlock lines=0:DUP,1:RECV
 */
#include "common/diagnosed.h"

static MPI_Comm library = MPI_COMM_NULL;

static void library_start(void)
{
    if (library == MPI_COMM_NULL)
        MPI_Comm_dup(MPI_COMM_WORLD, &library); /* @DUP */
}

int main(int argc, char **argv)
{
    int rank, value = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
        library_start();
        MPI_Send(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
        library_start();
    }
    MPI_Comm_free(&library);
    MPI_Finalize();
    return 0;
}
