/*
 * A harmless program: ranks above 0 wait in calls whose text a test replaces in a copy of this source, after it was
 * compiled. Each argument of the call stands alone on the line after MPI_Sendrecv(.
 *
 * Rank 0 sends to all when the file of the first argument is there; then each rank prints whether its variables are as
 * they were: `kept`, or `changed`.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

/* DEFINITIONS */

struct pair {
    int first;
    struct pair *next;
};

volatile int victims[4] = {11, 22, 33, 44};
static struct pair pair = {55, &pair};
static int n = 1;

static void wait_for(int rank, int *out, int *in, MPI_Status *status) {
    MPI_Comm comm = MPI_COMM_WORLD;
    if (rank % 3 == 1) {
        MPI_Sendrecv(
            out, n, MPI_INT, 0, 7, in, n, MPI_INT, 0, 5, comm, status /* 1 */
        );
    } else if (rank % 3 == 2) {
        MPI_Sendrecv(
            out, n, MPI_INT, 0, 7, in, n, MPI_INT, 0, 5, comm, status /* 2 */
        );
    } else {
        MPI_Sendrecv(
            out, n, MPI_INT, 0, 7, in, n, MPI_INT, 0, 5, comm, status /* 3 */
        );
    }
}

int main(int argc, char **argv) {
    int rank, ranks, out = 8, in = 0;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    printf("ready\n");
    fflush(stdout);
    if (rank == 0) {
        while (access(argv[1], F_OK) != 0)
            usleep(10000);
        for (int other = 1; other < ranks; other++)
            MPI_Sendrecv(&other, 1, MPI_INT, other, 5, &in, 1, MPI_INT, other, 7, MPI_COMM_WORLD, &status);
    } else {
        wait_for(rank, &out, &in, &status);
        int kept = victims[0] == 11 && victims[1] == 22 && victims[2] == 33 && victims[3] == 44 && n == 1 &&
                   pair.first == 55 && pair.next == &pair && in == rank && out == 8 && status.MPI_TAG == 5;
        printf(kept ? "kept\n" : "changed\n");
        fflush(stdout);
    }
    MPI_Finalize();
    return 0;
}
