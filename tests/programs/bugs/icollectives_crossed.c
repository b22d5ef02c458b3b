/* Two communicators of the same ranks, and non-blocking collectives on both, which rank 0 starts and completes in another order than
 * the others.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: collective mismatch ranks=0,1,2 lines=0:SUM,1:BARRIER,2:BARRIER certain words="have not started it","flow","heat"
 * expect-not: missing in collective
 * cause: collective mismatch lines=0:SUM,1:BARRIER,2:BARRIER
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    double mine = 1, sum;
    MPI_Comm flow, heat;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &flow);
    MPI_Comm_dup(MPI_COMM_WORLD, &heat);
    MPI_Comm_set_name(flow, "flow");
    MPI_Comm_set_name(heat, "heat");
    diagnosed_ready();
    if (rank == 0) {
        MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, flow, &request); /* @SUM */
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Ibarrier(heat, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Request other;
        MPI_Ibarrier(heat, &other); /* @BARRIER */
        MPI_Wait(&other, MPI_STATUS_IGNORE);
        MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, flow, &other);
        MPI_Wait(&other, MPI_STATUS_IGNORE);
    }
    MPI_Comm_free(&flow);
    MPI_Comm_free(&heat);
    MPI_Finalize();
    return 0;
}
