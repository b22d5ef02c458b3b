/*
 * Rank 0 calls MPI_Bcast where the others call MPI_Reduce. Nobody waits there: all go on, and hang later, at places that do
 * not show it.
 */
#include "common/noted.h"

int main(int argc, char **argv)
{
    int rank, value = 1, sum = 0;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_name(comm, "solver");
    MPI_Comm_rank(comm, &rank);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
    told(rank);
    if (rank == 0)
        MPI_Bcast(&value, 1, MPI_INT, 0, comm); /* differs */
    else
        MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, 0, comm); /* differs */
    MPI_Recv(&value, 1, MPI_INT, rank, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
