/* Both ranks access first and expose afterwards: each completes its access only when the other one has posted.
 *
 * ranks: 2
 * expect: one-sided epochs ranks=0,1 | deadlock ranks=0,1
 * cause: one-sided epochs | deadlock lines=0:START
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, other;
    double *memory, one = 1;
    MPI_Win window;
    MPI_Group world, peer;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_incl(world, 1, &other, &peer);
    MPI_Win_allocate(64, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    diagnosed_ready();
    MPI_Win_start(peer, 0, window); /* @START */
    MPI_Put(&one, 1, MPI_DOUBLE, other, 0, 1, MPI_DOUBLE, window);
    MPI_Win_complete(window);
    MPI_Win_post(peer, 0, window);
    MPI_Win_wait(window);
    MPI_Group_free(&peer);
    MPI_Group_free(&world);
    MPI_Win_free(&window);
    MPI_Finalize();
    return 0;
}
