/*
 * One rank is not where the others are. Arguments: what it does, and which one it is. `elsewhere`: it waits for a message that
 * nobody sends; `computes`: it never comes back from its work; `none`: it does what the others do. These wait in a barrier.
 * Truth is the markers in this file.
 */
#include "common/told.h"

#include <mpi.h>

/* lldb 19 leaves out the frames of what is inlined in several functions at once. */
static __attribute__((noinline)) void write_output(int from)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, from, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
}

static __attribute__((noinline)) void relax(void)
{
    volatile unsigned long count = 0;
    for (;;)
        count++; /* @WORK */
}

static __attribute__((noinline)) void step(int rank, int odd, const char *does)
{
    if (rank == odd && strcmp(does, "elsewhere") == 0)
        write_output((odd + 1) % 2); /* @OUTPUT */
    if (rank == odd && strcmp(does, "computes") == 0)
        relax(); /* @RELAX */
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
}

int main(int argc, char **argv)
{
    int rank;
    if (argc > 1 && strcmp(argv[1], "before") == 0) {
        /* MPI_Init is never called. */
        told(atoi(getenv("RANK_OF_TEST") ? getenv("RANK_OF_TEST") : "0"));
        pause(); /* @BEFORE */
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 1);
    told(rank);
    step(rank, atoi(argv[2]), argv[1]); /* @STEP */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Abort(MPI_COMM_WORLD, 4);
    return 0;
}
