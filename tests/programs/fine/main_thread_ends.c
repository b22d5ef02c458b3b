/* The main thread of rank 0 ends before its other one, which computes, and then sends to rank 1: the process goes on, though
 * the kernel tells it as a zombie.
 *
 * ranks: 2
 * expect: slow rank ranks=0
 */
#include "common/diagnosed.h"

#include <pthread.h>

static void *compute(void *unused)
{
    int result = 0;
    for (volatile long work = 0; work < 1000000000000; work++)
        ;
    MPI_Send(&result, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Finalize();
    return unused;
}

int main(int argc, char **argv)
{
    int rank, provided, result = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, compute, NULL);
        pthread_exit(NULL);
    }
    MPI_Recv(&result, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
