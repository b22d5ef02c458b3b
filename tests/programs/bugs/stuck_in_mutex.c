/* Rank 1 locks a mutex that it holds already, the others wait for it in a barrier.
 *
 * ranks: 3
 * expect: stuck outside MPI ranks=1 lines=0:BARRIER,2:BARRIER
 * expect-not: deadlock
 * cause: stuck outside MPI lines=1:LOCK
 */
#include "common/diagnosed.h"

#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void log_line(const char *text)
{
    pthread_mutex_lock(&mutex); /* @LOCK */
    if (text == NULL)
        log_line("nothing to say");
    pthread_mutex_unlock(&mutex);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 1)
        log_line(NULL);
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
    MPI_Finalize();
    return 0;
}
