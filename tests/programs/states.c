/*
 * An MPI program that is not between MPI_Init and MPI_Finalize. Argument: before (has not called MPI_Init), or after (has
 * called MPI_Finalize). Writes its pid as the truth file and hangs in pause().
 */
#include "common/told.h"

#include <mpi.h>

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    if (strcmp(argv[1], "after") == 0) {
        MPI_Init(&argc, &argv);
        MPI_Finalize();
    }
    told(0);
    told_hang();
}
