/* Two ranks are in the fence, the third one waits for a message that one of them sends after it.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: deadlock ranks=0,2 lines=2:RECV | one-sided epochs ranks=2 lines=0:FENCE | missing in collective ranks=2 lines=0:FENCE
 * cause: missing in collective | one-sided epochs lines=0:FENCE,2:RECV
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, value = 0;
    double *memory;
    MPI_Win window;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Win_allocate(64, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_fence(0, window);
    diagnosed_ready();
    if (rank == 2)
        MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
    MPI_Win_fence(0, window); /* @FENCE */
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 2, 3, MPI_COMM_WORLD);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
