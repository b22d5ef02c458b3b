/* One rank starts a barrier where the others start a sum. The request is a member of a structure, and the collective is started in
 * another function than the one that waits.
 *
 * ranks: 3
 * mpis: openmpi (MPICH ends the job: the message of the sum is longer than that of the barrier)
 * verdict: deadlock
 * expect: collective mismatch ranks=0,1,2 lines=0:SUM,1:BARRIER
 * openmpi expect: collective mismatch ranks=0,1,2 certain words="MPI_Ibarrier"
 * cause: collective mismatch lines=0:SUM,1:BARRIER
 */
#include "common/diagnosed.h"

struct solver {
    MPI_Request sum;
    double mine, all;
};

static void start(struct solver *solver, int converged)
{
    if (converged)
        MPI_Ibarrier(MPI_COMM_WORLD, &solver->sum); /* @BARRIER */
    else
        MPI_Iallreduce(&solver->mine, &solver->all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &solver->sum); /* @SUM */
}

int main(int argc, char **argv)
{
    int rank;
    struct solver solver = {MPI_REQUEST_NULL, 1, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    start(&solver, rank == 1);
    MPI_Wait(&solver.sum, MPI_STATUS_IGNORE); /* @WAIT */
    MPI_Finalize();
    return 0;
}
