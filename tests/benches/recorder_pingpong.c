/* Two ranks that hand a message to and fro: recorder_pingpong.c BYTES, with the recorder before MPI. By turns it calls MPI's functions
   under their own names, which the recorder wraps, and as PMPI, which it does not. So both are measured in the same processes, within
   milliseconds of each other. Prints nanoseconds one way without it and with it (the median of the rounds), and the median of the
   ratios of rounds beside each other. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 101 };

static struct {
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*receive)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
} const ways[] = {{PMPI_Send, PMPI_Recv}, {MPI_Send, MPI_Recv}};

static int by_size(const void *left, const void *right)
{
    double difference = *(const double *)left - *(const double *)right;
    return (difference > 0) - (difference < 0);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, by_size);
    return values[ROUNDS / 2];
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    int rank, bytes = argc > 1 ? atoi(argv[1]) : 8, calls = bytes > 4096 ? 400 : 6000, first = calls / 3;
    char *buffer = calloc(1, (size_t)bytes + 1);
    static double taken[2][ROUNDS], ratios[ROUNDS];
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int round = -2; round < ROUNDS; round++) {
        /* Which is first changes from round to round. */
        for (int turn = 0; turn < 2; turn++) {
            int way = (turn + round) & 1;
            double begun = 0;
            MPI_Barrier(MPI_COMM_WORLD);
            /* The first ones fill the processor's caches. */
            for (int at = -first; at < calls; at++) {
                if (at == 0)
                    begun = MPI_Wtime();
                if (rank == 0) {
                    ways[way].send(buffer, bytes, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
                    ways[way].receive(buffer, bytes, MPI_CHAR, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                } else {
                    ways[way].receive(buffer, bytes, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    ways[way].send(buffer, bytes, MPI_CHAR, 0, 7, MPI_COMM_WORLD);
                }
            }
            if (round >= 0)
                taken[way][round] = 1e9 * (MPI_Wtime() - begun) / (2.0 * calls);
        }
        if (round >= 0)
            ratios[round] = taken[1][round] / taken[0][round];
    }
    double ratio = median(ratios), without = median(taken[0]), with = median(taken[1]);
    if (rank == 0)
        printf("%.1f %.1f %.4f\n", without, with, ratio);
    MPI_Finalize();
    return 0;
}
