/* A function that locks a mutex is called by one that has it locked already; rank 0 waits for what rank 1 would send then.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:RECV,1:AGAIN
 * cause: deadlock lines=1:AGAIN
 */
#include "common/diagnosed.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void append(int *sum)
{
    pthread_mutex_lock(&mutex); /* @AGAIN */
    *sum += 1;
    pthread_mutex_unlock(&mutex);
}

int main(int argc, char **argv)
{
    int rank, sum = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
        MPI_Recv(&sum, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
    } else {
        pthread_mutex_lock(&mutex);
        append(&sum);
        pthread_mutex_unlock(&mutex);
        MPI_Send(&sum, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
