/* A job that ends when it is told to: each rank writes DIRECTORY/rank.N with its process id once MPI_Init has returned,
 * waits for DIRECTORY/finish, finalizes, and writes DIRECTORY/done.N. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef IGNORE_QUEUES
/* Open MPI's plug-in for message queues looks for it (ompi/debuggers/ompi_msgq_dll.c). */
int MPIR_Ignore_queues = 0;
#endif

static const char *directory;
int my_rank, my_size;

static void note(const char *name) {
    char path[512], fresh[520];
    snprintf(path, sizeof path, "%s/%s.%d", directory, name, my_rank);
    snprintf(fresh, sizeof fresh, "%s.new", path);
    FILE *file = fopen(fresh, "w");
    if (file == NULL)
        exit(3);
    fprintf(file, "%d", (int)getpid());
    fclose(file);
    rename(fresh, path);
}

__attribute__((noinline)) void settled(void) {
    note("rank");
}

__attribute__((noinline)) void waiting(void) {
    usleep(10000);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &my_size);
    if (argc < 2)
        MPI_Abort(MPI_COMM_WORLD, 2);
    directory = argv[1];
    settled();
    char path[512];
    snprintf(path, sizeof path, "%s/finish", directory);
    while (access(path, F_OK) != 0)
        waiting();
    MPI_Finalize();
    note("done");
    return 0;
}
