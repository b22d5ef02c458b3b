/* Rank 0 exposes its memory and waits; rank 1 has started its access, and waits for a message before it completes it. Rank 0
 * sends that after its wait.
 *
 * ranks: 2
 * expect: one-sided epochs ranks=0,1 lines=0:WAIT | deadlock ranks=0,1 lines=0:WAIT,1:RECV
 * cause: one-sided epochs | deadlock lines=0:WAIT
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, other, value = 0;
    double *memory;
    MPI_Win window;
    MPI_Group world, peer;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other, &peer);
    MPI_Win_allocate(64, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    diagnosed_ready();
    if (rank == 0) {
        MPI_Win_post(peer, 0, window);
        MPI_Win_wait(window); /* @WAIT */
        MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    } else {
        double one = 1;
        MPI_Win_start(peer, 0, window);
        MPI_Put(&one, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, window);
        MPI_Recv(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
        MPI_Win_complete(window);
    }
    MPI_Group_free(&peer);
    MPI_Group_free(&world);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
