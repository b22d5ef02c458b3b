/* Rank 1 forgets one of two sums that all ranks have under way at a time, on a part of the job, and waits for a message
 * that rank 0 sends when it has them.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:SUMS,1:RECV
 * expect: missing in collective ranks=1 lines=0:SUMS,1:RECV words="rank 1 has not started","half"
 * expect-not: collective mismatch
 * cause: missing in collective lines=0:START,1:RECV
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, value = 0;
    double in[2] = {1, 2}, out[2];
    MPI_Comm half;
    MPI_Request sums[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &half);
    MPI_Comm_set_name(half, "half");
    diagnosed_ready();
    MPI_Iallreduce(&in[0], &out[0], 1, MPI_DOUBLE, MPI_SUM, half, &sums[0]);
    if (rank != 1)
        MPI_Iallreduce(&in[1], &out[1], 1, MPI_DOUBLE, MPI_MAX, half, &sums[1]); /* @START */
    if (rank == 1)
        MPI_Recv(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
    MPI_Waitall(2, sums, MPI_STATUSES_IGNORE); /* @SUMS */
    if (rank == 0)
        MPI_Send(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
