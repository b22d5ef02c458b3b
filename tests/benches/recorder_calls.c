/* Nanoseconds for each call of an MPI that does nothing (recorder_stub.c), the least of several rounds. */
#include <stdio.h>
#include <time.h>

int MPI_Init(int *, char ***);
int MPI_Send(const void *, int, int, int, int, int);
int MPI_Recv(void *, int, int, int, int, int, void *);
int MPI_Allreduce(const void *, void *, int, int, int, int);
int MPI_Isend(const void *, int, int, int, int, int, int *);
int MPI_Wait(int *, void *);
int MPI_Waitall(int, int *, void *);

enum { ROUNDS = 40, CALLS = 20000, WORLD = 0x44000000, INT = 0x4c000405, SUM = 0x58000003 };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

#define MEASURE(name, calls, body)                                                                                     \
    do {                                                                                                               \
        double best = 1e18;                                                                                            \
        for (int round = 0; round < ROUNDS; round++) {                                                                 \
            double begun = now();                                                                                      \
            for (int at = 0; at < CALLS; at++) {                                                                       \
                body;                                                                                                  \
            }                                                                                                          \
            double taken = (now() - begun) / (CALLS * (double)(calls));                                                \
            best = taken < best ? taken : best;                                                                        \
        }                                                                                                              \
        printf("%s %.2f\n", name, best);                                                                               \
    } while (0)

int main(int argc, char **argv)
{
    int buffer[4], request, several[32];
    MPI_Init(&argc, &argv);
    MEASURE("send", 1, MPI_Send(buffer, 4, INT, 1, 7, WORLD));
    MEASURE("recv", 1, MPI_Recv(buffer, 4, INT, 1, 7, WORLD, NULL));
    MEASURE("isend-wait", 2, (MPI_Isend(buffer, 4, INT, 1, 7, WORLD, &request), MPI_Wait(&request, NULL)));
    MEASURE("allreduce", 1, MPI_Allreduce(buffer, buffer, 4, INT, SUM, WORLD));
    MEASURE("isend-waitall", 33, {
        for (int each = 0; each < 32; each++)
            MPI_Isend(buffer, 4, INT, 1, 7, WORLD, &several[each]);
        MPI_Waitall(32, several, NULL);
    });
    return 0;
}
