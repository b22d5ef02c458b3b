/* Three ranks of a ring take whatever comes from the left with MPI_Mprobe before they send to the right.
 *
 * ranks: 3
 * verdict: deadlock
 * expect: deadlock ranks=0,1,2 lines=0:PROBE,1:PROBE,2:PROBE
 * cause: deadlock lines=0:PROBE,1:PROBE,2:PROBE
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, size, count;
    char *text;
    MPI_Message message;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    diagnosed_ready();
    MPI_Mprobe((rank + size - 1) % size, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status); /* @PROBE */
    MPI_Get_count(&status, MPI_CHAR, &count);
    text = malloc(count);
    MPI_Mrecv(text, count, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    MPI_Send(text, count, MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD);
    free(text);
    MPI_Finalize();
    return 0;
}
