/* Rank 2 of the world is number 0 of the workers. Rank 3 waits for number 0 on the world, where that is the master, which sends
 * nothing; the message came on the workers' communicator.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: communicator mismatch ranks=2,3 lines=3:RECV certain words="workers","MPI_COMM_WORLD"
 * cause: communicator mismatch lines=3:RECV,2:SEND
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, work = 7;
    MPI_Comm workers;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &workers);
    MPI_Comm_set_name(workers, rank < 2 ? "masters" : "workers");
    diagnosed_ready();
    if (rank == 2)
        MPI_Send(&work, 1, MPI_INT, 1, 33, workers); /* @SEND */
    if (rank == 3)
        MPI_Recv(&work, 1, MPI_INT, 0, 33, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
