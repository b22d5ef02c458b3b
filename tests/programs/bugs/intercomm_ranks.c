/* Each rank waits on the intercommunicator for the one with its own rank in the other group, but sends to the next one of the
 * other group, by the rank it would have in MPI_COMM_WORLD.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: rank mismatch ranks=0,3 | rank mismatch ranks=1,2 | deadlock ranks=0,2
 * cause: rank mismatch lines=0:RECV,3:SENT
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, own, value = 0;
    MPI_Comm half, both;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    MPI_Comm_rank(half, &own);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank / 2 ? 0 : 2, 99, &both);
    MPI_Comm_set_name(both, "both");
    diagnosed_ready();
    MPI_Send(&value, 1, MPI_INT, 1 - own, 1, both); /* @SENT */
    MPI_Recv(&value, 1, MPI_INT, own, 1, both, MPI_STATUS_IGNORE); /* @RECV */
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
