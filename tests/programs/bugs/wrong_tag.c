/* Rank 1 sends its boundary with tag 18, rank 0 waits for tag 17, and rank 1 for the answer.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: tag mismatch ranks=0,1 lines=0:RECV certain words="17","18","halo"
 * expect: deadlock ranks=0,1 lines=0:RECV,1:ANSWER
 * cause: tag mismatch lines=0:RECV,1:SENT
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    double boundary[16] = {0}, answer = 0;
    MPI_Comm halo;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &halo);
    MPI_Comm_set_name(halo, "halo");
    diagnosed_ready();
    if (rank == 0) {
        MPI_Recv(boundary, 16, MPI_DOUBLE, 1, 17, halo, MPI_STATUS_IGNORE); /* @RECV */
        MPI_Send(&answer, 1, MPI_DOUBLE, 1, 0, halo);
    } else {
        MPI_Send(boundary, 16, MPI_DOUBLE, 0, 18, halo); /* @SENT */
        MPI_Recv(&answer, 1, MPI_DOUBLE, 0, 0, halo, MPI_STATUS_IGNORE); /* @ANSWER */
    }
    MPI_Comm_free(&halo);
    MPI_Finalize();
    return 0;
}
