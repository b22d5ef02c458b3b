/* Rank 0 sends the header after the body, both synchronously; rank 1 receives the header first.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:BODY,1:HEADER | tag mismatch ranks=0,1 lines=0:BODY,1:HEADER
 * cause: deadlock lines=0:BODY,1:HEADER
 */
#include "common/diagnosed.h"

enum { HEADER = 1, BODY = 2 };

int main(int argc, char **argv)
{
    int rank, length = 1000;
    static double body[1000];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
        MPI_Ssend(body, length, MPI_DOUBLE, 1, BODY, MPI_COMM_WORLD); /* @BODY */
        MPI_Ssend(&length, 1, MPI_INT, 1, HEADER, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&length, 1, MPI_INT, 0, HEADER, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @HEADER */
        MPI_Recv(body, length, MPI_DOUBLE, 0, BODY, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
