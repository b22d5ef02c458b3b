/* Steps of a broadcast and a barrier: at most moments the ranks stand in different ones.
 *
 * ranks: 4
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int step = 0;
    MPI_Init(&argc, &argv);
    diagnosed_ready();
    for (;;) {
        MPI_Bcast(&step, 1, MPI_INT, 0, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        step++;
    }
}
