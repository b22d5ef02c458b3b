/*
 * A rank as jobs have them: writes its pid as DIRECTORY/pid.RANK, prints "ready" and waits. Arguments: DIRECTORY, and one of
 *
 *     plain   calls MPI_Init
 *     forks   and starts a child, and that one another, which have the rank's environment and MPI's code
 *     leaves  nobody calls MPI_Init, and rank 1 ends
 */
#include "common/told.h"

#include <mpi.h>
#include <signal.h>
#include <sys/prctl.h>

static void start_child(int depth)
{
    if (depth == 0 || fork() != 0)
        return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    start_child(depth - 1);
    told_hang();
}

int main(int argc, char **argv)
{
    char path[4096];
    const char *open_mpi = getenv("OMPI_COMM_WORLD_RANK"), *mpich = getenv("PMI_RANK");
    int rank = atoi(open_mpi != NULL ? open_mpi : mpich != NULL ? mpich : "0");
    FILE *file;
    alarm(LIFE_SECONDS);
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
    told_ready();
    if (strcmp(argv[2], "forks") == 0)
        start_child(2);
    if (strcmp(argv[2], "leaves") == 0 && rank == 1)
        return 0;
    told_hang();
}
