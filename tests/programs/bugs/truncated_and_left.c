/* Rank 0 sends six numbers where rank 1 has room for four: MPI_Recv fails, and rank 1 leaves by its error path. Rank 0 waits for
 * the answer.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: finished rank ranks=0,1 lines=0:ANSWER
 * cause: finished rank lines=0:ANSWER,1:END
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, sent[6] = {0}, got[4], answer = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    diagnosed_ready();
    if (rank == 0) {
        MPI_Send(sent, 6, MPI_INT, 1, 3, MPI_COMM_WORLD);
        MPI_Recv(&answer, 1, MPI_INT, 1, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @ANSWER */
    } else {
        if (MPI_Recv(got, 4, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            goto end;
        MPI_Send(&answer, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
    }
end:
    MPI_Finalize(); /* @END */
    return 0;
}
