/* Rank 0 writes what it gathers to the disk, which takes long (it waits for the disk in each line); the others are in the
 * gather of the next step.
 *
 * ranks: 3
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, size;
    double mine, all[16];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    FILE *file = rank == 0 ? tmpfile() : NULL;
    mine = rank;
    diagnosed_ready();
    for (;;) {
        MPI_Gather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int i = 0; file != NULL && i < size; i++) {
            rewind(file);
            fprintf(file, "%g\n", all[i]);
            fflush(file);
            fsync(fileno(file));
            usleep(20000);
        }
    }
}
