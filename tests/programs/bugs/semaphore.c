/* Rank 0 waits for a semaphore that a thread of its own should have posted, which has ended. Rank 1 waits for rank 0's message.
 *
 * ranks: 2
 * expect: stuck outside MPI ranks=0 lines=1:RECV
 * expect-not: deadlock
 * cause: stuck outside MPI lines=0:WAIT,1:RECV
 */
#include "common/diagnosed.h"

#include <pthread.h>
#include <semaphore.h>

static sem_t done;

static void *work(void *failed)
{
    if (failed == NULL)
        sem_post(&done);
    return NULL;
}

int main(int argc, char **argv)
{
    int rank, value = 0;
    pthread_t thread;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sem_init(&done, 0, 0);
    diagnosed_ready();
    if (rank == 0) {
        pthread_create(&thread, NULL, work, &rank);
        pthread_join(thread, NULL);
        sem_wait(&done); /* @WAIT */
        MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
    }
    MPI_Finalize();
    return 0;
}
