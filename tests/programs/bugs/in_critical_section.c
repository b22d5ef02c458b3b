/* Rank 0's main thread holds a lock while it waits for rank 1, and its other thread, which should answer rank 1, waits for
 * the lock.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:RECV,1:ANSWER | stuck outside MPI ranks=0
 * cause: deadlock | stuck outside MPI lines=0:RECV,1:ANSWER
 */
#include "common/diagnosed.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *answer(void *unused)
{
    int value = 0;
    pthread_mutex_lock(&mutex);
    MPI_Send(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(int argc, char **argv)
{
    int rank, provided, value = 0;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
        pthread_mutex_lock(&mutex);
        pthread_create(&thread, NULL, answer, NULL);
        MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
        pthread_mutex_unlock(&mutex);
        pthread_join(thread, NULL);
    } else {
        MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @ANSWER */
        MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
