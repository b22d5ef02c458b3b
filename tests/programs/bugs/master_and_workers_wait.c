/* The master waits for any worker's result, the workers for their first piece of work, which nobody has sent.
 *
 * ranks: 4
 * verdict: deadlock
 * expect: deadlock ranks=0,1,2,3 lines=0:RESULT,1:WORK,2:WORK,3:WORK certain
 * cause: deadlock lines=0:RESULT,1:WORK,2:WORK,3:WORK
 */
#include "common/diagnosed.h"

enum { WORK = 1, RESULT = 2 };

static void master(int workers)
{
    double result;
    MPI_Status status;
    for (int done = 0; done < 10 * workers; done++) {
        MPI_Recv(&result, 1, MPI_DOUBLE, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status); /* @RESULT */
        MPI_Send(&done, 1, MPI_INT, status.MPI_SOURCE, WORK, MPI_COMM_WORLD);
    }
}

static void worker(void)
{
    int piece;
    for (;;) {
        MPI_Recv(&piece, 1, MPI_INT, 0, WORK, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @WORK */
        double result = piece * 0.5;
        MPI_Send(&result, 1, MPI_DOUBLE, 0, RESULT, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    diagnosed_ready();
    if (rank == 0)
        master(size - 1);
    else
        worker();
    MPI_Finalize();
    return 0;
}
