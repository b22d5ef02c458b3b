/* Ranks of a task graph: each goes on with whatever input has come, with MPI_Waitsome, and none has come to anybody. Rank 3 has
 * one input only, of rank 0.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: deadlock ranks=0,1,2 lines=0:WAIT,1:WAIT,2:WAIT certain
 * cause: deadlock lines=0:POSTED,1:POSTED,2:POSTED
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, values[4], indices[4], done, count = 0;
    MPI_Request requests[4];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int first = rank == 3 ? 0 : (rank + 1) % 3, second = rank == 3 ? 0 : (rank + 2) % 3;
    diagnosed_ready();
    MPI_Irecv(&values[count], 1, MPI_INT, first, 14, MPI_COMM_WORLD, &requests[count]); /* @POSTED */
    count++;
    if (second != first) {
        MPI_Irecv(&values[count], 1, MPI_INT, second, 14, MPI_COMM_WORLD, &requests[count]);
        count++;
    }
    while (count > 0) {
        MPI_Waitsome(count, requests, &done, indices, MPI_STATUSES_IGNORE); /* @WAIT */
        if (done == MPI_UNDEFINED)
            break;
        for (int to = 0; to < 4; to++)
            if (to != rank)
                MPI_Send(&rank, 1, MPI_INT, to, 14, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
