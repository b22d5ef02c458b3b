/* Two groups make an intercommunicator; each of the leaders was given another tag.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: deadlock ranks=0,2 lines=0:CREATE,2:CREATE | tag mismatch ranks=0,2 lines=0:CREATE,2:CREATE
 * cause: tag mismatch | deadlock lines=0:CREATE
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    MPI_Comm half, both;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 2, rank, &half);
    diagnosed_ready();
    int second = rank / 2;
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, second ? 0 : 2, second ? 201 : 200, &both); /* @CREATE */
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
