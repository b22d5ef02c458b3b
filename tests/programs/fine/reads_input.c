/* Rank 0 reads its parameters from another program, which takes its time; the others wait in the broadcast of them.
 *
 * ranks: 3
 * expect: slow rank ranks=0
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, parameter = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
        FILE *input = popen("sleep 1500; echo 7", "r");
        if (input == NULL || fscanf(input, "%d", &parameter) != 1)
            MPI_Abort(MPI_COMM_WORLD, 1);
        pclose(input);
    }
    MPI_Bcast(&parameter, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
