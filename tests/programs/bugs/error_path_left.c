/* Rank 1 cannot open its input and leaves by its error path, without a word to the others, who wait for its part.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: finished rank ranks=1 lines=0:PART | missing in collective ranks=1 lines=2:SUM
 * cause: finished rank | missing in collective lines=1:END
 */
#include "common/diagnosed.h"

static int read_part(int rank, double *part)
{
    if (rank == 1)
        return -1;
    *part = rank;
    return 0;
}

int main(int argc, char **argv)
{
    int rank;
    double part = 0, other = 0, total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (read_part(rank, &part) != 0)
        goto end;
    if (rank == 0)
        MPI_Recv(&other, 1, MPI_DOUBLE, 1, 31, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @PART */
    MPI_Allreduce(&part, &total, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); /* @SUM */
end:
    MPI_Finalize(); /* @END */
    return 0;
}
