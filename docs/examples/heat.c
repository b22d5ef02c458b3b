/* Two halves of a rod exchange their ends in each step. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void exchange(double *mine, double *theirs, int points, int other)
{
    MPI_Send(mine, points, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
    MPI_Recv(theirs, points, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int points = argc > 1 ? atoi(argv[1]) : 10, rank;
    double *mine = calloc(points, sizeof *mine), *theirs = calloc(points, sizeof *theirs);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < 10; step++)
        exchange(mine, theirs, points, 1 - rank);
    if (rank == 0)
        puts("done");
    MPI_Finalize();
    free(mine);
    free(theirs);
    return 0;
}
