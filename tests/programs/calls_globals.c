/* Calls that are given variables of another unit, and of a library: of those the program has its own copy. */
#include "calls_globals.h"
#include "common/told.h"

int main(int argc, char **argv) {
    int rank, size, value = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &halo);
    neighbour = (rank + 1) % size;
    label = 40 + rank;
    printf("given source %d\ngiven tag %d\n", neighbour, label);
    if (rank % 2)
        receive(&value);
    printf("call MPI_Recv %d\n", __LINE__ + 2);
    told_ready();
    MPI_Recv(&value, 1, MPI_INT, neighbour, label, halo, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return value;
}
