/*
 * One rank is not where the others are. Arguments: what it does, and which one it is. `elsewhere`: it waits for a message that
 * nobody sends; `computes`: it never comes back from its work; `none`: it does what the others do. These wait in a barrier.
 * Truth is the markers in this file.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void tell(int rank)
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
    fprintf(file, "{\"rank\":%d,\"pid\":%d}\n", rank, (int)getpid());
    fclose(file);
    rename(temporary, path);
}

/* lldb 19 leaves out the frames of what is inlined in several functions at once. */
static __attribute__((noinline)) void write_output(int from)
{
    int value;
    MPI_Recv(&value, 1, MPI_INT, from, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* @RECV */
}

static __attribute__((noinline)) void relax(void)
{
    volatile unsigned long count = 0;
    for (;;)
        count++; /* @WORK */
}

static __attribute__((noinline)) void step(int rank, int odd, const char *does)
{
    if (rank == odd && strcmp(does, "elsewhere") == 0)
        write_output((odd + 1) % 2); /* @OUTPUT */
    if (rank == odd && strcmp(does, "computes") == 0)
        relax(); /* @RELAX */
    MPI_Barrier(MPI_COMM_WORLD); /* @BARRIER */
}

int main(int argc, char **argv)
{
    int rank;
    alarm(1800);
    if (argc > 1 && strcmp(argv[1], "before") == 0) {
        /* MPI_Init is never called. */
        tell(atoi(getenv("RANK_OF_TEST") ? getenv("RANK_OF_TEST") : "0"));
        pause(); /* @BEFORE */
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 1);
    tell(rank);
    step(rank, atoi(argv[2]), argv[1]); /* @STEP */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Abort(MPI_COMM_WORLD, 4);
    return 0;
}
