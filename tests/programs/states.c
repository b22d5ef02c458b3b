/*
 * An MPI program that is not between MPI_Init and MPI_Finalize. Argument: before (has not called MPI_Init), or after (has
 * called MPI_Finalize). Writes its pid as the truth file and hangs in pause().
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char path[4096], temporary[4200];
    const char *pattern = getenv("MPIQ_TRUTH"), *place;
    FILE *file;
    alarm(1800);
    if (argc != 2 || pattern == NULL || (place = strstr(pattern, "%d")) == NULL)
        return 2;
    if (strcmp(argv[1], "after") == 0) {
        MPI_Init(&argc, &argv);
        MPI_Finalize();
    }
    snprintf(path, sizeof path, "%.*s0%s", (int)(place - pattern), pattern, place + 2);
    snprintf(temporary, sizeof temporary, "%s.tmp", path);
    file = fopen(temporary, "w");
    if (file == NULL)
        return 3;
    fprintf(file, "{\"rank\":0,\"pid\":%d}\n", (int)getpid());
    fclose(file);
    rename(temporary, path);
    for (;;)
        pause();
}
