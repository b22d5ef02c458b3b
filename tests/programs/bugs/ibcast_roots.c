/* The ranks start the same broadcast with different roots: each takes the other one for the root.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:WAIT,1:WAIT certain
 * expect: root mismatch ranks=0,1 lines=0:BCAST,1:BCAST words="MPI_COMM_WORLD"
 * openmpi expect: root mismatch ranks=0,1 lines=0:WAIT,1:WAIT certain words="MPI_Ibcast","root 0","root 1"
 * cause: root mismatch lines=0:BCAST,1:BCAST
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, value = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    MPI_Ibcast(&value, 1, MPI_INT, 1 - rank, MPI_COMM_WORLD, &request); /* @BCAST */
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* @WAIT */
    MPI_Finalize();
    return 0;
}
