/* Persistent requests of a halo: the receive of rank 1 was made with the tag of another field.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: tag mismatch ranks=0,1 lines=1:WAIT certain words="tag 40","tag 41"
 * cause: tag mismatch lines=1:MADE
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, steps = 2;
    double mine = 1, other = 0;
    MPI_Request halo[2];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int tag = 40 + rank;
    MPI_Recv_init(&other, 1, MPI_DOUBLE, 1 - rank, tag, MPI_COMM_WORLD, &halo[0]); /* @MADE */
    MPI_Send_init(&mine, 1, MPI_DOUBLE, 1 - rank, 40, MPI_COMM_WORLD, &halo[1]);
    diagnosed_ready();
    for (int step = 0; step < steps; step++) {
        MPI_Startall(2, halo);
        MPI_Waitall(2, halo, MPI_STATUSES_IGNORE); /* @WAIT */
    }
    MPI_Finalize();
    return 0;
}
