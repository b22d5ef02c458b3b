/* Rank 0 hands out work, the others do it until they are told to stop. */
#include <mpi.h>

enum { WORK = 1, STOP = 2 };

static void work(void)
{
    int task;
    MPI_Status status;
    do
        MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    while (status.MPI_TAG != STOP);
}

static void hand_out(int size)
{
    int task = 0;
    for (int worker = 1; worker < size; worker++)
        MPI_Send(&task, 1, MPI_INT, worker, WORK, MPI_COMM_WORLD);
    for (int worker = 1; worker < size - 1; worker++)
        MPI_Send(&task, 1, MPI_INT, worker, STOP, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0)
        hand_out(size);
    else
        work();
    MPI_Finalize();
    return 0;
}
