/* Rank 1 reads from a FIFO what rank 0 writes only when it has a message of rank 1.
 *
 * ranks: 2
 * verdict: suspect
 * expect: deadlock ranks=0,1 lines=0:RECV,1:READ words="run/fifo"
 * cause: deadlock lines=0:RECV,1:READ
 */
#include "common/diagnosed.h"
#include <fcntl.h>
#include <sys/stat.h>

/* The end of one FIFO that a rank uses: run/fifo in a directory of its own, which is gone when the function returns. */
static int end_of_fifo(int rank)
{
    char parent[] = "/tmp/mpi-queues-XXXXXX", directory[64], name[96];
    int file;
    if (rank == 0 && mkdtemp(parent) == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(parent, sizeof parent, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(directory, sizeof directory, "%s/run", parent);
    snprintf(name, sizeof name, "%s/fifo", directory);
    if (rank == 0) {
        mkdir(directory, 0700);
        mkfifo(name, 0600);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    file = open(name, rank == 0 ? O_WRONLY : O_RDONLY);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        unlink(name);
        rmdir(directory);
        rmdir(parent);
    }
    return file;
}

int main(int argc, char **argv)
{
    int rank, file;
    char byte = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    file = end_of_fifo(rank);
    diagnosed_ready();
    if (rank == 0) {
        MPI_Recv(&byte, 1, MPI_CHAR, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
        if (write(file, &byte, 1) != 1)
            return 1;
    } else {
        if (read(file, &byte, 1) != 1) /* @READ */
            return 1;
        MPI_Send(&byte, 1, MPI_CHAR, 0, 3, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
