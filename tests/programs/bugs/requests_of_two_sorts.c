/* An exchange with both neighbours in one array of requests: rank 2 expects its left neighbour's boundary with the tag of the
 * right one. All others go on to the sum.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: tag mismatch ranks=1,2 lines=2:WAIT certain words="21","20"
 * cause: tag mismatch lines=2:LEFT
 */
#include "common/diagnosed.h"

enum { TO_RIGHT = 20, TO_LEFT = 21 };

int main(int argc, char **argv)
{
    int rank, size;
    double left = 0, right = 0, mine = 1, total = 0;
    MPI_Request requests[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    int before = rank > 0 ? rank - 1 : MPI_PROC_NULL, after = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    int expected = rank == 2 ? TO_LEFT : TO_RIGHT;
    diagnosed_ready();
    MPI_Irecv(&left, 1, MPI_DOUBLE, before, expected, MPI_COMM_WORLD, &requests[0]); /* @LEFT */
    MPI_Irecv(&right, 1, MPI_DOUBLE, after, TO_LEFT, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(&mine, 1, MPI_DOUBLE, before, TO_LEFT, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(&mine, 1, MPI_DOUBLE, after, TO_RIGHT, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE); /* @WAIT */
    MPI_Allreduce(&mine, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
