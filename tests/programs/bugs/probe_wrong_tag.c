/* Rank 0 probes for a list with tag 2; the list of rank 1 has come with tag 1, and rank 1 waits for its answer.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: tag mismatch ranks=0,1 lines=0:PROBE
 * cause: tag mismatch lines=0:PROBE,1:SENT
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, list[8] = {0};
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
        MPI_Probe(1, 2, MPI_COMM_WORLD, &status); /* @PROBE */
        MPI_Recv(list, 8, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(list, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
    } else {
        MPI_Send(list, 8, MPI_INT, 0, 1, MPI_COMM_WORLD); /* @SENT */
        MPI_Recv(list, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @ANSWER */
    }
    MPI_Finalize();
    return 0;
}
