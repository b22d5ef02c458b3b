/* Two ranks send a message to and fro as long as the file exists that is named; then each waits for the other.
 *
 * ranks: 2
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, goes_on = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    while (goes_on) {
        if (rank == 0) {
            goes_on = argc > 1 && access(argv[1], F_OK) == 0;
            MPI_Send(&goes_on, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
        } else {
            MPI_Recv(&goes_on, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Recv(&goes_on, 1, MPI_INT, 1 - rank, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
    MPI_Finalize();
    return 0;
}
