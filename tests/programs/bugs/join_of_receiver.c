/* The main thread of rank 0 joins a thread that receives until it gets a stop, which rank 1 has no reason to send: it waits in the
 * barrier.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:RECV,1:BARRIER | missing in collective ranks=0 lines=1:BARRIER
 * cause: missing in collective | deadlock lines=0:RECV,1:BARRIER
 */
#include "common/diagnosed.h"

#include <pthread.h>

static void *receive(void *unused)
{
    int order = 0;
    while (order >= 0)
        MPI_Recv(&order, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
    return unused;
}

int main(int argc, char **argv)
{
    int rank, provided, order = 5;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
        pthread_create(&thread, NULL, receive, NULL);
        pthread_join(thread, NULL);
    } else {
        MPI_Send(&order, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
    MPI_Finalize();
    return 0;
}
