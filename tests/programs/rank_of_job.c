/*
 * A rank as jobs have them: writes its pid as DIRECTORY/pid.RANK, prints "ready" and waits. Arguments: DIRECTORY, and one of
 *
 *     plain   calls MPI_Init
 *     forks   and starts a child, and that one another, which have the rank's environment and MPI's code
 *     leaves  nobody calls MPI_Init, and rank 1 ends
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <signal.h>
#include <unistd.h>

static void wait_for_end(void)
{
    for (;;)
        pause();
}

static void start_child(int depth)
{
    if (depth == 0 || fork() != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    start_child(depth - 1);
    wait_for_end();
}

int main(int argc, char **argv)
{
    char path[4096];
    const char *open_mpi = getenv("OMPI_COMM_WORLD_RANK"), *mpich = getenv("PMI_RANK");
    int rank = atoi(open_mpi != NULL ? open_mpi : mpich != NULL ? mpich : "0");
    FILE *file;
    alarm(1800);
    if (argc != 3)
        return 2;
    if (strcmp(argv[2], "leaves") != 0) {
        MPI_Init(&argc, &argv);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    }
    snprintf(path, sizeof path, "%s/pid.%d", argv[1], rank);
    file = fopen(path, "w");
    if (file == NULL)
        return 3;
    fprintf(file, "%d\n", (int)getpid());
    fclose(file);
    puts("ready");
    fflush(stdout);
    if (strcmp(argv[2], "forks") == 0)
        start_child(2);
    if (strcmp(argv[2], "leaves") == 0 && rank == 1)
        return 0;
    wait_for_end();
}
