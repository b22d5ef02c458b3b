/* The main thread of rank 0 waits for its threads, which compute; rank 1 waits for the result.
 *
 * ranks: 2
 * expect: slow rank ranks=0
 */
#include "common/diagnosed.h"

#include <pthread.h>

static void *compute(void *unused)
{
    for (volatile long work = 0; work < 1000000000000; work++)
        ;
    return unused;
}

int main(int argc, char **argv)
{
    int rank, provided, result = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
        pthread_t threads[2];
        for (int i = 0; i < 2; i++)
            pthread_create(&threads[i], NULL, compute, NULL);
        for (int i = 0; i < 2; i++)
            pthread_join(threads[i], NULL);
        MPI_Send(&result, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&result, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
