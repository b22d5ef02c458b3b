/* Both ranks probe for the size of the other's message before they send their own.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:PROBE,1:PROBE
 * cause: deadlock lines=0:PROBE,1:PROBE
 */
#include "common/diagnosed.h"

static int receive_list(int *list, int room, int from)
{
    MPI_Status status;
    int count;
    MPI_Probe(from, 9, MPI_COMM_WORLD, &status); /* @PROBE */
    MPI_Get_count(&status, MPI_INT, &count);
    if (count > room)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Recv(list, count, MPI_INT, from, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return count;
}

int main(int argc, char **argv)
{
    int rank, list[100] = {0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    receive_list(list, 100, 1 - rank);
    MPI_Send(list, 10 + rank, MPI_INT, 1 - rank, 9, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
