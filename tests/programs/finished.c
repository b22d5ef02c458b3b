/*
 * Rank 1 is through with MPI while rank 0 waits for a message of it. Argument, what rank 1 does after MPI_Finalize: sleep,
 * or exit. It writes its truth before it calls MPI_Finalize, which may wait for rank 0, and again when that has returned.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void tell(int rank, const char *stage)
{
    char path[4096], temporary[4200];
    const char *pattern = getenv("MPIQ_TRUTH"), *place = pattern ? strstr(pattern, "%d") : NULL;
    FILE *file;
    if (place == NULL)
        _exit(2);
    snprintf(path, sizeof path, "%.*s%d%s", (int)(place - pattern), pattern, rank, place + 2);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    file = fopen(temporary, "w");
    if (file == NULL)
        _exit(3);
    fprintf(file, "{\"rank\":%d,\"pid\":%d,\"stage\":\"%s\"}\n", rank, (int)getpid(), stage);
    fclose(file);
    rename(temporary, path);
}

int main(int argc, char **argv)
{
    char byte;
    int rank;
    alarm(1800);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 2)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (rank == 1) {
        tell(rank, "finalizing");
        MPI_Finalize();
        tell(rank, "finalized");
        while (strcmp(argv[1], "sleep") == 0)
            pause();
        return 0;
    }
    tell(rank, "initialized");
    MPI_Recv(&byte, 1, MPI_BYTE, 1, 17, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 1;
}
