/* Two threads of rank 1 take two mutexes in different orders; rank 0 is in the barrier to which rank 1 should come.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: deadlock ranks=0,1
 * cause: deadlock
 */
#include "common/diagnosed.h"

#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *other(void *unused)
{
    pthread_mutex_lock(&second);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(&first);
    pthread_mutex_unlock(&first);
    pthread_mutex_unlock(&second);
    return unused;
}

int main(int argc, char **argv)
{
    int rank;
    pthread_t thread;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 1) {
        pthread_barrier_init(&both, NULL, 2);
        pthread_create(&thread, NULL, other, NULL);
        pthread_mutex_lock(&first);
        pthread_barrier_wait(&both);
        pthread_mutex_lock(&second);
        pthread_mutex_unlock(&second);
        pthread_mutex_unlock(&first);
        pthread_join(thread, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
