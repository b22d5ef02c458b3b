/* Rank 1 takes the sum where the others take the largest number: it waits for more messages than rank 0 has sent. Where they stand
 * shows nothing of that; the flight recorder does.
 *
 * ranks: 2
 * verdict: deadlock
 * expect: missing in collective ranks=1 lines=0:BARRIER | deadlock ranks=0,1 lines=0:BARRIER,1:TASK
 * cause: missing in collective | deadlock lines=0:BARRIER,1:TASK
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, tasks, most, got = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    tasks = rank == 0 ? 5 : 3;
    if (rank == 0)
        MPI_Scan(&tasks, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD); /* @MAX */
    else
        MPI_Scan(&tasks, &most, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* @SUM */
    diagnosed_ready();
    for (int task = 0; rank == 0 && task < tasks; task++)
        MPI_Send(&task, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
    for (int task = 0; rank == 1 && task < most; task++)
        MPI_Recv(&got, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @TASK */
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
    MPI_Finalize();
    return 0;
}
