/* One thread of rank 0 waits for rank 1's message in a critical section of OpenMP. The other, which should answer rank 1 first,
 * waits for that section.
 *
 * ranks: 2
 * flags: -fopenmp
 * verdict: deadlock
 * expect: deadlock ranks=0,1 lines=0:RECV,1:ANSWER | stuck outside MPI ranks=0
 * cause: deadlock lines=0:RECV,1:ANSWER
 */
#include "common/diagnosed.h"

int main(int argc, char **argv)
{
    int rank, provided, turn = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided != MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    diagnosed_ready();
    if (rank == 0) {
#pragma omp parallel sections num_threads(2)
        {
#pragma omp section
            {
                int value = 0;
#pragma omp critical
                {
#pragma omp atomic write
                    turn = 1;
                    MPI_Recv(&value, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
                }
            }
#pragma omp section
            {
                int value = 0, entered = 0;
                while (!entered) {
#pragma omp atomic read
                    entered = turn;
                }
#pragma omp critical
                MPI_Send(&value, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
            }
        }
    } else {
        int value = 0;
        MPI_Recv(&value, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @ANSWER */
        MPI_Send(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
