/*
 * 8 ranks of a hang that large jobs have, for benches that make up thousands from them. Arguments: one of
 *
 *     tag    all wait in a barrier but rank 5, which waits for a message that rank 0 has sent with another tag
 *     halo   each rank exchanges with its neighbours, but rank 5 waits for a message instead of sending
 */
#include "common/diagnosed.h"

#include <string.h>

static int rank, size;
static MPI_Comm row, column, grid;
static double halo[2][512];

static void exchange(void)
{
    int left, right;
    MPI_Request requests[2];
    MPI_Cart_shift(grid, 0, 1, &left, &right);
    if (rank == 5)
        MPI_Recv(halo[0], 512, MPI_DOUBLE, left, 8, grid, MPI_STATUS_IGNORE);
    MPI_Irecv(halo[0], 512, MPI_DOUBLE, left, 7, grid, &requests[0]);
    MPI_Isend(halo[1], 512, MPI_DOUBLE, right, 7, grid, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void advance(int steps)
{
    for (int step = 0; step < steps; step++)
        exchange();
}

static void settle(void)
{
    if (rank == 5)
        MPI_Recv(halo[0], 512, MPI_DOUBLE, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Ssend(halo[1], 512, MPI_DOUBLE, 5, 98, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int dimensions[1], periods[1] = {1};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 4, rank, &row);
    MPI_Comm_set_name(row, "row");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 4, rank, &column);
    MPI_Comm_set_name(column, "column");
    dimensions[0] = size;
    MPI_Cart_create(MPI_COMM_WORLD, 1, dimensions, periods, 0, &grid);
    MPI_Comm_set_name(grid, "grid");
    diagnosed_ready();
    if (argc > 1 && strcmp(argv[1], "halo") == 0)
        advance(100);
    else
        settle();
    MPI_Finalize();
    return 0;
}
