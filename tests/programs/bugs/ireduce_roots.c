/* Half of the ranks take the first for the root of a sum, the others the last.
 *
 * ranks: 5
 * verdict: deadlock
 * expect: root mismatch ranks=0,4 lines=0:SUM,4:SUM words="MPI_Ireduce"
 * openmpi expect: root mismatch ranks=0,4 lines=0:SUM,4:SUM certain words="MPI_Ireduce","root 0","root 4"
 * cause: root mismatch lines=0:SUM,4:SUM
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, size;
    double mine[4] = {1, 2, 3, 4}, sum[4];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    diagnosed_ready();
    MPI_Ireduce(mine, sum, 4, MPI_DOUBLE, MPI_SUM, rank < size / 2 ? 0 : size - 1, MPI_COMM_WORLD, &request); /* @SUM */
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
