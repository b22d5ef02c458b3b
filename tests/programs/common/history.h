/* A file that all ranks have open: run/history in a directory of its own, which is gone when the function returns. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int history(int rank)
{
    char parent[] = "/tmp/mpi-queues-XXXXXX", directory[64], name[96];
    int file = -1;
    if (rank == 0 && mkdtemp(parent) == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Bcast(parent, sizeof parent, MPI_CHAR, 0, MPI_COMM_WORLD);
    snprintf(directory, sizeof directory, "%s/run", parent);
    snprintf(name, sizeof name, "%s/history", directory);
    if (rank == 0) {
        mkdir(directory, 0700);
        file = open(name, O_RDWR | O_CREAT, 0600);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0)
        file = open(name, O_RDWR);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        unlink(name);
        rmdir(directory);
        rmdir(parent);
    }
    return file;
}
