/* The main thread of rank 0 has ended, and its other one waits for rank 1, which waits for rank 0.
 *
 * ranks: 2
 * expect: deadlock ranks=0,1 lines=0:FIRST,1:SECOND certain
 * verdict: deadlock
 * cause: deadlock lines=0:FIRST,1:SECOND
 */
#include "common/diagnosed.h"

#include <pthread.h>

static void *receive(void *unused)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @FIRST */
    return unused;
}

int main(int argc, char **argv)
{
    int rank, provided, value;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
        pthread_t thread;
        pthread_create(&thread, NULL, receive, NULL);
        pthread_exit(NULL);
    }
    MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @SECOND */
    MPI_Finalize();
    return 0;
}
