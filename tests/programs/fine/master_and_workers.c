/* A master that takes results from any worker, and workers that need a while for each piece.
 *
 * ranks: 4
 */
#include "common/diagnosed.h"

enum { WORK = 1, RESULT = 2 };

int main(int argc, char **argv)
{
    int rank, size, piece = 0;
    double result = 0;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    diagnosed_ready();
    if (rank == 0) {
        for (int worker = 1; worker < size; worker++)
            MPI_Send(&piece, 1, MPI_INT, worker, WORK, MPI_COMM_WORLD);
        for (;;) {
            MPI_Recv(&result, 1, MPI_DOUBLE, MPI_ANY_SOURCE, RESULT, MPI_COMM_WORLD, &status);
            piece++;
            MPI_Send(&piece, 1, MPI_INT, status.MPI_SOURCE, WORK, MPI_COMM_WORLD);
        }
    }
    for (;;) {
        MPI_Recv(&piece, 1, MPI_INT, 0, WORK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        usleep(100000 * rank);
        result = piece * 0.5;
        MPI_Send(&result, 1, MPI_DOUBLE, 0, RESULT, MPI_COMM_WORLD);
    }
}
