/* Five ranks send round a ring, all first, in a mode that waits for the receiver. A sixth one has no part in it and waits in
 * the reduction after it.
 *
 * ranks: 6
 * verdict: deadlock
 * expect: deadlock ranks=0,1,2,3,4 lines=0:SEND,3:SEND certain
 * cause: deadlock lines=0:SEND,1:SEND,2:SEND,3:SEND,4:SEND
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, size, mine, left = 0, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = rank;
    diagnosed_ready();
    if (rank < size - 1) {
        int members = size - 1;
        MPI_Ssend(&mine, 1, MPI_INT, (rank + 1) % members, 5, MPI_COMM_WORLD); /* @SEND */
        MPI_Recv(&left, 1, MPI_INT, (rank + members - 1) % members, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Allreduce(&left, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
