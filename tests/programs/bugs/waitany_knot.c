/* Each of three ranks goes on as soon as one of the two others has sent; nobody sends before it goes on.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: deadlock ranks=0,1,2 lines=0:WAIT,1:WAIT,2:WAIT certain
 * cause: deadlock lines=0:POSTED,1:POSTED,2:POSTED
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, size, values[8], which, count = 0;
    MPI_Request requests[8];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    diagnosed_ready();
    for (int other = 0; other < size; other++)
        if (other != rank) {
            MPI_Irecv(&values[count], 1, MPI_INT, other, 4, MPI_COMM_WORLD, &requests[count]); /* @POSTED */
            count++;
        }
    MPI_Waitany(count, requests, &which, MPI_STATUS_IGNORE); /* @WAIT */
    for (int other = 0; other < size; other++)
        if (other != rank)
            MPI_Send(&rank, 1, MPI_INT, other, 4, MPI_COMM_WORLD);
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
