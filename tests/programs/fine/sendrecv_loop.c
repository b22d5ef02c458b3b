/* A ring that shifts a block in each step, with blocks of all sizes.
 *
 * ranks: 4
 */
#include "common/diagnosed.h"

#define LARGEST 100000

int main(int argc, char **argv)
{
    int rank, size;
    static char out[LARGEST], in[LARGEST];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    diagnosed_ready();
    for (int step = 0;; step++) {
        int count = (int)(step * 7919L % LARGEST);
        MPI_Sendrecv(out, count, MPI_CHAR, (rank + 1) % size, step % 1000, in, LARGEST, MPI_CHAR,
                     (rank + size - 1) % size, step % 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}
