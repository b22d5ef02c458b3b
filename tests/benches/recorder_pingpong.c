/* Two ranks that hand a message to and fro: recorder_pingpong.c BYTES. Nanoseconds one way, the least of several rounds. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 60 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, bytes = argc > 1 ? atoi(argv[1]) : 8, calls = bytes > 4096 ? 400 : 4000;
    char *buffer = calloc(1, (size_t)bytes + 1);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double best = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double begun = MPI_Wtime();
        for (int at = 0; at < calls; at++) {
            if (rank == 0) {
                MPI_Send(buffer, bytes, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
                MPI_Recv(buffer, bytes, MPI_CHAR, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(buffer, bytes, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(buffer, bytes, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
            }
        }
        double taken = (MPI_Wtime() - begun) / (2.0 * calls);
        best = taken < best ? taken : best;
    }
    if (rank == 0)
        printf("%.2f\n", 1e9 * best);
    MPI_Finalize();
    return 0;
}
