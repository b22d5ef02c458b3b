/*
 * Rank 1 is through with MPI while rank 0 waits for a message of it. Argument, what rank 1 does after MPI_Finalize: sleep,
 * or exit. It writes its truth before it calls MPI_Finalize, which may wait for rank 0, and again when that has returned.
 */
#include "common/told.h"

#include <mpi.h>

int main(int argc, char **argv)
{
    char byte;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 1) {
        told_with(rank, ",\"stage\":\"finalizing\"");
        MPI_Finalize();
        told_with(rank, ",\"stage\":\"finalized\"");
        while (strcmp(argv[1], "sleep") == 0)
            pause();
        return 0;
    }
    told_with(rank, ",\"stage\":\"initialized\"");
    MPI_Recv(&byte, 1, MPI_BYTE, 1, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 1;
}
