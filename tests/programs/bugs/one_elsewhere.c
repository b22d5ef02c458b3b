/* Six ranks exchange with their neighbours; rank 3 waits in write_output instead for a message that nobody sends.
 *
 * ranks: 6
 * verdict: deadlock
 * expect: tag mismatch ranks=3 | deadlock ranks=3 | unmatched receive ranks=3
 */
#include "common/diagnosed.h"

static __attribute__((noinline)) void write_output(int from)
{
    int ready;
    MPI_Recv(&ready, 1, MPI_INT, from, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static __attribute__((noinline)) void exchange(int rank, int size)
{
    MPI_Request requests[4];
    int mine = rank, left, right, before = (rank + size - 1) % size, after = (rank + 1) % size;
    MPI_Irecv(&left, 1, MPI_INT, before, 1, MPI_COMM_WORLD, requests);
    MPI_Irecv(&right, 1, MPI_INT, after, 1, MPI_COMM_WORLD, requests + 1);
    MPI_Isend(&mine, 1, MPI_INT, before, 1, MPI_COMM_WORLD, requests + 2);
    MPI_Isend(&mine, 1, MPI_INT, after, 1, MPI_COMM_WORLD, requests + 3);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    diagnosed_ready();
    for (int step = 0; step < 1000; step++) {
        if (rank == 3 && step == 100)
            write_output(rank - 1);
        exchange(rank, size);
    }
    MPI_Finalize();
    return 0;
}
