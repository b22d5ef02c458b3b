/* A program starts another copy of itself and waits for its first message, before which that one computes.
 *
 * ranks: 1
 * mpis: openmpi (Debian's MPICH fails in MPI_Comm_spawn)
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int value = 0;
    MPI_Comm parent, child;
    MPI_Init(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    if (parent == MPI_COMM_NULL) {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &child, MPI_ERRCODES_IGNORE);
        diagnosed_ready();
        MPI_Recv(&value, 1, MPI_INT, 0, 1, child, MPI_STATUS_IGNORE);
    } else {
        for (volatile long work = 0; work < 1000000000000; work++)
            ;
        MPI_Send(&value, 1, MPI_INT, 0, 1, parent);
    }
    MPI_Finalize();
    return 0;
}
