/* Each rank has a thread that waits for orders, which never come while all goes well; the main threads work.
 *
 * ranks: 2
 */
#include "common/diagnosed.h"

#include <pthread.h>

static MPI_Comm orders;

static void *serve(void *unused)
{
    int order;
    MPI_Recv(&order, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, orders, MPI_STATUS_IGNORE);
    return unused;
}

int main(int argc, char **argv)
{
    int rank, provided, value = 0;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &orders);
    pthread_create(&thread, NULL, serve, NULL);
    diagnosed_ready();
    for (;;) {
        if (rank == 0)
            MPI_Send(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(&value, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1) {
            usleep(1000);
            MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        }
    }
}
