/* Each rank has two threads, one for the input and one for the output, that work in turns. Both main threads wait for the other
 * rank's writer, both writers for the other rank's main thread.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:MAIN,0:WRITER,1:MAIN,1:WRITER | deadlock ranks=0,1 lines=0:MAIN,1:WRITER | deadlock ranks=0,1 lines=0:WRITER,1:MAIN
 * cause: deadlock lines=0:MAIN,0:WRITER,1:MAIN,1:WRITER
 */
#include "common/diagnosed.h"

#include <pthread.h>

static int rank;

static void *writer(void *unused)
{
    int go = 0;
    MPI_Recv(&go, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @WRITER */
    MPI_Send(&go, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD);
    return unused;
}

int main(int argc, char **argv)
{
    int provided, data = 0;
    pthread_t thread;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_create(&thread, NULL, writer, NULL);
    diagnosed_ready();
    MPI_Recv(&data, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @MAIN */
    MPI_Send(&data, 1, MPI_INT, 1 - rank, 1, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
    MPI_Finalize();
    return 0;
}
