/*
 * One rank does something before MPI_Init, and never comes to it; the others wait inside. Argument: which one it is; -1: none
 * calls MPI_Init. Truth is the markers in this file.
 */
#include "common/told.h"

#include <mpi.h>

/* What launchers tell before MPI_Init: Open MPI's, MPICH's and Intel's. */
static int rank_of_launcher(void)
{
    const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"};
    for (int at = 0; at < 3; at++)
        if (getenv(names[at]) != NULL)
            return atoi(getenv(names[at]));
    _exit(2);
}

static __attribute__((noinline)) void read_mesh(void)
{
    for (;;)
        pause(); /* @LATE */
}

int main(int argc, char **argv)
{
    int rank = rank_of_launcher(), late = argc > 1 ? atoi(argv[1]) : 0;
    told(rank);
    if (late < 0 || rank == late)
        read_mesh();
    MPI_Init(&argc, &argv); /* @INIT */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
