/* Rank 1 waits for a semaphore that nobody raises, and of which nobody can tell who should; the others wait in a barrier.
 *
 * ranks: 3
 * expect: stuck outside MPI ranks=1 lines=0:BARRIER,2:BARRIER
 * expect-not: deadlock
 * cause: stuck outside MPI lines=1:WAIT
 */
#include "common/diagnosed.h"

#include <semaphore.h>

static sem_t written;

static void log_line(const char *text)
{
    while (*text != '\0')
        text++;
    sem_wait(&written); /* @WAIT */
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    sem_init(&written, 0, 0);
    diagnosed_ready();
    if (rank == 1)
        log_line("nothing to say");
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
    MPI_Finalize();
    return 0;
}
