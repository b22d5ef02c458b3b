/* Forks with a request open; the parent goes on. */
#include "common/noted.h"

int main(int argc, char **argv)
{
    int rank, buffer;
    MPI_Request one, more[3];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Irecv(&buffer, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &one);
    pid_t child = fork();
    if (child == 0) {
        alarm(LIFE_SECONDS);
        told_hang();
    }
    for (int at = 0; at < 3; at++)
        MPI_Irecv(&buffer, 1, MPI_INT, MPI_ANY_SOURCE, 2 + at, MPI_COMM_WORLD, &more[at]);
    noted_begin(rank);
    noted_number("child", child);
    noted_end(rank);
    MPI_Recv(&buffer, 1, MPI_INT, MPI_ANY_SOURCE, 31999, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 0;
}
