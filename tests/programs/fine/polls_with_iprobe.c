/* A server looks for requests of any client and sleeps a little where there is none; one client asks now and then and
 * waits for the answer, the other one computes.
 *
 * ranks: 3
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, value = 0, there;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0)
        for (;;) {
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &status);
            if (there) {
                MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(&value, 1, MPI_INT, status.MPI_SOURCE, 99, MPI_COMM_WORLD);
            } else {
                usleep(20000);
            }
        }
    for (int i = 0;; i++) {
        if (rank == 1) {
            MPI_Send(&i, 1, MPI_INT, 0, 1 + i % 5, MPI_COMM_WORLD);
            MPI_Recv(&value, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (volatile int work = 0; work < 2000000; work++)
            ;
    }
}
