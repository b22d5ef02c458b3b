/* Rank 1 runs a script and waits for its end, the others wait for it in a sum.
 *
 * ranks: 3
 * expect: slow rank ranks=1
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, ok = 1, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 1)
        ok = system("sleep 1500") == 0;
    MPI_Allreduce(&ok, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
