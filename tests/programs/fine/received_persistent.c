/* Rank 0 computes after it has started a small persistent send, which rank 1 has received; Open MPI has the send pending until
 * rank 0 looks. Rank 1 waits for the next message, rank 2 has come to the end.
 *
 * ranks: 3
 * expect: slow rank ranks=0
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, value = 7, other = 0;
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Send_init(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[0]);
        MPI_Send_init(&value, 1, MPI_INT, 2, 3, MPI_COMM_WORLD, &requests[1]);
        MPI_Startall(2, requests);
        diagnosed_ready();
        for (int left = 5000; left > 0; left--)
            sleep(1);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Send(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD);
        MPI_Request_free(&requests[0]);
        MPI_Request_free(&requests[1]);
    } else {
        MPI_Recv(&other, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        diagnosed_ready();
        if (rank == 1)
            MPI_Recv(&other, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
