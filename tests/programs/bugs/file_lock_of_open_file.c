/* Rank 0 keeps a lock of an open file over a barrier: the kernel does not tell whose that is. The others wait for that lock
 * before they come to the barrier.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: deadlock ranks=0,1,2 lines=0:BARRIER,1:LOCK,2:LOCK
 * cause: deadlock lines=0:BARRIER,1:LOCK,2:LOCK
 */
#define _GNU_SOURCE
#include "common/diagnosed.h"
#include "common/history.h"

int main(int argc, char **argv)
{
    int rank, file;
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    file = history(rank);
    if (rank == 0)
        fcntl(file, F_OFD_SETLKW, &whole);
    MPI_Barrier(MPI_COMM_WORLD);
    diagnosed_ready();
    if (rank != 0)
        fcntl(file, F_OFD_SETLKW, &whole); /* @LOCK */
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
    close(file);
    MPI_Finalize();
    return 0;
}
