/*
 * A message goes to and fro between ranks 0 and 1 for ever, without a counter and with the same content: nothing that the
 * program itself has tells that it moves. With an argument each rank merely waits for a message instead.
 * The rounds are counted where only the kernel has them: by the position in the file "rounds" (/proc/PID/fdinfo).
 */
#include "common/told.h"

#include <fcntl.h>
#include <mpi.h>

int main(int argc, char **argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double *content = calloc(1, sizeof *content);
    int rounds = open("rounds", O_RDONLY | O_CREAT, 0600);
    /* Nothing is left of it where the program was started. */
    unlink("rounds");
    MPI_Barrier(MPI_COMM_WORLD);
    told_ready();
    if (rank == 0 && argc == 1)
        MPI_Send(content, 1, MPI_DOUBLE, 1, 5, MPI_COMM_WORLD);
    while (1) {
        MPI_Recv(content, 1, MPI_DOUBLE, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(content, 1, MPI_DOUBLE, 1 - rank, 5, MPI_COMM_WORLD);
        lseek(rounds, 1, SEEK_CUR);
    }
}
