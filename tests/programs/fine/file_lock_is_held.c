/* Rank 0 keeps the lock of a file while it computes; rank 1 waits for that lock, and rank 2 for what rank 1 will send.
 *
 * ranks: 3
 * expect: slow rank ranks=0
 */
#include "common/diagnosed.h"
#include "common/history.h"

static double steps(long number)
{
    volatile double sum = 0;
    for (long step = 1; step < number; step++)
        sum += 1.0 / step;
    return sum;
}

int main(int argc, char **argv)
{
    int rank, file, value = 0;
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    file = history(rank);
    if (rank == 0)
        fcntl(file, F_SETLKW, &whole);
    MPI_Barrier(MPI_COMM_WORLD);
    diagnosed_ready();
    if (rank == 0) {
        while (steps(100000000) > 0) {
        }
        whole.l_type = F_UNLCK;
        fcntl(file, F_SETLKW, &whole);
    } else if (rank == 1) {
        fcntl(file, F_SETLKW, &whole);
        MPI_Send(&value, 1, MPI_INT, 2, 3, MPI_COMM_WORLD);
    } else {
        MPI_Recv(&value, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
