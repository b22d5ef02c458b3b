/* Of three sums the last rank misses the second; what it takes for the third is the second of the others, and its own third is missing.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: missing in collective ranks=3 lines=0:WAIT,3:LEFT certain words="rank 3 has not started","MPI_COMM_WORLD"
 * cause: missing in collective lines=0:START,3:LEFT
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, in[3] = {1, 2, 3}, out[3], number = 0;
    MPI_Request requests[3];
    MPI_Comm other;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    diagnosed_ready();
    for (int i = 0; i < 3; i++)
        if (rank != 3 || i != 1)
            MPI_Iallreduce(&in[i], &out[i], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[number++]); /* @START */
    MPI_Waitall(number, requests, MPI_STATUSES_IGNORE); /* @WAIT */
    MPI_Barrier(other); /* @LEFT */
    MPI_Comm_free(&other);
    MPI_Finalize();
    return 0;
}
