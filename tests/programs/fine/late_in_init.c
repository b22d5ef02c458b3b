/* Rank 1 unpacks its data before it calls MPI_Init; the others wait for it there.
 *
 * ranks: 3
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    const char *rank = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
    diagnosed_ready();
    if (rank != NULL && atoi(rank) == 1)
        sleep(1500);
    MPI_Init(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
