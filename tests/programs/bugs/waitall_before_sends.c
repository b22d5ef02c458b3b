/* Each of three ranks waits for both neighbours' boundaries before it sends its own.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: deadlock ranks=0,1,2 lines=0:WAIT,1:WAIT,2:WAIT certain
 * cause: deadlock lines=0:LEFT,1:LEFT,2:LEFT,0:RIGHT
 */
#include "common/diagnosed.h"

#define WIDTH 64

int main(int argc, char **argv)
{
    int rank, size;
    double from[2][WIDTH], to[2][WIDTH] = {{0}};
    MPI_Request requests[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    diagnosed_ready();
    MPI_Irecv(from[0], WIDTH, MPI_DOUBLE, left, 21, MPI_COMM_WORLD, &requests[0]); /* @LEFT */
    MPI_Irecv(from[1], WIDTH, MPI_DOUBLE, right, 22, MPI_COMM_WORLD, &requests[1]); /* @RIGHT */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE); /* @WAIT */
    MPI_Send(to[0], WIDTH, MPI_DOUBLE, left, 22, MPI_COMM_WORLD);
    MPI_Send(to[1], WIDTH, MPI_DOUBLE, right, 21, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
