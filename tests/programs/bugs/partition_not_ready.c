/* A partitioned send of four parts, of which the thread for the last one has forgotten to say that it is ready.
 *
 * ranks: 2
 * mpis: mpich (Open MPI 4.1 has no partitioned communication)
 * verdict: deadlock
 * expect: never started ranks=0 | deadlock ranks=0 lines=0:SEND | deadlock ranks=0,1 lines=0:SEND
 * cause: never started | deadlock lines=0:SEND
 */
#include "common/diagnosed.h"

#define PARTS 4
#define EACH 1000

int main(int argc, char **argv)
{
    int rank;
    static double field[PARTS * EACH];
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        MPI_Psend_init(field, PARTS, EACH, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        for (int part = 0; part < PARTS - 1; part++)
            MPI_Pready(part, request);
        diagnosed_ready();
        MPI_Wait(&request, MPI_STATUS_IGNORE); /* @SEND */
    } else {
        MPI_Precv_init(field, PARTS, EACH, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        diagnosed_ready();
        MPI_Wait(&request, MPI_STATUS_IGNORE); /* @RECV */
    }
    MPI_Request_free(&request);
    MPI_Finalize();
    return 0;
}
