/* All ranks write to one file in each step, together.
 *
 * ranks: 3
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank;
    double block[512] = {0};
    char name[4096];
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "%s/checkpoint", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
    diagnosed_ready();
    for (int step = 0;; step++) {
        block[0] = step;
        MPI_File_write_at_all(file, rank * sizeof block, block, 512, MPI_DOUBLE, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}
