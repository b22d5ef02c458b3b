/* Pairs exchange with MPI_Sendrecv; rank 1 was given rank 2 as its partner, who exchanges with rank 3. The message of rank 1
 * to rank 2 is unexpected there, and so is rank 0's to rank 1. Ranks 2
 * and 3 are done and in the barrier.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: rank mismatch ranks=0,1 | rank mismatch ranks=1,2 | deadlock ranks=1,2 | missing in collective ranks=0,1
 * cause: rank mismatch lines=0:EXCHANGE,1:EXCHANGE
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, partner, mine, theirs = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    partner = rank == 1 ? 2 : rank ^ 1;
    mine = rank;
    diagnosed_ready();
    MPI_Sendrecv(&mine, 1, MPI_INT, partner, 2, &theirs, 1, MPI_INT, partner, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @EXCHANGE */
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
    MPI_Finalize();
    return 0;
}
